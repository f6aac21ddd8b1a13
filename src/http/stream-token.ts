/** Tokens of reserved event streams: the slot of the process that keeps the stream, and a secret that nobody guesses. */
import { randomBytes } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { single } from "./access.ts";

export const streamTokenHeader = "x-graphql-event-stream-token";
/** As pages are told that they may send it. */
export const shownStreamTokenHeader = "X-GraphQL-Event-Stream-Token";

const secretBytes = 24;
const tokenForm = /^(\d{1,3})-[\w-]{32}$/;

export function makeStreamToken(slot: number): string {
  return `${slot}-${randomBytes(secretBytes).toString("base64url")}`;
}

/** The token that a request names, in its header or as its parameter `token`; undefined for none. */
export function streamTokenOf(
  req: Pick<IncomingMessage, "headers">,
  search: string,
): string | undefined {
  const header = single(req.headers[streamTokenHeader]);
  if (header !== undefined) return header;
  if (!search.includes("token=")) return undefined;
  return new URLSearchParams(search).get("token") ?? undefined;
}

/** Undefined for a text that no process has made. */
export function slotOfToken(token: string): number | undefined {
  const slot = tokenForm.exec(token)?.[1];
  return slot === undefined ? undefined : Number(slot);
}
