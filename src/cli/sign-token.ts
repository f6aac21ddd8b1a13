/** Tokens for who develops, signed with the key that a schema itself names. */
import { createHmac } from "node:crypto";
import { systemClock } from "../base/clock.ts";
import { makeCompactToken } from "../base/compact-token.ts";
import { compileSchema } from "../graphql/service/schema-compile.ts";
import { Fault } from "../model/fault.ts";

interface SignedToken {
  readonly token: string;
  /** The one that the schema names. */
  readonly header: string;
  /** Seconds since 1970. */
  readonly exp: number;
}

/** `name`: of the schema, for errors. Fault E_STARTUP where it names no key that signs, and where a claim is none. */
export function signToken(
  { sdl, name }: { readonly sdl: string; readonly name: string },
  claims: readonly string[],
  lifeMs: number,
): SignedToken {
  const { authorization } = compileSchema(sdl).meta;
  if (authorization === undefined) {
    throw new Fault("E_STARTUP", `${name} has no line # Dgraph.Authorization`);
  }
  const { header, namespace, keys, audience } = authorization;
  if (keys.kind !== "key" || !(keys.key instanceof Uint8Array)) {
    const who = keys.kind === "sets" ? "a key set" : "a public key";
    throw new Fault("E_STARTUP", `${name} names ${who}: who has the private key signs`);
  }
  const exp = Math.floor((systemClock.nowMs() + lifeMs) / 1000);
  const [aud] = audience;
  const body = { exp, ...(aud !== undefined && { aud }), [namespace]: parseClaims(claims) };
  const { algorithm, key } = keys;
  const token = makeCompactToken(algorithm, body, (text) =>
    createHmac(`sha${algorithm.slice(2)}`, key)
      .update(text)
      .digest("base64url"),
  );
  return { token, header, exp };
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
