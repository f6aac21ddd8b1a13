/** `weft restore`: a store of a backup, and of the log behind it. */
import { restoreBackup, type BackupParts } from "../backup/backup.ts";
import { chooseMoment, replayTo, type Moment } from "../backup/moment.ts";
import { systemClock } from "../base/clock.ts";
import { silentLogger } from "../base/log.ts";
import { openEngine, type OpenEngine } from "../engine/open.ts";
import { readReadyIndexes, reopenIndexes } from "../engine/restored-indexes.ts";
import { isSwept } from "../graph/schema-rows.ts";
import { Fault } from "../model/fault.ts";
import type { UserKey } from "../stores/encryption.ts";
import { openWriter } from "../stores/open.ts";
import { makeStoreOfRows, type StoredRow, type StoreOfRows } from "../stores/stored-rows.ts";
import { deriveFill } from "../write/fill.ts";
import type { RestoreFlags } from "./backup-commands.ts";
import { needManifests, openParts, printMB } from "./command-backup.ts";
import { readEncryption } from "./encryption.ts";
import { complain, say } from "./log.ts";
import { showProgress, type Progress } from "./progress-bar.ts";

export async function runRestore(options: RestoreFlags): Promise<void> {
  const { from, data, at, keyFile } = options;
  if (options.into !== undefined) {
    const { runRestoreInto } = await import("./restore-into.ts");
    await runRestoreInto({ ...options, into: options.into });
    return;
  }
  if (options.namespace !== undefined || options.as !== undefined) {
    const words = "--namespace and --as are of --into: a new store holds all of a backup";
    throw new Fault("E_USAGE", words);
  }
  const encryption = readEncryption(options.encryption);
  const parts = openParts(from, keyFile);
  const moment = chooseMoment(await needManifests(parts, from), at);
  const restored = await makeRestoredStore(parts, moment, { dir: data, encryption });
  const { commitTs, committedMs, bytes } = restored;
  const time = committedMs === undefined ? "" : ` of ${new Date(committedMs).toISOString()}`;
  const more =
    commitTs === moment.base.commitTs ? "" : ` and the log up to commit ${commitTs}${time}`;
  say(
    `${data} holds backup ${moment.base.id} of commit ${moment.base.commitTs}${more}, ${printMB(bytes)}`,
  );
  if (moment.ms !== Infinity && !restored.isEndSeen) {
    complain(
      `nothing later than commit ${commitTs} is there: what was committed behind it, also before ${at}, is not in it`,
    );
  }
}

interface RestoredPlace {
  readonly dir: string;
  readonly encryption: UserKey | undefined;
  /** Sees rows of the backup as they come. */
  readonly onRows?: (rows: readonly StoredRow[]) => void;
}

/** A new store at a directory. */
export async function makeRestoredStore(
  parts: BackupParts,
  moment: Moment,
  { dir: data, encryption, onRows }: RestoredPlace,
): Promise<Restored & { readonly bytes: number }> {
  const store = await makeStoreOfRows(data, encryption);
  try {
    const restored = await fill(parts, moment, store, onRows);
    const { isBuilding } = restored;
    const bytes = await store.finish(async (dir) => {
      if (isBuilding) await buildIndexes(dir, encryption);
    });
    return { ...restored, bytes };
  } catch (error) {
    await store.abandon();
    throw error;
  }
}

interface Restored {
  readonly commitTs: number;
  readonly committedMs: number | undefined;
  readonly isEndSeen: boolean;
  /** Indexes wait for their build. */
  readonly isBuilding: boolean;
}

async function fill(
  parts: BackupParts,
  moment: Moment,
  store: StoreOfRows,
  onRows: RestoredPlace["onRows"],
): Promise<Restored> {
  const { base } = moment;
  const put: StoreOfRows["put"] = (rows) => {
    onRows?.(rows);
    store.put(rows);
  };
  await showProgress({ title: "restoring", unit: "rows" }, (bar) =>
    restoreBackup(parts, base, { put }, (share, rows) => bar.update(share, 1, rows)),
  );
  const ready = await look(store, readReadyIndexes);
  const replay = store.replay();
  const reached = await showProgress(
    { title: "replaying", unit: "commits", isLate: true },
    async (bar) => {
      let commits = 0;
      const found = await replayTo(parts, moment, replay, {
        isLeftOut: isSwept,
        onProgress: (share, count) => {
          commits = count;
          bar.update(share, 1, count);
        },
      });
      // The last of the commits may lie anywhere in a segment.
      if (commits > 0) bar.update(1, 1, commits);
      return found;
    },
  );
  const { patches, isBuilding } = await look(store, (snapshot) => reopenIndexes(snapshot, ready));
  replay.change(patches);
  return { ...reached, isBuilding };
}

async function look<T>(
  store: StoreOfRows,
  use: (snapshot: ReturnType<StoreOfRows["snapshot"]>) => Promise<T>,
): Promise<T> {
  const snapshot = store.snapshot();
  try {
    return await use(snapshot);
  } finally {
    snapshot.close();
  }
}

/** How often a build's progress is looked at. */
const lookMs = 50;

/** Whoever opens the restored store finds its indexes whole. */
async function buildIndexes(dir: string, encryption: UserKey | undefined): Promise<void> {
  const logger = silentLogger;
  const clock = systemClock;
  const writer = await openWriter({
    dir,
    encryption,
    logger,
    clock,
    derive: deriveFill,
    isLinked: false,
  });
  try {
    const engine = await openEngine({ store: writer.store, clock, logger });
    try {
      await showProgress({ title: "indexes", unit: "nodes", isLate: true }, (bar) =>
        waitForIndexes(engine, bar),
      );
    } finally {
      await engine.close();
    }
  } finally {
    await writer.close();
  }
}

async function waitForIndexes(engine: OpenEngine, bar: Progress): Promise<void> {
  const nodes = new Map<string, { readonly done: number; readonly total: number }>();
  for (;;) {
    const running = await engine.indexProgress();
    // One that is ready is listed no more.
    for (const [name, { total }] of nodes) nodes.set(name, { done: total, total });
    for (const build of running) {
      nodes.set(JSON.stringify([build.namespace, build.predicate, build.index]), build);
    }
    const all = [...nodes.values()];
    const done = all.reduce((sum, build) => sum + build.done, 0);
    const total = all.reduce((sum, build) => sum + build.total, 0);
    if (all.length > 0) bar.update(done, Math.max(done, total), done);
    if (running.length === 0) return;
    await new Promise((resolve) => setTimeout(resolve, lookMs));
  }
}
