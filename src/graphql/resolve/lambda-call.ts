/** One call of the lambda server: who asks, what came back, and how failures are told (reference/graphql 7.2). */
import type { LambdaClient } from "../../lambda/client.ts";
import { nobody } from "../../lambda/wire.ts";
import type { ResolverCaller } from "../../lambda/wire.ts";
import type { RequestBudget } from "../../model/request-budget.ts";
import type { LambdaFailure, LambdaValue } from "../../render/graphql-shape.ts";
import type { CompiledSchema } from "../schema/compiled-schema.ts";
import type { Location, ResponseError } from "../operation/errors.ts";
import { decodeJson, isJsonArray, isJsonObject, JsonSyntaxError } from "../operation/json.ts";
import type { JsonObject, JsonValue } from "../operation/json.ts";
import type { RequestValues } from "../operation/arguments.ts";
import type { SelectedField } from "../operation/prepare.ts";
import type { GraphqlRequest } from "../operation/request.ts";
import { evaluationFailed } from "./evaluation-failed.ts";
import type { Requests } from "./request-call.ts";

/** What the lambda calls of one request share. */
export interface LambdaCalls {
  /** undefined: the server was started without one. */
  readonly client: LambdaClient | undefined;
  readonly namespace: number;
  readonly caller: ResolverCaller;
  /** Of the JSON of a call's parents. */
  readonly bytesMax: number;
  readonly locate: (ordinal: number) => Location;
  /** What services outside are asked with, made where the first is. */
  readonly requests: () => Requests;
  /** Of the client's request. */
  readonly values: RequestValues;
  /** Of the request: resolvers, and what they ask of the database, have what is left of its time. */
  readonly budget: RequestBudget;
}

/** The values of a field for the rows of a level. */
export interface SolvedSite {
  /** By the row of the parent. */
  readonly values: readonly LambdaValue[];
  readonly errors: readonly ResponseError[];
}

export type LambdaResult =
  | { readonly ok: true; readonly value: JsonValue }
  /** What the lambda server says itself is handed on; everything else gets a reason. */
  | { readonly ok: false; readonly reason: string }
  | { readonly ok: false; readonly errors: readonly JsonObject[] };

/** The headers of a request that resolvers may use and forward. */
export function callerOf(schema: CompiledSchema, { headers }: GraphqlRequest): ResolverCaller {
  const textOf = (name: string): string => {
    const value = headers[name];
    return (Array.isArray(value) ? value[0] : value) ?? "";
  };
  const authKey = schema.meta.authorization?.header ?? "";
  const accessToken = textOf("x-dgraph-accesstoken") || textOf("x-service-accesstoken");
  if (authKey === "") return accessToken === "" ? nobody : { ...nobody, accessToken };
  const authValue = textOf(authKey.toLowerCase()).replace(/^bearer\s+/i, "");
  return { accessToken, authKey, authValue };
}

/** Never rejects. */
export async function callLambda(calls: LambdaCalls, body: string): Promise<LambdaResult> {
  const { client, namespace, budget } = calls;
  if (client === undefined) return { ok: false, reason: "the server has no lambda-url" };
  const { observer } = budget;
  const endSpan = observer?.begin("lambda");
  const reply = await client.call(namespace, body, budget.leftMs(), observer?.traceparent);
  endSpan?.();
  if ("unreachable" in reply) return failed(reply.unreachable);
  const { status } = reply;
  if (status < 200 || status > 299) {
    const errors = readErrors(reply.body);
    return errors === undefined
      ? failed(`unexpected error with: ${status}`)
      : { ok: false, errors };
  }
  try {
    return { ok: true, value: decodeJson(reply.body) };
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    const reason = `json unmarshalling result of external request failed (with error: ${error.message})`;
    return { ok: false, reason };
  }
}

function failed(why: string): { readonly ok: false; readonly reason: string } {
  return { ok: false, reason: `external request returned an error: ${why}` };
}

function readErrors(body: string): readonly JsonObject[] | undefined {
  try {
    const value = decodeJson(body);
    const errors = isJsonObject(value) ? value["errors"] : undefined;
    if (!isJsonArray(errors) || errors.length === 0) return undefined;
    const objects = errors.filter(isJsonObject);
    return objects.length === errors.length ? objects : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Errors of a failed call. Those of fields carry the root's path. Those of queries and mutations carry what the lambda
 * server says, and where it says nothing about a place, the field's.
 */
export function failureErrors(
  result: Extract<LambdaResult, { ok: false }>,
  field: SelectedField,
  path: readonly string[] | undefined,
  locate: LambdaCalls["locate"],
): ResponseError[] {
  const own = path === undefined ? {} : { path };
  if ("errors" in result) {
    return result.errors.map((error) => {
      const told = error as unknown as ResponseError;
      const place = { locations: [locate(field.ordinal)], path: [field.key] };
      if (path === undefined && told.locations === undefined) return { ...place, ...told };
      return { ...told, ...own };
    });
  }
  const message = evaluationFailed(field, result.reason);
  return [{ message, locations: [locate(field.ordinal)], ...own }];
}

/** Values of which some could not be computed. */
interface PartialValues {
  readonly data: JsonValue | undefined;
  /** By the number of the parent. */
  readonly failures: ReadonlyMap<number, ParentFailure>;
  /** Failures besides. */
  readonly more: number;
}

interface ParentFailure {
  readonly reason: string;
  /** What the resolver says of it, as it is to be answered; empty where that is not for callers. */
  readonly told: LambdaFailure | object;
}

/** undefined: all values were computed. Elements of a list of parents are never such an object (`PartialAnswer`). */
export function readPartial(value: JsonValue): PartialValues | undefined {
  if (!isJsonObject(value) || !isJsonArray(value["errors"])) return undefined;
  const failures = new Map<number, ParentFailure>();
  for (const error of value["errors"]) {
    if (!isJsonObject(error)) continue;
    const { index, status, message, extensions } = error;
    const reason = failed(`unexpected error with: ${plainNumber(status)}`).reason;
    const told = typeof message === "string" ? { message, extensions } : {};
    failures.set(plainNumber(index), { reason, told });
  }
  return { data: value["data"], failures, more: plainNumber(value["more"]) };
}

function plainNumber(value: JsonValue | undefined): number {
  return typeof value === "number" ? value : 0;
}
