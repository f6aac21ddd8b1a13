/** Fixtures of `weft dev`: mutations in GraphQL, and data in JSON and RDF. */
import { readFileSync } from "node:fs";
import { lineOf, printFrame } from "./code-frame.ts";
import { runLive } from "./command-live.ts";
import { type CredentialOptions, openClient } from "./credentials.ts";
import { readSender } from "./fixture-sender.ts";

interface ToldError {
  readonly message: string;
  readonly locations?: readonly { readonly line: number; readonly column: number }[];
}

/** `sdl`: the schema that is served. What is wrong with the file, for people; undefined where all of it is loaded. Rejects with Faults of loading. */
export async function loadFixture(
  file: string,
  sdl: string,
  credentials: CredentialOptions,
): Promise<string | undefined> {
  if (file.endsWith(".graphql")) return await sendDocument(file, sdl, credentials);
  await runLive({
    ...credentials,
    files: file,
    schema: undefined,
    graphqlSchema: undefined,
    format: undefined,
    xidmap: undefined,
    upsertPredicate: undefined,
    batch: "1000",
    inFlight: "8",
  });
  return undefined;
}

async function sendDocument(
  file: string,
  sdl: string,
  credentials: CredentialOptions,
): Promise<string | undefined> {
  const text = readFileSync(file, "utf8");
  const client = openClient(credentials, readSender(text, sdl));
  const { messages, json } = await client.post("/graphql", "application/graphql", text);
  const { errors } = (json ?? {}) as { readonly errors?: readonly ToldError[] };
  if (errors === undefined) return messages.length === 0 ? undefined : messages.join("\n");
  return errors
    .map(({ message, locations }) => {
      const at = locations?.[0];
      const source = at === undefined ? undefined : lineOf(text, at.line);
      return printFrame({ file, at, message, source });
    })
    .join("");
}
