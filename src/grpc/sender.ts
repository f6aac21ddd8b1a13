/** Who calls, and whether that one may: the headers of HTTP, read from the metadata of a call. */
import type { Metadata } from "@grpc/grpc-js";
import type { IncomingHttpHeaders } from "node:http";
import { andThen, type MaybePromise } from "../base/maybe.ts";
import {
  askingOf,
  findAccessRefusal,
  findQuotaRefusal,
  findRateRefusal,
  makeRefusalFault,
  mustBeRecorded,
  type AccessRefusal,
  type RouteRight,
  type ServerContext,
} from "../http/interface.ts";
import { refuse } from "./status.ts";

/** By which a process names the first sender of a call that it hands over; read on the private socket alone. */
export const firstSenderKey = "x-weft-remote-address";

/** Metadata → the header that says the same over HTTP. The first that is there counts. */
const names: readonly (readonly [metadata: string, header: string])[] = [
  ["accessjwt", "x-dgraph-accesstoken"],
  ["auth-token", "x-dgraph-authtoken"],
  ["x-auth-token", "x-auth-token"],
  ["origin", "origin"],
  ["sec-fetch-site", "sec-fetch-site"],
];

/** As the Authorization of a connection string carries it: with or without the word in front. */
const keyInAuthorization = /^(?:Bearer )?(?<key>weft_\S+)$/i;

/** `host`: by which name the server was called. */
export function headersOfCall(metadata: Metadata, host: string): IncomingHttpHeaders {
  const headers: IncomingHttpHeaders = { host };
  for (const [name, header] of names) {
    const value = textOf(metadata, name);
    if (value !== undefined) headers[header] = value;
  }
  const given = keyInAuthorization.exec(textOf(metadata, "authorization") ?? "")?.groups?.["key"];
  if (given !== undefined) headers["x-auth-token"] ??= given;
  return headers;
}

export function textOf(metadata: Metadata, name: string): string | undefined {
  const value = metadata.get(name)[0];
  return value === undefined ? undefined : value.toString();
}

/** `1.2.3.4:5` → `1.2.3.4`; "" for a connection that has lost its address. */
export function addressOf(peer: string): string {
  const colon = peer.lastIndexOf(":");
  return colon < 0 ? "" : peer.slice(0, colon);
}

interface Sender {
  readonly headers: IncomingHttpHeaders;
  readonly address: string;
  /** Another process has counted the call. */
  readonly isCounted: boolean;
}

/** Throws, or rejects, where the sender may not make this call. `noted` is told why. */
export function admitCall(
  right: RouteRight,
  { headers, address, isCounted }: Sender,
  context: ServerContext,
  noted: (refusal: AccessRefusal) => void,
): MaybePromise<void> {
  if (right.audience === "everyone") return undefined;
  const end = (refusal: AccessRefusal | undefined): void => {
    if (refusal === undefined) return;
    noted(refusal);
    throw refuse(refusal, makeRefusalFault(refusal, right.form));
  };
  const counted = isCounted
    ? undefined
    : andThen(
        findRateRefusal(headers, address, context),
        (refusal) => refusal ?? findQuotaRefusal(right, headers, context),
      );
  return andThen(counted, (refusal) => {
    end(refusal);
    const isData = right.audience === "clients" && right.writes !== true;
    if (!isCounted && mustBeRecorded(context) && (!isData || context.audit?.queries === true)) {
      end({ kind: "unrecorded" });
    }
    return andThen(findAccessRefusal(right, askingOf(headers, address, context)), end);
  });
}
