/**
 * One reader of the change feed: goes through the commit log from a position on, some rows at a time. It holds no
 * snapshot, and no more than those rows, while its reader takes its time.
 */
import { decodeLogEntry } from "../codec/log-entry.ts";
import { Fault } from "../model/fault.ts";
import { openCommit } from "../store/patch-codec.ts";
import type { Snapshot } from "../store/store.ts";
import type { SchemaState } from "../graph/schema-state.ts";
import type { FeedEvent } from "./feed-event.ts";
import { seesNamespace, type FeedFilter } from "./feed-filter.ts";
import type { FeedMemory } from "./feed-memory.ts";
import { readLogRows, type FeedRow } from "./feed-rows.ts";
import { printPosition } from "./position.ts";
import { printCommit, type PrintedCommit } from "./print-commit.ts";
import type { SchemaHistory } from "./schema-history.ts";
import { TypeMembers, type MembersOf } from "./type-members.ts";

interface FollowerOptions {
  readonly filter: FeedFilter;
  /** It is told what follows this commit. */
  readonly after: number;
  /** Goes on with the commits to come; else it ends with the newest of its beginning. */
  readonly follows: boolean;
  /** The newest commit at its beginning. */
  readonly newest: number;
  readonly storeId: string;
  readonly openSnapshot: () => Promise<Snapshot>;
  readonly schemas: SchemaHistory;
  readonly memory: FeedMemory;
  readonly onClose: () => void;
}

/** Rows are read so many bytes at a time. */
const piece = 64 * 1024;
/** Of a larger row's memory: its bytes, and what finding its repeated places takes. */
const largeRowFactor = 2;
/** Commits of so many milliseconds are read together. */
const gatherMs = 2;

export class FeedFollower {
  readonly #options: FollowerOptions;
  readonly #members: TypeMembers | undefined;
  /** The state of each namespace before the next commit, as far as it was needed. */
  readonly #schemas = new Map<number, SchemaState | undefined>();
  #position: number;
  #wake: () => void = () => {};
  #isWoken = false;
  #isClosed = false;

  constructor(options: FollowerOptions) {
    this.#options = options;
    this.#position = options.after;
    const { filter, after, memory } = options;
    if (filter.types.size > 0) this.#members = new TypeMembers(filter.types, after, memory);
  }

  /** Of which everything was told. */
  get position(): string {
    return printPosition(this.#options.storeId, this.#position);
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** There may be a new commit. */
  wake(): void {
    this.#isWoken = true;
    this.#wake();
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#members?.close();
    this.#options.memory.close();
    this.#options.onClose();
    this.wake();
  }

  /**
   * Events in their order; undefined where there is nothing to tell now: what was told may be sent on its way. Ends when
   * it was closed, and without `follows` when all is told. Fault E_LOG_GONE when the log was trimmed behind its back,
   * E_STORE_CORRUPT for a damaged row.
   */
  async *events(): AsyncGenerator<FeedEvent | undefined, void> {
    const { memory, follows, newest } = this.#options;
    while (!this.#isClosed) {
      this.#isWoken = false;
      const { rows, members, held } = await this.#readPiece();
      for (const row of rows) {
        if (!follows && row.commitTs > newest) return;
        yield* this.#tell(row, members);
        if (this.#isClosed) return;
      }
      memory.give(held);
      if (rows.length > 0) continue;
      if (!follows) return;
      yield undefined;
      await this.#waitForCommit();
    }
  }

  async *#tell(
    row: PrintedCommit | FeedRow,
    members: MembersOf | undefined,
  ): AsyncGenerator<FeedEvent | undefined, void> {
    if ("namespace" in row) {
      const events = printCommit(row, {
        storeId: this.#options.storeId,
        filter: this.#options.filter,
        schema: this.#schemas.get(row.namespace),
        members: members === undefined ? undefined : (members.get(row.commitTs) ?? noMembers),
        onSchema: ({ namespace, after }) => this.#schemas.set(namespace, after),
      });
      for (const event of events) {
        if (event === undefined) await pause();
        else yield event;
        if (this.#isClosed) return;
      }
    }
    this.#position = row.commitTs;
  }

  /** The next rows with what is needed to tell them; the snapshot is closed again. */
  async #readPiece(): Promise<Piece> {
    const { memory, openSnapshot } = this.#options;
    let bytesMax = piece;
    for (;;) {
      await memory.take(bytesMax);
      const snapshot = await openSnapshot();
      try {
        const found = await readLogRows(snapshot, this.#position, bytesMax);
        if (found.kind === "gone") throw logGone(this.position);
        if (found.kind === "rows") {
          const rows = found.rows.map((row) => this.#openRow(row));
          await this.#learnSchemas(snapshot, rows);
          const told = rows.filter((row) => "namespace" in row);
          return {
            rows,
            members: await this.#members?.look(snapshot, told, pause),
            held: bytesMax,
          };
        }
        memory.give(bytesMax);
        bytesMax = found.bytes * largeRowFactor;
      } finally {
        snapshot.close();
      }
    }
  }

  /** A row that is of no concern to this follower stays a mere number. */
  #openRow(row: FeedRow): PrintedCommit | FeedRow {
    const { log, committedMs } = openCommit(row.bytes);
    const entry = decodeLogEntry(log);
    if (entry === undefined || !seesNamespace(this.#options.filter, entry.namespace)) return row;
    return { ...row, namespace: entry.namespace, committedMs };
  }

  async #learnSchemas(
    snapshot: Snapshot,
    rows: readonly (PrintedCommit | FeedRow)[],
  ): Promise<void> {
    for (const row of rows) {
      if (!("namespace" in row) || this.#schemas.has(row.namespace)) continue;
      const entry = decodeLogEntry(openCommit(row.bytes).log);
      if (entry === undefined) continue;
      const { namespace, schemaVersion } = entry;
      const site = { namespace, schemaVersion, commitTs: row.commitTs };
      const state = await this.#options.schemas.stateBefore(snapshot, site, pause);
      this.#schemas.set(namespace, state);
    }
  }

  async #waitForCommit(): Promise<void> {
    if (!this.#isWoken && !this.#isClosed) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      this.#wake = () => {};
    }
    if (!this.#isClosed) await new Promise((resolve) => setTimeout(resolve, gatherMs));
  }
}

interface Piece {
  readonly rows: readonly (PrintedCommit | FeedRow)[];
  readonly members: MembersOf | undefined;
  /** Of the memory's account, until they are told. */
  readonly held: number;
}

const noMembers: ReadonlySet<number> = new Set();

function pause(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

export function logGone(position: string): Fault {
  return new Fault(
    "E_LOG_GONE",
    `the log no longer reaches back to ${position} (--store log-minutes, log-bytes)`,
  );
}
