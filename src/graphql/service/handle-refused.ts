/** Root fields that are not run, and what their answer says instead. */
import { Fault } from "../../model/fault.ts";
import { mutationFailed, queryFailed } from "../operation/errors.ts";
import type { Location } from "../operation/errors.ts";
import type { RootOutcome } from "../resolve/answer.ts";
import type { SelectedField } from "../operation/prepare.ts";

type Locate = (ordinal: number) => Location;

/** `words`: why the server takes none now. */
export function closedQuery(field: SelectedField, words: string): RootOutcome {
  const message = queryFailed(new Fault("E_UNAUTHORIZED", words));
  return { field, errors: [{ message, path: [field.key] }], write: undefined };
}

/** `words`: why the server takes none now. */
export function closedMutation(field: SelectedField, words: string, locate: Locate): RootOutcome {
  const message = mutationFailed(field.definition.name, new Fault("E_UNAUTHORIZED", words));
  const error = { message, locations: [locate(field.ordinal)], path: [field.key] };
  return { field, errors: [error], write: (out) => out.ascii("null") };
}

/** Neither generated nor known to a lambda server. */
export function unresolved(field: SelectedField, locate: Locate): RootOutcome {
  const message = `${field.definition.name} was not executed because no suitable resolver could be found - this indicates a resolver or validation bug. Please let us know by filing an issue.`;
  const error = { message, locations: [locate(field.ordinal)], path: [field.key] };
  return { field, errors: [error], write: (out) => out.ascii("null") };
}

/** A mutation behind one that failed. */
export function skipped(field: SelectedField, locate: Locate): RootOutcome {
  const message = `Mutation ${field.key} was not executed because of a previous error.`;
  const error = { message, locations: [locate(field.ordinal)], path: [field.key] };
  return { field, errors: [error], write: undefined };
}
