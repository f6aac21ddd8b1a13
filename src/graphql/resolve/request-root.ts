/** `@custom(http:)` on Query and Mutation: one request with the arguments as given; the answer is the field's value. */
import type { CompletionError } from "../../render/graphql-json.ts";
import type { CustomHttp } from "../schema/custom-http.ts";
import type { RootField } from "../schema/compiled-schema.ts";
import { isJsonArray } from "../operation/json.ts";
import type { JsonValue } from "../operation/json.ts";
import type { RequestValues } from "../operation/arguments.ts";
import type { SelectedField } from "../operation/prepare.ts";
import type { LambdaCalls } from "./lambda-call.ts";
import { completeField } from "./lambda-complete.ts";
import { nothingFor, outcomeOf, type LambdaRootDone } from "./lambda-root.ts";
import { argumentVariables, fillBody, printSorted, toHtmlSafe } from "./request-body.ts";
import { requestErrors, type PreparedRequest, type RequestResult } from "./request-call.ts";
import { printRemoteQuery, type AnswerKeys } from "./request-selection.ts";
import { fillUrl, WrongUrlValue, type RequestVariables } from "./request-url.ts";

/** A request with the values of one client, or why it cannot be made. */
export type FilledRequest =
  | { readonly request: PreparedRequest; readonly keys: AnswerKeys | undefined }
  | { readonly fault: string };

/** The request of a root field; undefined where its answer comes from elsewhere. */
export function readyRequestRoot(
  root: RootField,
  field: SelectedField,
  values: RequestValues,
): FilledRequest | undefined {
  const http = root.directives.custom?.http;
  if (http === undefined) return undefined;
  const given = argumentVariables(field.node, root.arguments, values);
  if (http.operation !== undefined) {
    const { text, keys } = printRemoteQuery(http.operation, field, values);
    const body = operationBody(text, declaredOf(http.operation.variables, given));
    return { request: { http, url: http.url?.text ?? "", body }, keys };
  }
  return fillRequest(http, given);
}

/** What the operation declares: some services refuse more. */
function declaredOf(names: readonly string[], given: RequestVariables): string {
  const members: [string, JsonValue][] = [];
  for (const name of names) {
    const value = given.get(name);
    if (value !== undefined) members.push([name, value]);
  }
  return printSorted(Object.fromEntries(members));
}

/** `variables`: JSON. */
export function operationBody(text: string, variables: string): string {
  return toHtmlSafe(`{"query":${JSON.stringify(text)},"variables":${variables}}`);
}

export function fillRequest(http: CustomHttp, variables: RequestVariables): FilledRequest {
  const { template } = http;
  try {
    const url = fillUrl(http.url?.text ?? "", variables);
    return { request: { http, url, body: fillBody(template, variables) }, keys: undefined };
  } catch (error) {
    if (error instanceof WrongUrlValue) return { fault: error.message };
    throw error;
  }
}

/** Of one node, for a remote operation. */
export function fillOperation(
  http: CustomHttp,
  text: string,
  variables: RequestVariables,
): PreparedRequest {
  const declared = declaredOf(http.operation?.variables ?? [], variables);
  return { http, url: http.url?.text ?? "", body: operationBody(text, declared) };
}

/** Never rejects. */
export async function runRequestRoot(
  field: SelectedField,
  ready: FilledRequest,
  { requests, locate }: LambdaCalls,
): Promise<LambdaRootDone> {
  const reason = "fault" in ready ? ready.fault : requests().reserve(1);
  const result: RequestResult =
    "fault" in ready || reason !== undefined
      ? { value: undefined, told: [], reason }
      : await requests().send(ready.request);
  const told = requestErrors(result, field, undefined, locate);
  if (result.value === undefined) {
    return { outcome: outcomeOf(field, nothingFor(field), told), hasFailed: true };
  }
  const faults: CompletionError[] = [];
  const keys = "fault" in ready ? undefined : ready.keys;
  const text = completeField(field, onlyOf(field, result.value), [field.key], faults, keys);
  const errors = faults.map((fault) => ({
    message: fault.message,
    locations: [locate(fault.place)],
    path: fault.path,
  }));
  return { outcome: outcomeOf(field, text, [...told, ...errors]), hasFailed: false };
}

/** A list of one is taken for the one. */
function onlyOf({ definition }: SelectedField, value: JsonValue): JsonValue {
  if (definition.type.kind === "list" || !isJsonArray(value) || value.length !== 1) return value;
  return value[0] ?? null;
}
