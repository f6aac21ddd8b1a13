/**
 * Rows into a running server. In: files and a plan. What goes out: transactions of some hundred rows each, several under
 * way at once; of rows that say something of one node, one after another. Never here: a whole file in memory, or a row
 * that becomes two nodes.
 */
import type { Clock } from "../base/clock.ts";
import type { Random } from "../base/random.ts";
import { type Client, leaseUids } from "../load/client.ts";
import { Fault } from "../model/fault.ts";
import { type BatchOptions, storeBatch, type StoredCounts } from "./batch-store.ts";
import { type Checkpoint, RowDigest } from "./checkpoint.ts";
import { MadeNodes, nameOf } from "./made-nodes.ts";
import { findColumnFaults, readRow, type ReadRow, type RowFault } from "./read-row.ts";
import type { RejectedRows } from "./rejected-rows.ts";
import type { RowPlan } from "./row-plan.ts";
import { readInputRows } from "./rows.ts";
import type { RowFile } from "./row-files.ts";
import type { Row } from "./row.ts";

interface ImportOptions {
  readonly plan: RowPlan;
  readonly files: readonly RowFile[];
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly checkpoint: Checkpoint;
  /** Where refused rows go; undefined: the first of them ends the import. */
  readonly rejected: RejectedRows | undefined;
  /** Rows in a transaction. */
  readonly batchSize: number;
  /** Transactions under way at once. */
  readonly inFlightMax: number;
  readonly onProgress: (progress: ImportProgress) => void;
}

interface ImportProgress {
  readonly bytesRead: number;
  readonly bytesTotal: number;
  readonly rowCount: number;
}

export interface ImportResult extends StoredCounts {
  /** Rows of an import before, which were passed over. */
  readonly skipped: number;
  readonly rejected: number;
}

/** Fault E_STARTUP with the place of the row that ends it: rows before it are stored, and passed over next time. */
export async function importRows(options: ImportOptions): Promise<ImportResult> {
  return new Import(options).run();
}

class Import {
  readonly #options: ImportOptions;
  readonly #store: BatchOptions;
  readonly #digest = new RowDigest();
  readonly #underWay = new Set<Promise<void>>();
  /** In the order of the input: how far it is stored without a gap is what counts. */
  readonly #turns: Turn[] = [];
  /** Keys of nodes that a batch under way or the next one changes: who does so after it waits. */
  readonly #held = new Set<string>();
  /** Those of the next one. */
  #gathered = new Set<string>();
  readonly #counts = { made: 0, updated: 0, kept: 0, linked: 0, skipped: 0, rejected: 0 };
  #failure: unknown;
  #bytesRead = 0;
  /** Rows that the digest holds. */
  #rowCount = 0;
  #batch = makeBatch();

  constructor(options: ImportOptions) {
    this.#options = options;
    const { plan, client, clock, random, checkpoint } = options;
    const made = new MadeNodes((count) => leaseUids(client, count));
    const uidOfRow = (index: number): number => checkpoint.uidOf(index);
    const onStored = (counts: StoredCounts): void => this.#count(counts);
    this.#store = { plan, client, clock, random, made, uidOfRow, onStored };
  }

  async run(): Promise<ImportResult> {
    const { plan, files, checkpoint, batchSize } = this.#options;
    const { separator, header } = plan.mapping;
    const { rows: skip, digest } = checkpoint.progress;
    const onRead = (count: number): void => void (this.#bytesRead = count);
    let columns: readonly string[] | undefined;
    for await (const row of readInputRows({ files, separator, header, onRead })) {
      columns = checkColumns(plan, row, columns);
      const isNew = this.#rowCount >= skip;
      if (isNew) await this.#take(row);
      if (this.#failure !== undefined) break;
      this.#digest.add(row.text);
      this.#rowCount++;
      if (!isNew && this.#rowCount === skip) this.#checkSame(digest);
      if (this.#batch.rows.length + this.#batch.faults.length >= batchSize) await this.#send();
    }
    await this.#send();
    await Promise.all(this.#underWay);
    if (this.#failure !== undefined) throw this.#failure;
    if (this.#rowCount < skip) this.#checkSame("");
    return { ...this.#counts, skipped: skip };
  }

  /** What was passed over is what was stored. */
  #checkSame(digest: string): void {
    if (this.#digest.text === digest) return;
    const { path, progress } = this.#options.checkpoint;
    throw new Fault(
      "E_STARTUP",
      `${path}: the first ${progress.rows} rows are not those that were imported before: ` +
        "give the files in the same order, or --again to import all of them anew",
    );
  }

  async #take(row: Row): Promise<void> {
    const { plan, rejected, checkpoint, client } = this.#options;
    const index = this.#rowCount;
    const read = readRow(plan, row, index);
    if ("reason" in read) {
      if (rejected !== undefined) {
        this.#batch.faults.push(read);
        return;
      }
      // What stands before it is stored.
      await this.#send();
      await Promise.all(this.#underWay);
      this.#failure ??= refuseRow(read);
      return;
    }
    const names = namesOf(read);
    const isEarly =
      names.some((name) => this.#held.has(name)) ||
      ownLinks(plan, read).some((name) => this.#held.has(name) && !this.#gathered.has(name));
    if (isEarly) {
      await this.#send();
      await Promise.all(this.#underWay);
    }
    for (const name of names) {
      this.#held.add(name);
      this.#gathered.add(name);
    }
    await checkpoint.prepare(index, (count) => leaseUids(client, count));
    this.#batch.rows.push(read);
  }

  /** Begins to store what was gathered: all rows that the digest holds. */
  async #send(): Promise<void> {
    const batch = this.#batch;
    this.#batch = makeBatch();
    this.#gathered = new Set();
    if (batch.rows.length + batch.faults.length === 0) return;
    const turn = { ...batch, end: this.#rowCount, digest: this.#digest.text, isDone: false };
    this.#turns.push(turn);
    while (this.#underWay.size >= this.#options.inFlightMax) await Promise.race(this.#underWay);
    if (this.#failure !== undefined) return;
    const sending: Promise<void> = this.#storeInTurn(turn)
      .catch((error: unknown) => {
        this.#failure ??= error;
      })
      .finally(() => {
        this.#underWay.delete(sending);
        for (const read of batch.rows) for (const name of namesOf(read)) this.#held.delete(name);
      });
    this.#underWay.add(sending);
  }

  async #storeInTurn(turn: Turn): Promise<void> {
    const refused = await storeBatch(this.#store, turn.rows);
    const { rejected, checkpoint } = this.#options;
    const [first] = refused;
    if (rejected === undefined && first !== undefined) throw refuseRow(first);
    turn.faults.push(...refused);
    turn.isDone = true;
    while (this.#turns[0]?.isDone === true) {
      const { faults, end, digest } = this.#turns[0];
      this.#turns.shift();
      rejected?.add(faults.toSorted((a, b) => a.index - b.index));
      this.#counts.rejected += faults.length;
      checkpoint.note({ rows: end, digest, rejectedBytes: rejected?.bytes ?? 0 });
    }
    this.#tellProgress();
  }

  #count({ made, updated, kept, linked }: StoredCounts): void {
    this.#counts.made += made;
    this.#counts.updated += updated;
    this.#counts.kept += kept;
    this.#counts.linked += linked;
  }

  #tellProgress(): void {
    const { made, updated, kept } = this.#counts;
    this.#options.onProgress({
      bytesRead: this.#bytesRead,
      bytesTotal: this.#options.files.reduce((sum, file) => sum + file.size, 0),
      rowCount: made + updated + kept,
    });
  }
}

interface Batch {
  readonly rows: ReadRow[];
  readonly faults: RowFault[];
}

/** A batch on its way. */
interface Turn extends Batch {
  /** Rows of the input up to its end, and their digest. */
  readonly end: number;
  readonly digest: string;
  isDone: boolean;
}

function makeBatch(): Batch {
  return { rows: [], faults: [] };
}

/** Nodes that a row changes beside its own new one: of two rows the later one has to see what the earlier one did. */
function namesOf({ keys, links }: ReadRow): string[] {
  const names = keys.map(nameOf);
  for (const { column, values } of links) {
    if (column.inverse?.isList !== false) continue;
    for (const value of values) names.push(nameOf({ spec: column.target, value }));
  }
  return names;
}

/** Links to nodes of the rows' own type: these nodes may be on their way. */
function ownLinks({ keys }: RowPlan, { links }: ReadRow): string[] {
  return links.flatMap(({ column: { target: spec }, values }) =>
    keys.includes(spec) ? values.map((value) => nameOf({ spec, value })) : [],
  );
}

function refuseRow({ place, reason }: RowFault): Fault {
  return new Fault("E_STARTUP", `${place}: ${reason}`);
}

/** The columns of a table are looked at once for each file. */
export function checkColumns(
  plan: RowPlan,
  row: Row,
  known: readonly string[] | undefined,
): readonly string[] | undefined {
  const { header } = row;
  if (header === undefined || header === known) return known;
  const faults = findColumnFaults(plan, header);
  if (faults.length > 0) throw new Fault("E_STARTUP", `${row.file}: ${faults.join("; ")}`);
  return header;
}
