/** The GraphQL schema that a running server has, for commands that go by it. */
import type { Client } from "../load/client.ts";

/** "" where the server has none; undefined where the caller may not administer, or nobody answers. */
export async function readServedSchema(client: Client): Promise<string | undefined> {
  const query = JSON.stringify({ query: "{ getGQLSchema { schema } }" });
  const answer = await client.post("/admin", "application/json", query);
  const { data } = (answer.json ?? {}) as {
    readonly data?: { readonly getGQLSchema?: { readonly schema: string } | null } | null;
  };
  if (data === undefined || data === null || answer.messages.length > 0) return undefined;
  return data.getGQLSchema?.schema ?? "";
}
