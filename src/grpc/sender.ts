/** Who calls, and whether that one may: the headers of HTTP, read from the metadata of a call. */
import type { IncomingHttpHeaders } from "node:http";
import { andThen, type MaybePromise } from "../base/maybe.ts";
import {
  askingOf,
  findAccessRefusal,
  findQuotaRefusal,
  findRateRefusal,
  handedOverFrom,
  makeRefusalFault,
  mustBeRecorded,
  type AccessRefusal,
  type RouteRight,
} from "../http/interface.ts";
import type { Call } from "./call.ts";
import { refuse } from "./status.ts";

/** Metadata → the header that says the same over HTTP. The first that is there counts. */
const names: readonly (readonly [metadata: string, header: string])[] = [
  ["accessjwt", "x-dgraph-accesstoken"],
  ["auth-token", "x-dgraph-authtoken"],
  ["x-auth-token", "x-auth-token"],
  ["origin", "origin"],
  ["sec-fetch-site", "sec-fetch-site"],
  ["x-request-id", "x-request-id"],
  ["x-weft-tag", "x-weft-tag"],
  ["traceparent", "traceparent"],
  // Believed where the connection is private alone.
  [handedOverFrom, handedOverFrom],
];

/** What is handed over beside the message. */
export const handedOverMetadata: readonly string[] = [
  ...names.map(([metadata]) => metadata),
  "authorization",
  "debug",
];

/** As the Authorization of a connection string carries it: with or without the word in front. */
const keyInAuthorization = /^(?:Bearer )?(?<key>weft_\S+)$/i;

/** `metadata`: the head of the call. */
export function headersOfCall(metadata: IncomingHttpHeaders): IncomingHttpHeaders {
  const headers: IncomingHttpHeaders = { host: textOf(metadata, ":authority") ?? metadata.host };
  for (const [name, header] of names) {
    const value = textOf(metadata, name);
    if (value !== undefined) headers[header] = value;
  }
  for (const header of credentials) {
    const value = headers[header];
    if (typeof value === "string") headers[header] = firstOf(value);
  }
  const given = firstOf(textOf(metadata, "authorization") ?? "");
  const key = keyInAuthorization.exec(given)?.groups?.["key"];
  if (key !== undefined) headers["x-auth-token"] ??= key;
  return headers;
}

const credentials = ["x-dgraph-accesstoken", "x-dgraph-authtoken", "x-auth-token"];

/** A credential has no comma; Dgraph4j sends its token twice with the first call of a connection. */
function firstOf(values: string): string {
  const comma = values.indexOf(",");
  return comma < 0 ? values : values.slice(0, comma);
}

/** Several of one name come joined by commas, or as a list. */
export function textOf(metadata: IncomingHttpHeaders, name: string): string | undefined {
  const value = metadata[name];
  return Array.isArray(value) ? value[0] : value;
}

/**
 * Throws, or rejects, where the sender may not make this call: before its message is read, and what counts its calls has
 * counted this one.
 */
export function admitCall(call: Call): MaybePromise<void> {
  const { right, headers, address, isPrivate, context } = call;
  if (right.audience === "everyone") return undefined;
  if (isPrivate) return judgeCall(call);
  return andThen(findRateRefusal(headers, address, context), (rate) => {
    endBy(rate, call);
    return andThen(findQuotaRefusal(right, headers, context), (quota) => {
      endBy(quota, call);
      return judgeCall(call);
    });
  });
}

/** As `admitCall`, and counts nothing. */
export function judgeCall(call: Call): MaybePromise<void> {
  const { right, headers, address, isPrivate, context } = call;
  if (right.audience === "everyone") return undefined;
  if (!isPrivate && mustBeRecorded(context) && (!isReading(right) || context.audit?.queries)) {
    endBy({ kind: "unrecorded" }, call);
  }
  const asking = askingOf(headers, address, context);
  return andThen(findAccessRefusal(right, asking), (refusal) => endBy(refusal, call));
}

function isReading({ audience, writes }: RouteRight): boolean {
  return audience === "clients" && writes !== true;
}

function endBy(refusal: AccessRefusal | undefined, call: Call): void {
  if (refusal === undefined) return;
  call.notes.refusal = refusal.kind;
  call.watched.refusal = refusal.kind;
  throw refuse(refusal, makeRefusalFault(refusal, call.right.form));
}
