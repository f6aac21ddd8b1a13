/** Tokens of the sample's users, signed with the secret that the sample was loaded with (RFC 7519, HS256). */
import { createHmac } from "node:crypto";
import { makeCompactToken } from "../base/compact-token.ts";
import type { Client } from "./client.ts";
import { findSampleSecret, sampleClaims } from "./sample-sdl.ts";

/** They write the notes of the sample. */
const sampleUsers = ["dev", "ops"] as const;

const lifeSeconds = 30 * 24 * 3600;

/** user → token, for thirty days; undefined where the server's schema is not the sample's. */
export async function makeSampleTokens(
  client: Client,
  nowMs: number,
): Promise<ReadonlyMap<string, string> | undefined> {
  const secret = await readSampleSecret(client);
  if (secret === undefined) return undefined;
  const exp = Math.floor(nowMs / 1000) + lifeSeconds;
  return new Map(
    sampleUsers.map((user) => [user, sign({ exp, [sampleClaims]: { USER: user } }, secret)]),
  );
}

/** Of the schema that the server has; undefined where it has another or none. */
export async function readSampleSecret(client: Client): Promise<string | undefined> {
  const answer = await client.post("/admin", "application/graphql", "{ getGQLSchema { schema } }");
  const { data } = (answer.json ?? {}) as { data?: { getGQLSchema?: { schema?: string } } };
  return findSampleSecret(data?.getGQLSchema?.schema ?? "");
}

function sign(claims: object, secret: string): string {
  return makeCompactToken("HS256", claims, (text) =>
    createHmac("sha256", secret).update(text).digest("base64url"),
  );
}
