/** `weft token`: a token for who develops, signed with the key that the schema itself names. */
import { createHmac } from "node:crypto";
import { systemClock } from "../base/clock.ts";
import { makeCompactToken } from "../base/compact-token.ts";
import { compileSchema } from "../graphql/service/schema-compile.ts";
import { Fault } from "../model/fault.ts";
import { parseLifetimeMs } from "./duration.ts";
import type { TokenOptions } from "./project-commands.ts";
import { readSchemaFile } from "./schema-files.ts";

export function runToken(claims: readonly string[], options: TokenOptions): void {
  const { authorization } = compileSchema(readSchemaFile(options.schema)).meta;
  if (authorization === undefined) {
    throw new Fault("E_STARTUP", `${options.schema} has no line # Dgraph.Authorization`);
  }
  const { header, namespace, keys, audience } = authorization;
  if (keys.kind !== "key" || !(keys.key instanceof Uint8Array)) {
    const who = keys.kind === "sets" ? "a key set" : "a public key";
    throw new Fault("E_STARTUP", `${options.schema} names ${who}: who has the private key signs`);
  }
  const lifeMs = parseLifetimeMs("--expires", options.expires);
  const exp = Math.floor((systemClock.nowMs() + lifeMs) / 1000);
  const [aud] = audience;
  const body = { exp, ...(aud !== undefined && { aud }), [namespace]: parseClaims(claims) };
  const { algorithm, key } = keys;
  const token = makeCompactToken(algorithm, body, (text) =>
    createHmac(`sha${algorithm.slice(2)}`, key)
      .update(text)
      .digest("base64url"),
  );
  process.stderr.write(
    `weft: for the header ${header}; it ends at ${new Date(exp * 1000).toISOString()}\n`,
  );
  process.stdout.write(`${token}\n`);
}

/** `USER=ann`, whose values are texts, or JSON objects; later ones count. */
function parseClaims(given: readonly string[]): Readonly<Record<string, unknown>> {
  const claims: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
  for (const one of given) Object.assign(claims, parseClaim(one));
  return claims;
}

function parseClaim(text: string): object {
  const pair = /^(?<name>[\w.-]+)=(?<value>.*)$/s.exec(text)?.groups;
  if (pair !== undefined) return { [pair["name"] ?? ""]: pair["value"] };
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw new Fault("E_STARTUP", `"${text}" is neither NAME=VALUE nor an object of JSON`);
}
