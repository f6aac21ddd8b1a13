/**
 * `@custom(http:)` on fields of types and interfaces: each field of a level is asked of its service with the values of its
 * parents, all in one request (BATCH) or each parent in its own (reference/graphql 8.4).
 */
import type { CompletionError } from "../../render/graphql-json.ts";
import { Fault } from "../../model/fault.ts";
import { outgoingSetting } from "../../outgoing/limits.ts";
import { printParents, type LambdaSite } from "../../render/graphql-lambda.ts";
import type { LambdaValue } from "../../render/graphql-shape.ts";
import type { CustomHttp } from "../schema/custom-http.ts";
import { decodeJson, isJsonArray, isJsonObject } from "../operation/json.ts";
import type { JsonValue } from "../operation/json.ts";
import type { RequestValues } from "../operation/arguments.ts";
import type { SelectedField } from "../operation/prepare.ts";
import type { LambdaCalls, SolvedSite } from "./lambda-call.ts";
import { completeField } from "./lambda-complete.ts";
import { fillBody } from "./request-body.ts";
import { requestErrors, type RequestResult } from "./request-call.ts";
import { fillOperation, fillRequest, operationBody, type FilledRequest } from "./request-root.ts";
import { printRemoteQuery, type RemoteQuery } from "./request-selection.ts";
import type { RequestVariables } from "./request-url.ts";

/** A field of one level, and what its requests are made of. */
interface FieldSite {
  readonly site: LambdaSite;
  readonly field: SelectedField;
  readonly http: CustomHttp;
  readonly path: readonly string[];
  readonly calls: LambdaCalls;
  /** In the order of the rows. */
  readonly parents: readonly RequestVariables[];
  /** With what the client selects; undefined: no GraphQL service is asked. */
  readonly remote: RemoteQuery | undefined;
}

/** `root`: the response name that errors carry as their path. Never rejects. */
export async function resolveRequestSite(
  site: LambdaSite,
  field: SelectedField,
  root: string,
  calls: LambdaCalls,
): Promise<SolvedSite> {
  const { source } = field.definition;
  if (source.kind !== "request") return { values: [], errors: [] };
  const { http } = source;
  const path = [root];
  const refuse = (reason: string): SolvedSite =>
    failedSite({ value: undefined, told: [], reason }, field, path, calls);
  let parents: readonly RequestVariables[];
  try {
    parents = readParents(site, calls.bytesMax);
  } catch (error) {
    if (error instanceof Fault) return refuse(error.message);
    throw error;
  }
  const { levelMax } = calls.requests().limits;
  if (!http.isBatch && parents.length > levelMax) {
    const text = `a level makes ${levelMax} requests at most, and has ${parents.length} nodes`;
    return refuse(`${text} (${outgoingSetting("level")})`);
  }
  const tooMany = calls.requests().reserve(http.isBatch ? 1 : parents.length);
  if (tooMany !== undefined) return refuse(tooMany);
  const remote = remoteQuery(http, field, calls.values);
  const one = { site, field, http, path, calls, parents, remote };
  return http.isBatch ? resolveBatch(one) : resolveEach(one);
}

function failedSite(
  result: RequestResult,
  field: SelectedField,
  path: readonly string[],
  { locate }: LambdaCalls,
): SolvedSite {
  return { values: [], errors: requestErrors(result, field, path, locate) };
}

/** Throws Fault E_LIMIT. */
function readParents(site: LambdaSite, bytesMax: number): readonly RequestVariables[] {
  const list = decodeJson(printParents(site, bytesMax));
  if (!isJsonArray(list)) return [];
  return list.map((parent) => {
    const members = isJsonObject(parent) ? Object.entries(parent) : [];
    // A value that a node does not have is left out, as a list without members is.
    return new Map(members.filter(([, value]) => !isNothing(value)));
  });
}

function isNothing(value: JsonValue): boolean {
  return value === null || (isJsonArray(value) && value.length === 0);
}

function remoteQuery(
  { operation }: CustomHttp,
  field: SelectedField,
  values: RequestValues,
): RemoteQuery | undefined {
  return operation === undefined ? undefined : printRemoteQuery(operation, field, values);
}

async function resolveBatch(one: FieldSite): Promise<SolvedSite> {
  const { site, field, http, path, calls, parents, remote } = one;
  const list = `[${parents.map((parent) => fillBody(http.template, parent) || "null").join()}]`;
  const url = http.url?.text ?? "";
  const name = http.operation?.variables[0] ?? "";
  const body =
    remote === undefined ? list : operationBody(remote.text, `{${JSON.stringify(name)}:${list}}`);
  const result = await calls.requests().send({ http, url, body });
  const refuse = (reason: string): SolvedSite =>
    failedSite({ ...result, reason }, field, path, calls);
  if (result.value === undefined) return failedSite(result, field, path, calls);
  if (!isJsonArray(result.value)) {
    return refuse("expected result of external BATCH request to be of list type, got: ");
  }
  const { length } = result.value;
  if (length !== parents.length) {
    const sizes = `of size ${parents.length}, got: ${length}`;
    return refuse(`expected result of external request to be ${sizes}`);
  }
  const faults: CompletionError[] = [];
  const values: LambdaValue[] = [];
  site.rows.forEach((row, i) => {
    const element = isJsonArray(result.value) ? result.value[i] : undefined;
    values[row] = completeField(field, element, path, faults, remote?.keys);
  });
  const told = requestErrors(result, field, path, calls.locate);
  return { values, errors: [...told, ...toErrors(faults, calls)] };
}

async function resolveEach(one: FieldSite): Promise<SolvedSite> {
  const { site, field, path, calls, parents, remote } = one;
  const results = await Promise.all(
    parents.map(async (parent): Promise<RequestResult> => {
      const ready = readyOf(one, parent);
      if ("fault" in ready) return { value: undefined, told: [], reason: ready.fault };
      return calls.requests().send(ready.request);
    }),
  );
  const faults: CompletionError[] = [];
  const told = results.flatMap((result) => requestErrors(result, field, path, calls.locate));
  const values: LambdaValue[] = [];
  site.rows.forEach((row, i) => {
    const value = results[i]?.value;
    if (value !== undefined) values[row] = completeField(field, value, path, faults, remote?.keys);
  });
  return { values, errors: [...told, ...toErrors(faults, calls)] };
}

function readyOf({ http, remote }: FieldSite, parent: RequestVariables): FilledRequest {
  if (remote === undefined) return fillRequest(http, parent);
  return { request: fillOperation(http, remote.text, parent), keys: remote.keys };
}

function toErrors(
  faults: readonly CompletionError[],
  { locate }: LambdaCalls,
): SolvedSite["errors"] {
  return faults.map(({ message, place, path }) => ({ message, locations: [locate(place)], path }));
}
