/**
 * Index builds: what is `building` is filled from the data beside reads and writes, then made `ready` (architecture
 * 4). One process of a store builds; it takes up what another one left behind. How far a build has come is kept in a
 * meta row, which the other processes read.
 */
import { must } from "../base/assert.ts";
import type { Clock } from "../base/clock.ts";
import type { Logger } from "../base/log.ts";
import { buildPatch, doneOf, readBuildRows } from "../graph/build-rows.ts";
import type { BuildRow } from "../graph/build-rows.ts";
import { findBuilds, isBuilding, markReady } from "../graph/schema-diff.ts";
import type { Duty } from "./duty.ts";
import type { IndexBuild } from "../graph/schema-diff.ts";
import { readNamespaces, schemaPatches } from "../graph/schema-rows.ts";
import type { KnownSchema } from "../graph/schema-rows.ts";
import type { Predicate } from "../graph/schema.ts";
import type { FillJob, FillResult, Patch } from "../store/store.ts";
import { encodeFillDetail } from "../write/fill.ts";
import type { ChangeSender } from "./commits.ts";
import { IndexRound, LogGap, nextSize } from "./index-rounds.ts";
import type { RoundResult } from "./index-rounds.ts";
import type { WalkPlace } from "./node-walk.ts";
import type { View, ReaderFactory } from "./reader-factory.ts";

interface IndexBuildsOptions {
  readonly readers: ReaderFactory;
  readonly committer: ChangeSender;
  readonly logger: Logger;
  readonly clock: Clock;
  /** Whether this process builds. Default: it does. */
  readonly duty?: Duty;
  /** What is gathered in memory at a time. */
  readonly roundBytes?: number;
}

/** A build under way. */
export interface IndexProgress {
  readonly namespace: number;
  /** The predicate's name. */
  readonly predicate: string;
  /** A tokenizer, `reverse`, `count` or `~count`. */
  readonly index: string;
  /** Nodes: how many are done of how many. */
  readonly done: number;
  readonly total: number;
}

/**
 * Nodes in the first slice of what is not gathered in rounds; later ones follow from the time that the writer was busy
 * with the last.
 */
const sliceNodes = 256;
const sliceNodesMin = 128;
const sliceNodesMax = 4096;
/**
 * How long a slice may keep others from writing. A transaction's own cost is above a millisecond of CPU, 128 nodes add
 * half of one: smaller ones would only be more.
 */
const sliceMs = 8;
/** A rest between slices is as long as the slice was, but no longer. */
const restMsMax = 40;
/** What a round gathers, and at least after rounds that the log was too short for. */
const roundBytes = 48 * 1024 * 1024;
const roundBytesMin = 256 * 1024;
/** How often the row is written, and the log told. */
const rowMs = 1000;
const logMs = 5000;
/** Waits between tries after a failure. */
const retryMsMin = 100;
const retryMsMax = 10_000;

/** Told how far it is, and for how long the writer was busy with it. */
type Told = (row: BuildRow, writerMs: number) => Promise<void>;

export class IndexBuilds {
  readonly #options: IndexBuildsOptions;
  readonly #running = new Map<number, Promise<void>>();
  /** Namespaces that changed since their loop last looked. */
  readonly #changed = new Set<number>();
  readonly #stopCounting: () => void;
  /** Seen since the start, of all processes. */
  #commits = 0;
  #isClosed = false;
  /** Ends the waits between tries. */
  readonly #waits = new Set<() => void>();

  constructor(options: IndexBuildsOptions) {
    this.#options = options;
    this.#stopCounting = options.readers.store.onCommit(() => void this.#commits++);
  }

  /** Builds what there is to build in a namespace, in the background. */
  wake(namespace: number): void {
    this.#changed.add(namespace);
    if (this.#isStopped || this.#running.has(namespace)) return;
    const running = this.#run(namespace).finally(() => {
      this.#running.delete(namespace);
      if (this.#changed.has(namespace)) this.wake(namespace);
    });
    this.#running.set(namespace, running);
  }

  /** Takes up builds that a process left behind when it ended. */
  async takeUp(): Promise<void> {
    const snapshot = await this.#options.readers.store.snapshot();
    const namespaces = new Set(await readNamespaces(snapshot));
    for (const row of await readBuildRows(snapshot)) namespaces.add(row.namespace);
    snapshot.close();
    for (const namespace of namespaces) this.wake(namespace);
  }

  /** Closed, or another process builds. */
  get #isStopped(): boolean {
    return this.#isClosed || this.#options.duty?.isOn === false;
  }

  /** Resolves when nothing is left to build. */
  async settled(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running.values());
  }

  /** Waits for the slice under way; builds go on at the next start. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#stopCounting();
    this.#changed.clear();
    for (const end of this.#waits) end();
    await Promise.allSettled(this.#running.values());
  }

  /** Never rejects: what fails is tried again until it works, or the process ends. */
  async #run(namespace: number): Promise<void> {
    let retryMs = retryMsMin;
    while (!this.#isStopped) {
      try {
        this.#changed.delete(namespace);
        if (!(await this.#buildAll(namespace))) return;
        retryMs = retryMsMin;
      } catch (error) {
        if (this.#isStopped) return;
        const fields = { namespace, error: String(error), retryMs };
        this.#options.logger.error("an index build failed and is tried again", fields);
        await this.#pause(retryMs);
        retryMs = Math.min(retryMs * 2, retryMsMax);
      }
    }
  }

  /** Whether there was anything to build. */
  async #buildAll(namespace: number): Promise<boolean> {
    const known = await this.#schema(namespace);
    const builds = known === undefined ? [] : findBuilds(known.state);
    for (const build of builds) await this.#build(namespace, build);
    if (this.#isStopped) return false;
    await this.#finish(namespace, builds);
    return builds.length > 0;
  }

  async #build(namespace: number, build: IndexBuild): Promise<void> {
    const row = await this.#begin(namespace, build);
    if (row === undefined) return;
    const told = this.#tellStart(row, build);
    if (build.kind === "count") await this.#buildInSlices(row, build, told);
    else await this.#buildInRounds(row, build, told);
  }

  async #buildInSlices(first: BuildRow, build: IndexBuild, told: Told): Promise<void> {
    let row = first;
    let limit = sliceNodes;
    while (!this.#isStopped && !row.isFilled) {
      const known = await this.#schema(row.namespace);
      if (known === undefined || !isBuilding(known.state, build)) return;
      const before = this.#commits;
      const result = await this.#fillSlice(known, build, { after: row.after, limit });
      const done = result.done ? row.total : Math.min(row.done + limit, row.total);
      row = { ...row, after: result.after, done, isFilled: result.done };
      const { tookMs } = result;
      limit = nextSize(limit, { tookMs, aimMs: sliceMs, min: sliceNodesMin, max: sliceNodesMax });
      await told(row, tookMs);
      if (!row.isFilled) await this.#restAfter(tookMs, before);
    }
  }

  async #buildInRounds(first: BuildRow, build: IndexBuild, told: Told): Promise<void> {
    let row = first;
    // After a crash a node that was in the middle is begun again.
    let place: WalkPlace = { after: row.after };
    let bytesMax = this.#options.roundBytes ?? roundBytes;
    while (!this.#isStopped && !row.isFilled) {
      try {
        const result = await this.#runRound(row, build, { place, bytesMax, told });
        if (result === undefined) return;
        const { nodes, isLast } = result;
        ({ place } = result);
        const done = isLast ? row.total : Math.min(row.done + nodes, row.total);
        row = { ...row, after: place.after, done, isFilled: isLast };
        await told(row, 0);
      } catch (error) {
        if (!(error instanceof LogGap) || bytesMax === roundBytesMin) throw error;
        bytesMax = Math.max(roundBytesMin, bytesMax / 4);
      }
    }
  }

  async #runRound(
    row: BuildRow,
    build: IndexBuild,
    { place, bytesMax, told }: { place: WalkPlace; bytesMax: number; told: Told },
  ): Promise<RoundResult | undefined> {
    const { clock, readers } = this.#options;
    const { namespace } = row;
    let ahead = 0;
    let before = this.#commits;
    const round = new IndexRound(
      {
        clock,
        store: readers.store,
        namespace,
        build,
        bytesMax,
        open: async () =>
          (await this.#isThere(namespace)) ? await readers.openOwn(namespace, "change") : undefined,
        tell: (nodes) => (ahead = Math.floor(nodes)),
        rest: async ({ by, tookMs }) => {
          await told({ ...row, ahead }, by === "writer" ? tookMs : 0);
          await this.#restAfter(tookMs, before);
          before = this.#commits;
          return !this.#isStopped;
        },
      },
      place,
    );
    return await round.run();
  }

  /** Beside others who write, half of the time is theirs; beside those who read, a moment. */
  async #restAfter(tookMs: number, commitsBefore: number): Promise<void> {
    await this.#pause(this.#commits === commitsBefore ? 0 : Math.min(tookMs, restMsMax));
  }

  #fillSlice(
    known: KnownSchema,
    build: IndexBuild,
    at: { readonly after: number; readonly limit: number },
  ): Promise<FillResult> {
    const { storageId, version, namespace } = known.schema;
    const predicate = must(
      known.schema.predicateById(build.predicate),
      "a build is of a predicate",
    );
    const detail = encodeFillDetail({ build, predicate, namespace, schemaVersion: version });
    const job: FillJob = { storageId, predicate: build.predicate, ...at, detail };
    return this.#fill(job);
  }

  #fill(job: FillJob): Promise<FillResult> {
    return this.#options.readers.store.fill(job);
  }

  /** The row of a build, or a new one; undefined where it is not wanted any more. */
  async #begin(namespace: number, build: IndexBuild): Promise<BuildRow | undefined> {
    return await this.#look(namespace, async ({ reader, known, snapshot }) => {
      if (!isBuilding(known.state, build)) return undefined;
      const { storageId } = known.schema;
      const rows = await readBuildRows(snapshot);
      const row = rows.find((one) => one.storageId === storageId && one.index === build.index);
      if (row !== undefined) return { ...row, ahead: 0 };
      const [total] = await reader.countLists([{ kind: "presence", predicate: build.predicate }]);
      const start = { after: 0, done: 0, total: total ?? 0, isFilled: false };
      return { namespace, storageId, index: build.index, ...start };
    });
  }

  /** Makes the indexes ready, and forgets the rows of all that is not being built any more. */
  async #finish(namespace: number, builds: readonly IndexBuild[]): Promise<void> {
    const { committer } = this.#options;
    await committer.retry(async () => {
      const known = await this.#look(namespace, async (view) => {
        const patches = await staleRows(view, namespace, builds);
        const next = builds.filter((build) => isBuilding(view.known.state, build));
        if (next.length > 0) {
          patches.push(...schemaPatches(markReady(view.known.state, next), view.known));
        }
        if (patches.length === 0) return view.known;
        const { ts } = view.snapshot;
        // Slices stand in no log: what was read before them cannot be read through the version history.
        const raisesFence = next.length > 0;
        const keys = { conflictKeys: [], basisKeys: [] };
        await committer.commit(view, { startTs: ts, ...keys, patches, raisesFence });
        return view.known;
      });
      if (known === undefined) await this.#forgetRows(namespace);
    });
  }

  /** Of a namespace that is gone. */
  async #forgetRows(namespace: number): Promise<void> {
    const snapshot = await this.#options.readers.store.snapshot();
    const rows = await readBuildRows(snapshot);
    snapshot.close();
    const gone = rows.filter((row) => row.namespace === namespace);
    if (gone.length > 0) await this.#writeRows(gone.map((row) => buildPatch(row, true)));
  }

  async #writeRows(patches: readonly Patch[]): Promise<void> {
    const { readers, committer } = this.#options;
    await committer.retry(async () => {
      const snapshot = await readers.store.snapshot();
      try {
        await committer.commitRows(snapshot, undefined, patches);
      } finally {
        snapshot.close();
      }
    });
  }

  /** undefined where the namespace is gone. */
  async #look<T>(namespace: number, work: (view: View) => Promise<T>): Promise<T | undefined> {
    if ((await this.#schema(namespace)) === undefined) return undefined;
    const view = await this.#options.readers.openOwn(namespace, "change");
    try {
      return await work(view);
    } finally {
      view.reader.close();
    }
  }

  async #schema(namespace: number): Promise<KnownSchema | undefined> {
    return (await this.#isThere(namespace))
      ? await this.#options.readers.schema(namespace)
      : undefined;
  }

  async #isThere(namespace: number): Promise<boolean> {
    const snapshot = await this.#options.readers.store.snapshot();
    const namespaces = await readNamespaces(snapshot);
    snapshot.close();
    return namespaces.includes(namespace);
  }

  /**
   * Keeps the row, and tells the log of the start, every few seconds how far it is, and of the end: also how long the
   * writer was kept at the longest.
   */
  #tellStart(first: BuildRow, build: IndexBuild): Told {
    const { logger, clock } = this.#options;
    const { namespace, total } = first;
    const startMs = clock.tickMs();
    let rowDueMs = startMs + rowMs;
    let logDueMs = startMs + logMs;
    let longestMs = 0;
    let slices = 0;
    const what = { namespace, predicate: build.predicate, index: build.index, kind: build.kind };
    logger.info("an index is being built", { ...what, done: first.done, total });
    return async (row, writerMs) => {
      const nowMs = clock.tickMs();
      longestMs = Math.max(longestMs, writerMs);
      if (writerMs > 0) slices++;
      if (row.isFilled || nowMs >= rowDueMs) {
        await this.#writeRows([buildPatch(row)]);
        rowDueMs = clock.tickMs() + rowMs;
      }
      if (row.isFilled) {
        const tookMs = Math.round(nowMs - startMs);
        const work = { slices, longestMs: Math.round(longestMs) };
        logger.info("an index is filled", { ...what, total, tookMs, ...work });
      } else if (nowMs >= logDueMs) {
        logDueMs = nowMs + logMs;
        const done = doneOf(row);
        const percent = Math.floor((100 * done) / Math.max(1, total));
        logger.info(`an index is being built: ${percent} %`, { ...what, done, total });
      }
    };
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const end = (): void => {
        clearTimeout(timer);
        this.#waits.delete(end);
        resolve();
      };
      const timer = setTimeout(end, ms);
      this.#waits.add(end);
    });
  }
}

/** What is being built in all namespaces, for health. */
export async function readProgress(readers: ReaderFactory): Promise<readonly IndexProgress[]> {
  const snapshot = await readers.store.snapshot();
  const rows = await readBuildRows(snapshot);
  const namespaces = await readNamespaces(snapshot);
  snapshot.close();
  const found: IndexProgress[] = [];
  for (const namespace of namespaces) {
    const { state } = await readers.schema(namespace);
    for (const build of findBuilds(state)) {
      const predicate = must(
        state.predicates.find(({ id }) => id === build.predicate),
        "a build is of a predicate",
      );
      const row = rows.find((one) => one.index === build.index && one.namespace === namespace);
      found.push({
        namespace,
        predicate: predicate.definition.name,
        index: nameOf(predicate, build),
        done: row === undefined ? 0 : doneOf(row),
        total: row?.total ?? 0,
      });
    }
  }
  return found;
}

function nameOf(predicate: Predicate, build: IndexBuild): string {
  switch (build.kind) {
    case "token":
      return predicate.indexes.find(({ id }) => id === build.index)?.tokenizer ?? "";
    case "reverseCount":
      return "~count";
    case "reverse":
    case "count":
      return build.kind;
  }
}

/** Rows of the namespace that stand for nothing once `done` are ready. */
async function staleRows(
  view: View,
  namespace: number,
  done: readonly IndexBuild[],
): Promise<Patch[]> {
  const finished = new Set(done.map(({ index }) => index));
  const left = findBuilds(view.known.state).filter(({ index }) => !finished.has(index));
  const { storageId } = view.known.schema;
  const rows = await readBuildRows(view.snapshot);
  return rows
    .filter((row) => row.namespace === namespace)
    .filter((row) => row.storageId !== storageId || !left.some(({ index }) => index === row.index))
    .map((row) => buildPatch(row, true));
}
