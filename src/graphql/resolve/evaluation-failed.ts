import type { SelectedField } from "../operation/prepare.ts";

/** Why a field that is computed elsewhere has no value, in the words that clients know. */
export function evaluationFailed({ definition, parent }: SelectedField, reason: string): string {
  return `Evaluation of custom field failed because ${reason} for field: ${definition.name} within type: ${parent.name}.`;
}
