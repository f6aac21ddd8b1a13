/**
 * Loads files into a running server, through the interfaces that every client has. In: names of files. What goes
 * out: mutations with explicit uids, in order of the input, several under way at once. Never here: a whole file in
 * memory, or a label that means two nodes.
 */
import type { Random } from "../base/random.ts";
import { Fault } from "../model/fault.ts";
import { type Batch, readBatches } from "./batches.ts";
import type { InputFile } from "./input-files.ts";
import { linkKeys } from "./key-links.ts";
import { LabelUids, uidPattern } from "./label-uids.ts";
import type { XidMap } from "./xid-map.ts";
import { type Client, findClientRefusal, type LoadRefusal } from "./client.ts";

interface LoadOptions {
  readonly files: readonly InputFile[];
  /** Predicates whose values name one node each: what the files say of one that is there goes to it. */
  readonly keys: readonly string[];
  /** Where labels keep their nodes from one load to the next. */
  readonly xidMap: XidMap | undefined;
  readonly onLinked: (count: number) => void;
  /** Facts (or JSON objects) in a request. */
  readonly batchSize: number;
  /** Requests under way at once. */
  readonly inFlightMax: number;
  readonly client: Client;
  readonly random: Random;
  readonly onProgress: (progress: LoadProgress) => void;
}

interface LoadProgress {
  /** Of the files as they are on disk. */
  readonly bytesRead: number;
  readonly bytesTotal: number;
  /** RDF facts and JSON objects that are stored. */
  readonly factCount: number;
}

/** Resolves with the number of facts stored. Fault E_STARTUP with file and line for one that is refused. */
export async function loadFiles(options: LoadOptions): Promise<number> {
  const load = new Load(options);
  await load.run();
  return load.factCount;
}

/** An aborted or refused batch is sent again this often before the load gives up. */
const attemptsMax = 60;

class Load {
  readonly #options: LoadOptions;
  readonly #underWay = new Set<Promise<void>>();
  #failure: unknown;
  #bytesRead = 0;
  /** Facts from the begin of the input that are stored, and what is under way behind them. */
  #done = 0;
  readonly #turns: { readonly size: number; isDone: boolean }[] = [];
  factCount = 0;

  constructor(options: LoadOptions) {
    this.#options = options;
  }

  async run(): Promise<void> {
    const { files, batchSize, inFlightMax, xidMap } = this.#options;
    const nodes = await this.#nameNodes();
    let skip = xidMap?.readDone() ?? 0;
    this.#done = skip;
    const input = { files, batchSize, nodes, onRead: (count: number) => (this.#bytesRead = count) };
    for await (const whole of readBatches(input)) {
      const batch = { ...whole, items: whole.items.slice(skip) };
      skip -= whole.items.length - batch.items.length;
      if (batch.items.length === 0) continue;
      xidMap?.flush();
      while (this.#underWay.size >= inFlightMax) await Promise.race(this.#underWay);
      if (this.#failure !== undefined) break;
      const sending: Promise<void> = this.#sendInTurn(batch)
        .catch((error: unknown) => {
          this.#failure ??= error;
        })
        .finally(() => this.#underWay.delete(sending));
      this.#underWay.add(sending);
    }
    await Promise.all(this.#underWay);
    if (this.#failure !== undefined) throw this.#failure;
    xidMap?.finish();
  }

  async #nameNodes(): Promise<LabelUids> {
    const { files, keys, client, xidMap, onLinked } = this.#options;
    const nodes = new LabelUids(client, xidMap?.note);
    xidMap?.visit((low, high, uid) => nodes.restore(low, high, uid));
    const linked = await linkKeys({
      files,
      keys,
      client,
      link: (name, uid) => nodes.link(name, uid),
      join: async (name, first) => {
        await nodes.prepare(1);
        nodes.link(name, uidPattern.test(first) ? Number(first) : nodes.resolve(first));
      },
    });
    if (linked > 0) onLinked(linked);
    return nodes;
  }

  /** How far the load is without a gap is written down now and then. */
  async #sendInTurn(batch: Batch): Promise<void> {
    const turn = { size: batch.items.length, isDone: false };
    this.#turns.push(turn);
    await this.#send(batch);
    turn.isDone = true;
    for (let first = this.#turns[0]; first?.isDone === true; first = this.#turns[0]) {
      this.#done += first.size;
      this.#turns.shift();
    }
    this.#options.xidMap?.writeDone(this.#done);
  }

  async #send(batch: Batch): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      const refusal = await this.#post(batch, true);
      if (refusal === undefined) break;
      if (!refusal.isPassing || attempt >= attemptsMax) throw await this.#explain(batch, refusal);
      await this.#pause(attempt);
    }
    this.factCount += batch.items.length;
    const { bytesTotal } = batch;
    this.#options.onProgress({ bytesRead: this.#bytesRead, bytesTotal, factCount: this.factCount });
  }

  /** Undefined when it is stored. What the server leaves unsaid about its outcome may be said again: sets repeat safely. */
  async #post(batch: Batch, commitNow: boolean): Promise<LoadRefusal | undefined> {
    const { client } = this.#options;
    const type = batch.kind === "rdf" ? "application/rdf" : "application/json";
    const path = commitNow ? "/mutate?commitNow=true" : "/mutate";
    const answer = await client.post(
      path,
      type,
      composeBody(
        batch,
        batch.items.map((item) => item.text),
      ),
    );
    if (!commitNow && answer.startTs !== undefined) {
      await client.post(`/commit?startTs=${answer.startTs}&abort=true`, "application/json", "");
    }
    return findClientRefusal(answer, batch.kind === "rdf");
  }

  /** File and line of the first item that the server refuses alone, found by halves without storing anything. */
  async #explain(batch: Batch, refusal: LoadRefusal): Promise<Fault> {
    let items = batch.items;
    let message = refusal.message;
    while (items.length > 1 && !refusal.isPassing) {
      const half = items.slice(0, Math.ceil(items.length / 2));
      const refused = await this.#post({ ...batch, items: half }, false);
      items = refused === undefined ? items.slice(half.length) : half;
      message = refused?.message ?? message;
    }
    const first = items[0];
    const place = first === undefined ? batch.file : `${batch.file}:${first.line}`;
    return new Fault("E_STARTUP", `${place}: ${message.trim().replaceAll(/\s*\n\s*/g, " ")}`);
  }

  /** Longer with each attempt, up to two seconds, and never the same for two batches that got in each other's way. */
  async #pause(attempt: number): Promise<void> {
    const spreadMs = Math.min(2_000, 10 * 2 ** Math.min(attempt, 8));
    const waitMs = spreadMs * (0.5 + this.#options.random.next() / 2);
    await new Promise((resolve) => setTimeout(resolve, waitMs));
  }
}

function composeBody(batch: Batch, texts: readonly string[]): string {
  return batch.kind === "rdf"
    ? `{ set {\n${texts.join("\n")}\n} }`
    : `{"set":[${texts.join(",")}]}`;
}
