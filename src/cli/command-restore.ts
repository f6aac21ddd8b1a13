/** `weft restore`: a store of a backup, and of the log behind it. */
import { restoreBackup, type BackupParts } from "../backup/backup.ts";
import { readManifests } from "../backup/manifest.ts";
import { chooseMoment, replayTo, type Moment } from "../backup/moment.ts";
import { systemClock } from "../base/clock.ts";
import { silentLogger } from "../base/log.ts";
import { openEngine } from "../engine/open.ts";
import { readReadyIndexes, reopenIndexes } from "../engine/restored-indexes.ts";
import { isSwept } from "../graph/schema-rows.ts";
import type { UserKey } from "../stores/encryption.ts";
import { openWriter } from "../stores/open.ts";
import { makeStoreOfRows, type StoreOfRows } from "../stores/stored-rows.ts";
import { deriveFill } from "../write/fill.ts";
import type { RestoreFlags } from "./backup-commands.ts";
import { openParts, printMB } from "./command-backup.ts";
import { readEncryption } from "./encryption.ts";
import { complain, say } from "./log.ts";
import { startProgressBar } from "./progress-bar.ts";

export async function runRestore(options: RestoreFlags): Promise<void> {
  const { from, data, at, keyFile } = options;
  if (options.into !== undefined) {
    const { runRestoreInto } = await import("./restore-into.ts");
    await runRestoreInto({ ...options, into: options.into });
    return;
  }
  const encryption = readEncryption(options.encryption);
  const parts = openParts(from, keyFile);
  const moment = chooseMoment(await readManifests(parts.place, parts.seal), at);
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

/** A new store at a directory. */
export async function makeRestoredStore(
  parts: BackupParts,
  moment: Moment,
  { dir: data, encryption }: { readonly dir: string; readonly encryption: UserKey | undefined },
): Promise<Restored & { readonly bytes: number }> {
  const store = await makeStoreOfRows(data, encryption);
  try {
    const restored = await fill(parts, moment, store);
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

async function fill(parts: BackupParts, moment: Moment, store: StoreOfRows): Promise<Restored> {
  const { base } = moment;
  const bar = startProgressBar("restoring", "rows");
  await restoreBackup(parts, base, store, (bytes, rows) => bar.update(bytes, base.bytes, rows));
  bar.finish();
  const ready = await look(store, readReadyIndexes);
  const replay = store.replay();
  let commits: ReturnType<typeof startProgressBar> | undefined;
  const reached = await replayTo(parts, moment, replay, {
    isLeftOut: isSwept,
    onProgress: (count) => {
      commits ??= startProgressBar("replaying", "commits");
      commits.update(count, Math.max(1, count), count);
    },
  });
  commits?.finish();
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
  const bar = startProgressBar("indexes", "nodes");
  try {
    const engine = await openEngine({ store: writer.store, clock, logger });
    try {
      for (;;) {
        const running = await engine.indexProgress();
        if (running.length === 0) break;
        const done = running.reduce((sum, one) => sum + one.done, 0);
        const total = running.reduce((sum, one) => sum + one.total, 0);
        bar.update(done, Math.max(1, total), done);
        await new Promise((resolve) => setTimeout(resolve, lookMs));
      }
    } finally {
      await engine.close();
    }
  } finally {
    await writer.close();
  }
  bar.finish();
}
