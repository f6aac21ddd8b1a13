/** `@lambda` on Query and Mutation: one call with the arguments as given, the answer is the field's value. */
import { rootCallBody } from "../../lambda/wire.ts";
import type { CompletionError } from "../../render/graphql-json.ts";
import type { RootField, TypeRef } from "../schema/compiled-schema.ts";
import type { ResponseError } from "../operation/errors.ts";
import type { RootOutcome } from "./answer.ts";
import { callLambda, failureErrors } from "./lambda-call.ts";
import type { LambdaCalls } from "./lambda-call.ts";
import { completeField } from "./lambda-complete.ts";
import {
  argumentText,
  evaluate,
  isArgumentList,
  isArgumentObject,
} from "../operation/arguments.ts";
import type { ArgumentValue, RequestValues } from "../operation/arguments.ts";
import { NumberText } from "../operation/json.ts";
import type { SelectedField } from "../operation/prepare.ts";
import { namedTypeOf } from "../operation/walk.ts";

/** The JSON of the arguments: what is left out stays out, defaults are not filled in. */
export function printResolverArguments(
  root: RootField,
  field: SelectedField,
  request: RequestValues,
): string {
  const members: string[] = [];
  for (const argument of field.node.arguments ?? []) {
    const type = root.arguments.get(argument.name.value)?.type;
    const value = type === undefined ? undefined : evaluate(argument.value, type, request);
    if (type === undefined || value === undefined) continue;
    members.push(`${JSON.stringify(argument.name.value)}:${printArgument(value, type)}`);
  }
  return `{${members.join()}}`;
}

function printArgument(value: ArgumentValue, type: TypeRef): string {
  if (value === undefined || value === null) return "null";
  if (isArgumentList(value)) {
    const element = type.kind === "list" ? type.element : type;
    return `[${value.map((item) => printArgument(item, element)).join()}]`;
  }
  const named = namedTypeOf(type);
  if (isArgumentObject(value)) {
    const members: string[] = [];
    for (const [name, item] of Object.entries(value)) {
      if (item === undefined) continue;
      const inner = named.kind === "input" ? named.fields.get(name)?.type : type;
      members.push(`${JSON.stringify(name)}:${printArgument(item, inner ?? type)}`);
    }
    return `{${members.join()}}`;
  }
  // Whatever a client writes for an ID, it is a text.
  if (named.name === "ID") return JSON.stringify(argumentText(value));
  return value instanceof NumberText ? value.text : JSON.stringify(value);
}

export interface LambdaRootDone {
  readonly outcome: RootOutcome;
  /** The call failed; mutations behind it do not run. */
  readonly hasFailed: boolean;
}

/** Never rejects. `args` as `printArguments` gives them. */
export async function runLambdaRoot(
  field: SelectedField,
  args: string,
  calls: LambdaCalls,
): Promise<LambdaRootDone> {
  const { definition, parent, key } = field;
  const body = rootCallBody(`${parent.name}.${definition.name}`, args, calls.caller);
  const result = await callLambda(calls, body);
  if (!result.ok) {
    const errors = failureErrors(result, field, undefined, calls.locate);
    return { outcome: outcomeOf(field, nothingFor(field), errors), hasFailed: true };
  }
  const faults: CompletionError[] = [];
  const text = completeField(field, result.value, [key], faults);
  const errors = faults.map((fault) => ({
    message: fault.message,
    locations: [calls.locate(fault.place)],
    path: fault.path,
  }));
  return { outcome: outcomeOf(field, text, errors), hasFailed: false };
}

/** Without an answer: an empty list, null, or where null may not be, nothing at all. */
export function nothingFor({ definition: { type } }: SelectedField): string | null {
  if (type.kind === "list") return "[]";
  return type.nonNull ? null : "null";
}

/** `text` null: the field may not be null, and is. */
export function outcomeOf(
  field: SelectedField,
  text: string | null,
  errors: readonly ResponseError[],
): RootOutcome {
  return { field, errors, isMissing: text === null, write: (out) => out.text(text ?? "null") };
}
