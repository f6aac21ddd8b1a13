/** A database in this process, in memory or on a directory; no port, no other process. */
import { systemClock, type Clock } from "../base/clock.ts";
import { silentLogger } from "../base/log.ts";
import { openEngine } from "../engine/open.ts";
import { openGraphqlService } from "../graphql/service/open-service.ts";
import { openLambdaClient } from "../lambda/client.ts";
import { defaultOutgoingLimits, type OutgoingLimits } from "../outgoing/limits.ts";
import { makeBlocks } from "../outgoing/policy.ts";
import { makeAsk, makeGetText, type Ask, type GetText } from "../outgoing/request.ts";
import type { Store } from "../store/store.ts";
import { claimServing, explainDirectory } from "../stores/claim.ts";
import { checkStoreKey, readUserKey } from "../stores/encryption.ts";
import { openMemoryStore } from "../stores/memory.ts";
import { deriveFill } from "../write/fill.ts";
import type { EmbeddedDatabase, Open, OpenOptions } from "./api.ts";
import { showingFaults } from "./database-error.ts";
import { makeDatabase } from "./database.ts";
import type { Resolvers } from "./resolvers.ts";
import { Fault } from "../model/fault.ts";

/** Rejects with a DatabaseError where the directory cannot be opened, or a schema is refused. */
export const open: Open = <Schema>(options: OpenOptions = {}) =>
  // The types of documents are the compiler's affair: what runs is the same for all schemas.
  showingFaults(() => openEmbedded(options)) as Promise<EmbeddedDatabase<Schema>>;

interface OpenStore {
  readonly store: Store;
  readonly close: () => Promise<void>;
}

/** `resolvers`: of whoever opens several databases one after another, and ends them itself. */
export async function openEmbedded(
  options: OpenOptions,
  resolvers?: Resolvers,
): Promise<EmbeddedDatabase> {
  const { data, now } = options;
  const clock: Clock =
    now === undefined ? systemClock : { nowMs: now, tickMs: () => systemClock.tickMs() };
  const { store, close } =
    data === undefined ? openInMemory(clock) : await openDirectory(data, options.keyFile, clock);
  let own: Resolvers | undefined;
  try {
    const engine = await openEngine({ store, clock });
    own = resolvers === undefined ? await openOwnResolvers(options) : undefined;
    const running = resolvers ?? own;
    const { lambdaUrl: url } = options;
    const lambda =
      running?.client ?? (url === undefined ? undefined : openLambdaClient({ kind: "url", url }));
    const graphql = openGraphqlService({
      engine,
      clock,
      lambda,
      ...outgoingOf(options),
      extensions: false,
    });
    running?.attach({ engine, graphql });
    const database = makeDatabase({
      engine,
      graphql,
      close: async () => {
        lambda?.close();
        await own?.close();
        await engine.close();
        await close();
      },
    });
    if (options.dqlSchema !== undefined) await database.alter(options.dqlSchema);
    const { schema } = options;
    if (schema !== undefined && (await graphql.schemaRow(0))?.schema !== schema) {
      await database.setSchema(schema);
    }
    return database;
  } catch (error) {
    await own?.close();
    await close();
    throw error;
  }
}

/** Key sets and services outside by the same rules as those of a server. Throws Fault E_STARTUP. */
function outgoingOf({ outgoing }: OpenOptions): {
  readonly getText: GetText;
  readonly outgoing: { readonly ask: Ask; readonly limits: OutgoingLimits };
} {
  const { hosts = [], private: blocks = [] } = outgoing ?? {};
  try {
    const settings = { hosts: "outgoing.hosts", private: "outgoing.private" };
    const policy = { hosts, privateAddresses: makeBlocks(blocks), settings };
    return {
      getText: makeGetText(policy),
      outgoing: { ask: makeAsk(policy), limits: defaultOutgoingLimits },
    };
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new Fault("E_STARTUP", `outgoing.private: ${error.message}`, { cause: error });
  }
}

/** Loaded by those alone who have a script. */
async function openOwnResolvers({
  lambda,
  lambdaUrl,
}: OpenOptions): Promise<Resolvers | undefined> {
  if (lambda === undefined) return undefined;
  if (lambdaUrl !== undefined) {
    throw new Fault("E_STARTUP", "lambda and lambdaUrl: one of them, not both");
  }
  const { openResolvers } = await import("./resolvers.ts");
  return await openResolvers(lambda);
}

function openInMemory(clock: Clock): OpenStore {
  const store = openMemoryStore({ clock, derive: deriveFill });
  return { store, close: () => store.close() };
}

/** As a server would claim it: none can start there meanwhile. LMDB is loaded by those alone who have a directory. */
async function openDirectory(
  dir: string,
  keyFile: string | undefined,
  clock: Clock,
): Promise<OpenStore> {
  try {
    const encryption = keyFile === undefined ? undefined : readUserKey(keyFile, "keyFile");
    checkStoreKey(dir, encryption);
    const claim = await claimServing(dir);
    try {
      const { openWriter } = await import("../stores/open.ts");
      const logger = silentLogger;
      const writer = await openWriter({
        dir,
        encryption,
        clock,
        logger,
        derive: deriveFill,
        isLinked: false,
      });
      return {
        store: writer.store,
        close: async () => {
          await writer.close();
          await claim.release();
        },
      };
    } catch (error) {
      await claim.release();
      throw error;
    }
  } catch (error) {
    throw explainDirectory(dir, error) ?? error;
  }
}
