/** An import without its writes: what the first rows would write, and the first rows that would be refused. */
import type { Client } from "../load/client.ts";
import { Fault } from "../model/fault.ts";
import { toRowFault } from "./batch-store.ts";
import { checkColumns } from "./import.ts";
import { nameOf } from "./made-nodes.ts";
import { type KeyedNode, type Lookup, lookUp } from "./node-lookup.ts";
import { type RowKey, readRow, type ReadRow, type RowFault } from "./read-row.ts";
import { type FactSource, makeRowFacts, noteOwnNodes, type RowFacts } from "./row-facts.ts";
import type { RowPlan } from "./row-plan.ts";
import { readInputRows } from "./rows.ts";
import type { RowFile } from "./row-files.ts";

interface DryRunOptions {
  readonly plan: RowPlan;
  readonly files: readonly RowFile[];
  /** undefined: keys and links are not looked up, and taken to be there. */
  readonly client: Client | undefined;
  readonly now: string;
  /** Rows in a transaction: links may lead to later rows of the same. */
  readonly batchSize: number;
  /** Rows that are shown, and faults. */
  readonly shown: number;
}

export interface DryRunResult {
  readonly rows: number;
  readonly made: number;
  readonly updated: number;
  readonly kept: number;
  readonly linked: number;
  readonly faultCount: number;
  /** Facts of the first rows: nodes that would be made are `_:row1`, `_:link1`. */
  readonly examples: readonly string[];
  readonly faults: readonly RowFault[];
}

/** Uids that no node has, for nodes that would be made. */
const rowBase = 2 ** 52;
const linkBase = 2 ** 52 + 2 ** 51;
/** Of what a link leads to where no server is asked. */
const unseen = linkBase + 2 ** 50;

export async function tryImport(options: DryRunOptions): Promise<DryRunResult> {
  const run = new DryRun(options);
  await run.read();
  return run;
}

class DryRun implements DryRunResult {
  rows = 0;
  made = 0;
  updated = 0;
  kept = 0;
  faultCount = 0;
  readonly examples: string[] = [];
  readonly faults: RowFault[] = [];
  readonly #options: DryRunOptions;
  /** Keys of nodes that the rows so far would have made. */
  readonly #madeKeys = new Map<string, number>();
  readonly #links = new Map<string, number>();
  #waiting: (ReadRow | RowFault)[] = [];

  constructor(options: DryRunOptions) {
    this.#options = options;
  }

  get linked(): number {
    return this.#links.size;
  }

  async read(): Promise<void> {
    const { plan, files } = this.#options;
    const { separator, header } = plan.mapping;
    let columns: readonly string[] | undefined;
    for await (const row of readInputRows({ files, separator, header, onRead: () => {} })) {
      columns = checkColumns(plan, row, columns);
      this.#waiting.push(readRow(plan, row, this.rows++));
      if (this.#waiting.length >= this.#options.batchSize) await this.#settle();
    }
    await this.#settle();
  }

  async #settle(): Promise<void> {
    const rows = this.#waiting;
    this.#waiting = [];
    const lookup = await this.#look(rows.filter((one): one is ReadRow => !("reason" in one)));
    const own = new Map<string, KeyedNode>();
    const source = this.#makeSource(lookup, own);
    noteOwnNodes(
      source,
      rows.filter((one): one is ReadRow => !("reason" in one)),
      own,
    );
    for (const one of rows) {
      if ("reason" in one) this.#refuse(one);
      else this.#write(one, source);
    }
  }

  async #look(rows: readonly ReadRow[]): Promise<Lookup | undefined> {
    const { client } = this.#options;
    const wanted = rows.flatMap(({ keys, links }) => [
      ...keys,
      ...links.flatMap(({ column: { target: spec }, values }) =>
        values.map((value) => ({ spec, value })),
      ),
    ]);
    if (client === undefined || wanted.length === 0) return undefined;
    const lookup = await lookUp(client, wanted);
    if ("message" in lookup) throw new Fault("E_STARTUP", lookup.message);
    return lookup;
  }

  #makeSource(lookup: Lookup | undefined, own: ReadonlyMap<string, KeyedNode>): FactSource {
    const { plan, client, now } = this.#options;
    const known = (uid: number | undefined): KeyedNode | undefined =>
      uid === undefined ? undefined : { uid, edges: new Map() };
    const find = (key: RowKey): KeyedNode | undefined =>
      lookup?.find(key) ?? known(this.#madeKeys.get(nameOf(key)));
    return {
      plan,
      now,
      find,
      findLinked: (key) =>
        find(key) ?? own.get(nameOf(key)) ?? (client === undefined ? known(unseen) : undefined),
      uidOfRow: (index) => rowBase + index,
      uidOfKey: (key) => {
        const uid = this.#links.get(nameOf(key)) ?? linkBase + this.#links.size;
        this.#links.set(nameOf(key), uid);
        return uid;
      },
    };
  }

  #write(read: ReadRow, source: FactSource): void {
    const facts = makeRowFacts(source, read);
    if ("reason" in facts) {
      this.#refuse(toRowFault(read, facts));
      return;
    }
    this[facts.outcome]++;
    for (const key of read.keys) {
      if (facts.outcome === "made") this.#madeKeys.set(nameOf(key), source.uidOfRow(read.index));
    }
    if (this.examples.length < this.#options.shown) this.examples.push(printExample(read, facts));
  }

  #refuse(fault: RowFault): void {
    this.faultCount++;
    if (this.faults.length < this.#options.shown) this.faults.push(fault);
  }
}

function printExample({ row, index }: ReadRow, facts: RowFacts): string {
  const lines = [...facts.delete.map((one) => `- ${one}`), ...facts.set.map((one) => `+ ${one}`)];
  const text = lines.join("\n").replaceAll(/<0x(?<hex>[0-9a-f]{14})>/g, (uid, hex: string) => {
    const number = Number.parseInt(hex, 16);
    if (number < rowBase) return uid;
    if (number === unseen) return "_:there";
    return number < linkBase ? `_:row${number - rowBase + 1}` : `_:link${number - linkBase + 1}`;
  });
  const what = facts.outcome === "kept" ? "is there, and stays as it is" : facts.outcome;
  return `${row.place} (row ${index + 1}): ${what}\n${text}`;
}
