/** `weft live`: files into a running server. */
import { systemRandom } from "../base/random.ts";
import { type Client, postOrFail } from "../load/client.ts";
import { keyPredicatesOf } from "../graphql/service/key-predicates.ts";
import { findInputs } from "../load/input-files.ts";
import { loadFiles } from "../load/load.ts";
import { XidMap } from "../load/xid-map.ts";
import type { LiveOptions } from "./live-commands.ts";
import { openClient } from "./credentials.ts";
import { say } from "./log.ts";
import { startProgressBar } from "./progress-bar.ts";
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
  const bar = startProgressBar("loading", "facts");
  try {
    await loadFiles({
      files,
      keys,
      xidMap,
      onLinked: (count) => say(`${count} values of keys are on nodes that are there already`),
      batchSize: Math.max(1, parseCount("--batch", options.batch)),
      inFlightMax: Math.max(1, parseCount("--in-flight", options.inFlight)),
      client,
      random: systemRandom,
      onProgress: ({ bytesRead, bytesTotal, factCount }) =>
        bar.update(bytesRead, bytesTotal, factCount),
    });
  } finally {
    xidMap?.close();
    bar.finish();
  }
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
