/** `weft live`: files into a running server. */
import { countWords } from "../base/count-words.ts";
import { systemRandom } from "../base/random.ts";
import { type Client, postOrFail } from "../load/client.ts";
import { keyPredicatesOf } from "../graphql/service/key-predicates.ts";
import { loadFiles } from "../load/load.ts";
import { XidMap } from "../load/xid-map.ts";
import type { LiveOptions } from "./live-commands.ts";
import { openClient } from "./credentials.ts";
import { type InputFile, findInputs } from "../load/input-files.ts";
import { showProgress } from "./progress-bar.ts";
import { namespaceOf, readGraphqlFile, readSchemaFile } from "./schema-files.ts";
import { readServedSchema } from "./served-schema.ts";
import { parseCount } from "./superflag.ts";

export async function runLive(options: LiveOptions): Promise<void> {
  const client = openClient(options);
  const files = findInputs(options.files.split(",").filter(Boolean), options.format);
  if (options.schema !== undefined) {
    await postOrFail(client, "/alter", "text/plain", readSchemaFile(options.schema));
  }
  const sdl =
    options.graphqlSchema === undefined
      ? undefined
      : readGraphqlFile(options.graphqlSchema, namespaceOf(options.creds));
  if (sdl !== undefined) await postOrFail(client, "/admin/schema", "text/plain", sdl);
  const xidMap = options.xidmap === undefined ? undefined : new XidMap(options.xidmap, files);
  const keys = await findKeys(client, sdl, options.upsertPredicate);
  try {
    await showProgress({ title: "loading", unit: unitOf(files) }, (bar) =>
      loadFiles({
        files,
        keys,
        xidMap,
        onLinked: (count) =>
          bar.say(`nodes that are there already have ${countWords(count, "values")} of keys`),
        batchSize: Math.max(1, parseCount("--batch", options.batch)),
        inFlightMax: Math.max(1, parseCount("--in-flight", options.inFlight)),
        client,
        random: systemRandom,
        onProgress: ({ bytesRead, bytesTotal, factCount }) =>
          bar.update(bytesRead, bytesTotal, factCount),
      }),
    );
  } finally {
    xidMap?.close();
  }
}

/** What the server is sent of them: lines of RDF are a fact each, and objects of JSON hold some. */
function unitOf(files: readonly InputFile[]): string {
  const kinds = new Set(files.map(({ kind }) => kind));
  if (!kinds.has("json")) return "facts";
  return kinds.has("rdf") ? "facts and objects" : "objects";
}

/** Predicates with `@unique`, of `@id` fields, and what the user names. */
async function findKeys(
  client: Client,
  sdl: string | undefined,
  named: string | undefined,
): Promise<readonly string[]> {
  const answer = await client.post("/query", "application/dql", "schema { unique }");
  const { data } = (answer.json ?? {}) as { readonly data?: { readonly schema?: unknown } };
  const known = (data?.schema ?? []) as readonly { predicate: string; unique?: boolean }[];
  const unique = known.filter((one) => one.unique === true).map((one) => one.predicate);
  const schema = sdl ?? (await readServedSchema(client));
  const ids = schema === undefined || schema === "" ? [] : keyPredicatesOf(schema);
  return [...new Set([...unique, ...ids, ...(named === undefined ? [] : [named])])];
}
