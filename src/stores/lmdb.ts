/**
 * The port on LMDB (reference/storage 8.1). Exactly one process writes (`openWriter`); the others read the file
 * themselves and send it their changes (`connectStore`). The supervisor's claim on a directory has an interface of its
 * own, `claim.ts`, which does not load LMDB.
 */
import { randomUUID } from "node:crypto";
import { rmSync } from "node:fs";
import { join } from "node:path";
import type { Clock } from "../base/clock.ts";
import { silentLogger, type Logger } from "../base/log.ts";
import { assert } from "../base/assert.ts";
import { Fault } from "../model/fault.ts";
import type { Derive, Snapshot, Store } from "../store/store.ts";
import type { Tuning } from "./apply/tuning.ts";
import { Committer } from "./commit/committer.ts";
import { ConflictChecker } from "./commit/conflict-checker.ts";
import { Pauses } from "./commit/pauses.ts";
import type { LogRetention } from "./commit/log-tail.ts";
import { makeNumberWatch } from "./commit/number-limit.ts";
import { type CapacityBounds, CapacityGuard } from "./lmdb/capacity.ts";
import type { Claim } from "./lmdb/claim.ts";
import { positionKey, type LmdbEngine, type RowShipper } from "./lmdb/engine.ts";
import { prepareNow, type KeyValue } from "./key-value.ts";
import type { Environment, OtherFile } from "./lmdb/environment.ts";
import { Compaction, type AnnounceExchange } from "./lmdb/compaction.ts";
import { clearAside } from "./lmdb/exchange.ts";
import {
  createStore,
  dataBytes,
  dataName,
  makeDirectory,
  syncDirectory,
  writeClosed,
} from "./lmdb/header.ts";
import { inspectStore, type StoreHeader } from "./lmdb/inspect.ts";
import { PlaceGuard } from "./lmdb/place-guard.ts";
import { explainMove, refuseAnother, type StoreIdentity } from "./lmdb/place.ts";
import { openForWriting, type JournalOptions, type RunJournalOptions } from "./lmdb/opening.ts";
import { removeJournal } from "./lmdb/recovery.ts";
import { refuseLost } from "./lmdb/read-only.ts";
import { connectThroughLink } from "./lmdb/linked-store.ts";
import { openLinkListener, type LinkListener } from "./lmdb/link-server.ts";
import { LinkSession } from "./lmdb/link-session.ts";
import { NodeLink, type NodeLinkHost } from "./lmdb/node-link.ts";
import { SlotKeeper } from "./lmdb/slot-keeper.ts";
import { noScrub, Scrub, type ScrubPolicy } from "./lmdb/scrub.ts";
import { DiskRoom } from "./disk-room.ts";
import { rosterRange } from "./roster-rows.ts";
import { keysName } from "./sealed/keys-name.ts";
import type { StoreCipher } from "./sealed/store-cipher.ts";
import { createKeys, unlockStore } from "./sealed/store-keys.ts";
import type { UserKey } from "./sealed/user-key.ts";
import { claimForWriting } from "./lmdb/writing-claim.ts";
import { readLog, walkLog } from "./read-log.ts";

export type { Claim } from "./lmdb/claim.ts";
export { positionKey, type RowShipper } from "./lmdb/engine.ts";
export type { LinkSession } from "./lmdb/link-session.ts";
export type {
  LeadNotice,
  LeadTerm,
  NodeLink,
  NodeLinkHost,
  PlacedAnswer,
  ProcessSession,
} from "./lmdb/node-link.ts";
export type { SlotToken } from "./lmdb/slot-keeper.ts";

export interface WriterOptions {
  readonly dir: string;
  readonly logger: Logger;
  readonly clock: Clock;
  /** Bytes in use above which changes that add are refused (E_STORE_FULL). Default: no limit but the disk. */
  readonly mapBytesMax?: number;
  /** What is to be left free on the disk (E_STORE_FULL); by default 512 MiB, or 2 % where that is less. */
  readonly room?: DiskRoom;
  readonly retention?: LogRetention;
  readonly queueMax?: number;
  /** How long to wait for a dying writer of before (its claim), and for readers. Default 15 s. */
  readonly claimWaitMs?: number;
  /** How long slots that are taken at the start wait for their processes to come back. Default 5 s. */
  readonly slotGraceMs?: number;
  /** Needed for `fill`. */
  readonly derive?: Derive;
  /** Called once when the store cannot be written any more (a failed sync): the process must end. */
  readonly onFatal?: (error: unknown) => void;
  /** Whether other processes may connect, and `weft check` may look. Default true. */
  readonly isLinked?: boolean;
  readonly tuning?: Tuning;
  /** Only for tests: no commit is durable. */
  readonly noSync?: boolean;
  /** `run`: what the processes share that follow each other in one run of the server; without it each is a run. */
  readonly journal?: JournalOptions;
  /** The store that must be there: without one, or with another, none is made or opened. */
  readonly identity?: StoreIdentity | undefined;
  /** Default: the process does not scrub. */
  readonly scrub?: ScrubPolicy;
  /** Told before `weft compact` exchanges the data file beside this process. */
  readonly announceExchange?: AnnounceExchange;
  /** The key of a store that is encrypted, or of one to be made. */
  readonly encryption?: UserKey | undefined;
  /** The store of one of several machines forgets its place in their log, and is a server's alone. Default: it is refused. */
  readonly leavesLog?: boolean;
}

export interface Writer {
  readonly store: Store;
  /** Call when a child process died: its readers go on pinning pages until then. */
  checkReaders(): void;
  /** Commits what waits, and marks the store as closed in order. */
  close(): Promise<void>;
}

const readerCheckMs = 10_000;
const claimWaitMs = 15_000;
const slotGraceMs = 5000;

/** Alone it would write what the others never see. */
const ofMachines =
  "it is that of one of several machines: start it with --cluster, or take it out with weft cluster leave";

type ClaimedOptions = WriterOptions & { readonly journal: RunJournalOptions };

/**
 * Opens (or makes) the store for writing. Fault E_STARTUP, one clear line: another writer is alive, the directory is
 * not a store, is damaged, of a newer format, or not of this key.
 */
export async function openWriter(options: WriterOptions): Promise<Writer> {
  const { dir } = options;
  // Made before the claim, which the directory itself names; a file in its place is told below.
  const journal = { run: randomUUID(), ...options.journal };
  const found = inspectStore(dir, journal);
  refuseAnother(dir, found?.storeId, options.identity);
  // Told before anything is touched.
  if (found !== undefined) unlockStore(dir, found, options.encryption);
  if (found === undefined) makeDirectory(dir);
  const claim = await claimForWriting(dir, options.claimWaitMs ?? claimWaitMs);
  if (claim === undefined) {
    throw new Fault("E_STARTUP", `cannot open the store at ${dir}: another process writes to it`);
  }
  let listener: LinkListener | undefined;
  try {
    listener = options.isLinked === false ? undefined : await openLinkListener(dir);
    return await openClaimed({ ...options, journal }, claim, listener);
  } catch (error) {
    await listener?.close();
    await claim.release();
    throw error;
  }
}

interface OpenedFiles {
  readonly header: Pick<StoreHeader, "storeId">;
  readonly environment: Environment;
  readonly lmdb: LmdbEngine;
  readonly engine: CapacityGuard;
  readonly guard: PlaceGuard;
  readonly room: DiskRoom;
  readonly exchange: ((other: OtherFile) => Promise<void>) | undefined;
  /** A failed sync is told to it. */
  onFailure(listener: (error: unknown) => void): void;
  /** The data file is whole when it resolves. */
  close(): Promise<void>;
}

/** `storeId`: that of a store that is made; default: one of its own. */
async function openFiles(options: ClaimedOptions, storeId?: string): Promise<OpenedFiles> {
  const { dir, logger } = options;
  const found = inspectStore(dir, options.journal);
  refuseAnother(dir, found?.storeId, options.identity);
  const cipher = openKeys(options, found);
  clearAside(dir);
  const header = found ?? { ...createStore(dir, storeId), loss: undefined };
  const isNew = dataBytes(dir) === 0;
  if (isNew) rmSync(join(dir, dataName), { force: true });
  let fail = (_error: unknown): void => {};
  const opened = await openForWriting({
    dir,
    header,
    logger,
    clock: options.clock,
    noSync: options.noSync ?? false,
    journal: options.journal,
    readersWaitMs: options.claimWaitMs ?? claimWaitMs,
    onFailure: (error) => fail(error),
    cipher,
  });
  const { environment } = opened;
  if (isNew) syncDirectory(dir);
  const lmdb = environment.writeEngine(opened.journal);
  const guard = new PlaceGuard(lmdb, dir, options.clock);
  const bounds = boundsOf(options);
  const engine = new CapacityGuard(guard, () => environment.bytesUsed(), bounds, logger);
  // Nothing of it was there before this process.
  if (isNew) environment.trust.isVerified = true;
  const onFailure = (listener: (error: unknown) => void): void => {
    fail = listener;
  };
  const { exchange } = opened;
  return {
    header,
    environment,
    lmdb,
    engine,
    guard,
    room: bounds.room,
    exchange:
      exchange &&
      (async (other) => {
        await exchange(other);
        guard.renew();
      }),
    onFailure,
    close: () => opened.close(),
  };
}

async function openClaimed(
  options: ClaimedOptions,
  claim: Claim,
  listener: LinkListener | undefined,
): Promise<Writer> {
  const { dir, logger } = options;
  const files = await openFiles(options);
  const { header, environment, engine, lmdb } = files;
  if (lmdb.position !== undefined) {
    if (options.leavesLog !== true) {
      await closeFiles(files, dir, claim, false);
      throw new Fault("E_STARTUP", `cannot open the store at ${dir}: ${ofMachines}`);
    }
    prepareNow(lmdb, forgetMachines).commitNow();
  }
  const committer = openCommitter(files, options);
  const scrub = beginScrub(environment, options);
  const slots = new SlotKeeper(committer, options.slotGraceMs ?? slotGraceMs);
  const compaction = new Compaction({
    dir,
    committer,
    environment,
    exchange: files.exchange,
    announce: options.announceExchange,
    readers: () => listener?.readers ?? [],
    logger,
  });
  listener?.serve({ storeId: header.storeId, committer, slots, compaction, logger });
  const timer = setInterval(() => environment.readerCheck(), readerCheckMs).unref();
  let isClosed = false;
  const close = async (): Promise<void> => {
    if (isClosed) return;
    isClosed = true;
    clearInterval(timer);
    scrub.close();
    slots.close();
    await committer.whenWritable();
    await committer.flush();
    committer.stop(new Fault("E_STORE_UNAVAILABLE", "the store is closed"));
    await listener?.close();
    await closeFiles(files, options.dir, claim, committer.hasFailed);
  };
  return {
    store: makeDirectStore({ environment, committer, slots, engine, close }),
    checkReaders: () => void environment.readerCheck(),
    close,
  };
}

/** Of a store that leaves its log. */
function forgetMachines(kv: KeyValue): void {
  kv.remove(positionKey);
  const keys: Uint8Array[] = [];
  kv.scan(rosterRange, (key) => keys.push(key.slice()) > 0);
  for (const key of keys) kv.remove(key);
}

/** Those of a new store are made. */
function openKeys(
  { dir, encryption }: WriterOptions,
  found: StoreHeader | undefined,
): StoreCipher | undefined {
  if (found !== undefined) return unlockStore(dir, found, encryption);
  if (encryption !== undefined) return createKeys(dir, encryption);
  // Of a start that was ended before the store was made.
  rmSync(join(dir, keysName), { force: true });
  return undefined;
}

function openCommitter(
  files: OpenedFiles,
  options: WriterOptions & { readonly checker?: ConflictChecker },
): Committer {
  const { logger } = options;
  const committer = new Committer(files.engine, options);
  tellOfDamagedLog(committer, logger);
  watchNumbers(committer, logger);
  files.onFailure((error) => committer.fail(error));
  committer.onFatal((error) => {
    logger.error("the store cannot be written any more", { error: String(error) });
    options.onFatal?.(error);
  });
  return committer;
}

async function closeFiles(
  files: OpenedFiles,
  dir: string,
  claim: Claim,
  hasFailed: boolean,
): Promise<void> {
  try {
    await files.close();
    // Not into a directory that is another's.
    if (!hasFailed && files.guard.isInPlace()) {
      writeClosed(dir, files.header.storeId);
      removeJournal(dir);
    }
  } finally {
    await claim.release();
  }
}

/** The store of one of several machines: it applies what another one writes, until it leads itself. */
export interface NodeStore {
  readonly storeId: string;
  /** What `apply`, or the shipper, said last of how far the log is applied; undefined: nothing of it is. */
  readonly position: Uint8Array | undefined;
  snapshot(): Snapshot;
  /**
   * Transactions of the machine that leads, in their order, as one. Durable and visible when it returns. Throws as a
   * commit rejects; then nothing of them is there, and the store goes on.
   */
  apply(records: readonly ShippedRecord[], position: Uint8Array): void;
  /**
   * Why nothing of clients can be written here now: its disk has no room, or its files are not where they were. undefined:
   * it can.
   */
  findTrouble(): string | undefined;
  /** When nobody has asked for a pause; what follows at once is outside of all pauses. */
  whenWritable(): Promise<void>;
  /** Resolves when nothing is being written; then nothing is until what it gives is called. */
  pause(): Promise<() => void>;
  /** Once: has the processes of this machine in, who wait until then. */
  serve(host: NodeLinkHost, commitTs: () => number): NodeLink;
  /** This machine writes from now on, and applies nothing of others any more. What it cannot ship ends it (`onFatal`). */
  lead(shipper: RowShipper): LeadingStore;
  /** Of the machine that leads, in a pause: how far the log is applied, where the last records of it had no rows. */
  note(position: Uint8Array): void;
  /** What waits to be written is written no more: nothing takes what this machine ships. */
  abandon(): void;
  /** Call when a process of this machine died: its readers go on pinning pages until then. */
  checkReaders(): void;
  /** What is being shipped must be at its end. */
  close(): Promise<void>;
}

/** What the machine that leads has written in one transaction. */
interface ShippedRecord {
  readonly keys: Uint8Array;
  readonly rows: Uint8Array;
}

/** The store of the machine that leads. */
export interface LeadingStore extends Store {
  /** For a process. `isRemote`: of another machine, whose connection may end while the process lives. */
  openSession(isRemote: boolean): LinkSession;
}

/** `storeId`: which store it is on all machines, 32 hex digits. */
export type NodeStoreOptions = WriterOptions & { readonly storeId: string };

export function holdsStore(dir: string): boolean {
  return inspectStore(dir) !== undefined;
}

/** As `openWriter`. */
export async function openNodeStore(options: NodeStoreOptions): Promise<NodeStore> {
  const { dir, storeId } = options;
  const journal = { run: randomUUID(), ...options.journal };
  const found = inspectStore(dir, journal);
  if (found !== undefined && found.storeId !== storeId) {
    throw new Fault(
      "E_STARTUP",
      `cannot open the store at ${dir}: it is another store than the log's`,
    );
  }
  refuseAnother(dir, found?.storeId, options.identity);
  if (found === undefined) makeDirectory(dir);
  const claim = await claimForWriting(dir, options.claimWaitMs ?? claimWaitMs);
  if (claim === undefined) {
    throw new Fault("E_STARTUP", `cannot open the store at ${dir}: another process writes to it`);
  }
  let listener: LinkListener | undefined;
  try {
    listener = options.isLinked === false ? undefined : await openLinkListener(dir);
    const files = await openFiles({ ...options, journal }, storeId);
    return new LmdbNode(files, options, { claim, listener });
  } catch (error) {
    await listener?.close();
    await claim.release();
    throw error;
  }
}

interface NodeClaims {
  readonly claim: Claim;
  readonly listener: LinkListener | undefined;
}

class LmdbNode implements NodeStore {
  readonly #files: OpenedFiles;
  readonly #options: WriterOptions;
  readonly #claims: NodeClaims;
  readonly #pauses = new Pauses(() => {});
  /** What other machines have committed since it was opened: transactions that are open then outlive their leader. */
  readonly #checker: ConflictChecker;
  readonly #scrub: Scrub;
  readonly #timer: NodeJS.Timeout;
  #link: NodeLink | undefined;
  #committer: Committer | undefined;
  #hasFailed = false;
  #closed: Promise<void> | undefined;

  constructor(files: OpenedFiles, options: WriterOptions, claims: NodeClaims) {
    const { environment } = files;
    this.#files = files;
    this.#options = options;
    this.#claims = claims;
    this.#checker = new ConflictChecker(environment.read(({ ts }) => ts));
    this.#scrub = beginScrub(environment, options);
    this.#timer = setInterval(() => environment.readerCheck(), readerCheckMs).unref();
    files.onFailure((error) => {
      this.#hasFailed = true;
      options.onFatal?.(error);
    });
  }

  get storeId(): string {
    return this.#files.header.storeId;
  }

  get position(): Uint8Array | undefined {
    return this.#files.lmdb.position;
  }

  snapshot(): Snapshot {
    return this.#files.environment.snapshot();
  }

  apply(records: readonly ShippedRecord[], position: Uint8Array): void {
    assert(!this.#pauses.isOn, "nothing is applied in a pause");
    const rows = records.map((record) => record.rows);
    this.#files.lmdb.apply(rows, position);
    for (const { keys } of records) this.#checker.recordShipped(keys);
  }

  findTrouble(): string | undefined {
    const { guard, room, environment } = this.#files;
    const move = guard.findMove();
    if (move !== undefined) return explainMove(move);
    if (environment.damageCount > 0) return "the store is damaged: weft check says where";
    return room.isShort ? `the store is full: ${room.explain()}` : undefined;
  }

  async whenWritable(): Promise<void> {
    await (this.#committer === undefined
      ? this.#pauses.whenOver()
      : this.#committer.whenWritable());
  }

  async pause(): Promise<() => void> {
    return this.#committer === undefined ? this.#pauses.begin() : await this.#committer.pause();
  }

  serve(host: NodeLinkHost, commitTs: () => number): NodeLink {
    const { logger } = this.#options;
    const link = new NodeLink({ storeId: this.storeId, host, logger, commitTs });
    this.#link = link;
    this.#claims.listener?.serveWith((socket) => link.take(socket));
    return link;
  }

  lead(shipper: RowShipper): LeadingStore {
    assert(!this.#pauses.isOn, "the lead begins outside of pauses");
    const { lmdb, environment, engine } = this.#files;
    lmdb.shipTo(shipper);
    const options = { ...this.#options, checker: this.#checker };
    const committer = openCommitter(this.#files, options);
    this.#committer = committer;
    const slots = new SlotKeeper(committer, options.slotGraceMs ?? slotGraceMs);
    const close = (): Promise<void> => this.close();
    const store = makeDirectStore({ environment, committer, slots, engine, close });
    return {
      ...store,
      openSession: (isRemote) => {
        const graceMs = isRemote ? (options.slotGraceMs ?? slotGraceMs) : 0;
        return new LinkSession({ committer, slots, graceMs });
      },
    };
  }

  note(position: Uint8Array): void {
    this.#files.lmdb.note(position);
  }

  abandon(): void {
    this.#committer?.stop(new Fault("E_STORE_UNAVAILABLE", "the lead was given up"));
  }

  checkReaders(): void {
    this.#files.environment.readerCheck();
  }

  close(): Promise<void> {
    return (this.#closed ??= this.#closeOnce());
  }

  async #closeOnce(): Promise<void> {
    clearInterval(this.#timer);
    this.#scrub.close();
    const committer = this.#committer;
    if (committer !== undefined) {
      await committer.flush();
      committer.stop(new Fault("E_STORE_UNAVAILABLE", "the store is closed"));
    }
    this.#link?.partAll();
    const { claim, listener } = this.#claims;
    await listener?.close();
    const hasFailed = this.#hasFailed || committer?.hasFailed === true;
    await closeFiles(this.#files, this.#options.dir, claim, hasFailed);
  }
}

function beginScrub(environment: Environment, options: WriterOptions): Scrub {
  const { clock, logger, scrub = noScrub } = options;
  return new Scrub({ environment, clock, logger, policy: scrub });
}

function boundsOf({ dir, clock, mapBytesMax, room }: WriterOptions): CapacityBounds {
  return { bytesMax: mapBytesMax, room: room ?? new DiskRoom(dir, clock, undefined) };
}

function tellOfDamagedLog({ damagedLogAt }: Committer, logger: Logger): void {
  if (damagedLogAt === undefined) return;
  logger.error(
    "an entry of the commit log is damaged: what was begun before it is aborted, and a lost answer of before is unknown",
    { commit: damagedLogAt },
  );
}

function watchNumbers(committer: Committer, logger: Logger): void {
  const watch = makeNumberWatch(logger);
  watch(committer.commitTs);
  committer.onCommit(watch);
}

interface DirectParts {
  readonly environment: Environment;
  readonly committer: Committer;
  readonly slots: SlotKeeper;
  readonly engine: CapacityGuard;
  readonly close: () => Promise<void>;
}

function makeDirectStore({ environment, committer, slots, engine, close }: DirectParts): Store {
  return {
    snapshot: () => environment.snapshot(),
    commit: (change) => committer.commit(change),
    lease: (count) => committer.lease(count),
    reserve: (uid) => committer.reserve(uid),
    fill: (job) => committer.fill(job),
    sweep: (request) => committer.sweep(request),
    place: (slice) => committer.place(slice),
    onCommit: (listener) => committer.onCommit(listener),
    readLog,
    walkLog,
    // The process that writes loses its slot with its life alone.
    claimSlot: () => slots.joinSelf(),
    slots: () => committer.slots.floors(),
    describe: () => ({
      engine: "lmdb",
      commitTs: committer.commitTs,
      maxUid: committer.nextUid - 1,
      bytesUsed: environment.bytesUsed(),
      bytesMax: Number.isFinite(engine.bytesMax) ? engine.bytesMax : 0,
      damageCount: environment.damageCount,
    }),
    close,
  };
}

interface ConnectOptions {
  readonly dir: string;
  /** How long a request waits for a writer (a restart) before it fails. Default 10 s. */
  readonly waitMs?: number;
  /** The store that must be there. */
  readonly identity?: StoreIdentity | undefined;
  /** What is found to be damaged is told here. */
  readonly logger?: Logger;
  /** Default: the process does not scrub. */
  readonly scrub?: ScrubPolicy;
  readonly encryption?: UserKey | undefined;
  /** Of one of several machines: told when it begins to lead, and when it does not any more. */
  readonly onLead?: (leads: boolean) => void;
  /** Of one of several machines: how long reads wait for what was acknowledged on any; default: they take what it has. */
  readonly currentMs?: number;
}

/** The store of a process beside the writer, which must have opened it before. */
export async function connectStore(options: ConnectOptions): Promise<Store> {
  const { dir } = options;
  const header = inspectStore(dir);
  refuseAnother(dir, header?.storeId, options.identity);
  if (header === undefined || dataBytes(dir) === 0) {
    throw new Fault("E_STARTUP", `cannot open the store at ${dir}: there is none`);
  }
  refuseLost(dir, header);
  const { storeId } = header;
  return connectThroughLink({
    dir,
    storeId,
    cipher: unlockStore(dir, header, options.encryption),
    waitMs: options.waitMs ?? 10_000,
    logger: options.logger ?? silentLogger,
    scrub: options.scrub ?? noScrub,
    onLead: options.onLead,
    currentMs: options.currentMs,
  });
}

export { claimServing } from "./claim.ts";
export { examineFiles, openReadOnly, type ReadOnlyStore } from "./lmdb/read-only.ts";
