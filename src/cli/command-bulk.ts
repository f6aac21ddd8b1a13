/** `weft bulk`: files into a new store. */
import { must } from "../base/assert.ts";
import { loadBulk, type BulkProgress } from "../bulk/bulk.ts";
import { systemClock } from "../base/clock.ts";
import { silentLogger } from "../base/log.ts";
import { openEngine, type OpenEngine } from "../engine/open.ts";
import { encodeSchemaState } from "../graph/schema-state.ts";
import { SchemaCache } from "../graph/schema-rows.ts";
import { printSchemaText } from "../graph/schema-text.ts";
import { openGraphqlService } from "../graphql/service/open-service.ts";
import { keyPredicatesOf } from "../graphql/service/key-predicates.ts";
import type { GraphqlService } from "../graphql/service/service.ts";
import { openLambdaClient } from "../lambda/client.ts";
import { findInputs } from "../load/input-files.ts";
import { claimBulkPlace } from "../stores/bulk-store.ts";
import type { UserKey } from "../stores/encryption.ts";
import { openWriter } from "../stores/open.ts";
import type { Store } from "../store/store.ts";
import { deriveFill } from "../write/fill.ts";
import type { BulkFlags } from "./store-commands.ts";
import { readEncryption } from "./encryption.ts";
import { say } from "./log.ts";
import { startProgressBar } from "./progress-bar.ts";
import { readGraphqlFile, readSchemaFile } from "./schema-files.ts";
import { parseCount } from "./superflag.ts";

/** Facts go to this one. */
const namespace = 0;

export async function runBulk(flags: BulkFlags): Promise<void> {
  const files = findInputs(flags.files.split(",").filter(Boolean), flags.format);
  const schema = flags.schema === undefined ? "" : readSchemaFile(flags.schema);
  const sdl =
    flags.graphqlSchema === undefined ? undefined : readGraphqlFile(flags.graphqlSchema, namespace);
  const encryption = readEncryption(flags.encryption);
  const place = await claimBulkPlace(flags.data, "bulk.new");
  try {
    await fill(place.aside, flags, { files, schema, sdl, encryption });
    const bytes = place.place();
    say(`${Math.round(bytes / 1024 / 1024).toLocaleString("en-US")} MB in ${flags.data}`);
  } catch (error) {
    place.abandon();
    throw error;
  } finally {
    await place.release();
  }
}

interface Input {
  readonly files: ReturnType<typeof findInputs>;
  readonly schema: string;
  readonly sdl: string | undefined;
  readonly encryption: UserKey | undefined;
}

async function fill(
  dir: string,
  flags: BulkFlags,
  { files, schema, sdl, encryption }: Input,
): Promise<void> {
  const aside = { dir, encryption };
  const row = await withStore(aside, async ({ engine, graphql, store }) => {
    if (schema !== "") await alter(engine, schema);
    if (sdl !== undefined) await graphql.updateSchema(namespace, sdl);
    return await readSchemaRow(store);
  });
  const told = new PhaseBars();
  const { facts } = await loadBulk({
    files,
    aside: dir,
    encryption,
    schema: row,
    addPredicates: (definitions) =>
      withStore(aside, async ({ engine, store }) => {
        await alter(engine, printSchemaText({ predicates: definitions, types: [] }));
        return await readSchemaRow(store);
      }),
    keys: sdl === undefined ? [] : keyPredicatesOf(sdl),
    newUids: flags.newUids,
    memoryBytes: parseCount("--memory", flags.memory),
    threads: parseCount("--threads", flags.threads),
    onProgress: (progress) => told.update(progress),
  }).finally(() => told.finish());
  if (sdl !== undefined) {
    await withStore(aside, ({ graphql }) => graphql.updateSchema(namespace, sdl));
  }
  say(`${facts.toLocaleString("en-US")} facts in ${told.seconds.toFixed(1)} s`);
}

interface OpenedStore {
  readonly store: Store;
  readonly engine: OpenEngine;
  readonly graphql: GraphqlService;
}

async function withStore<T>(
  place: { readonly dir: string; readonly encryption: UserKey | undefined },
  work: (opened: OpenedStore) => Promise<T>,
): Promise<T> {
  const logger = silentLogger;
  const writer = await openWriter({
    ...place,
    logger,
    clock: systemClock,
    derive: deriveFill,
    isLinked: false,
  });
  try {
    // A schema with @lambda is taken; nothing is resolved here.
    const lambda = openLambdaClient({ kind: "url", url: "http://127.0.0.1:8686/graphql-worker" });
    const engine = await openEngine({ store: writer.store, clock: systemClock, logger });
    const graphql = openGraphqlService({ engine, clock: systemClock, logger, lambda });
    try {
      return await work({ store: writer.store, engine, graphql });
    } finally {
      await engine.close();
    }
  } finally {
    await writer.close();
  }
}

const alter = (engine: OpenEngine, text: string): Promise<void> =>
  engine.alter({ kind: "schema", text, runInBackground: false }, namespace);

async function readSchemaRow(store: Store): Promise<Uint8Array> {
  const snapshot = await store.snapshot();
  try {
    const known = await new SchemaCache({ acl: true }).read(snapshot, namespace);
    return encodeSchemaState(must(known, "the namespace was made above").state);
  } finally {
    snapshot.close();
  }
}

/** A bar for each phase. */
class PhaseBars {
  readonly #beganMs = systemClock.tickMs();
  #phase = "";
  #bar: ReturnType<typeof startProgressBar> | undefined = undefined;

  get seconds(): number {
    return (systemClock.tickMs() - this.#beganMs) / 1000;
  }

  update({ phase, share, count }: BulkProgress): void {
    if (phase !== this.#phase) {
      this.finish();
      this.#phase = phase;
      this.#bar = startProgressBar({
        title: titles[phase],
        unit: phase === "indexes" ? "parts" : "facts",
      });
    }
    this.#bar?.update(share, 1, count);
  }

  finish(): void {
    this.#bar?.finish();
    this.#bar = undefined;
  }
}

const titles: Readonly<Record<BulkProgress["phase"], string>> = {
  reading: "1 of 3, reading",
  records: "2 of 3, records",
  indexes: "3 of 3, indexes",
};
