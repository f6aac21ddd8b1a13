/**
 * Several leaders at once over one log, on a network that delays, repeats and forgets: what was acknowledged is there
 * once, and everybody applies the same. All chance comes from one seed.
 */
import { must } from "../../base/assert.ts";
import type { Clock } from "../../base/clock.ts";
import type { Random } from "../../base/random.ts";
import { chainStart, type ChainPoint } from "../chain.ts";
import { LogFollower, type FollowedRecord } from "../follower.ts";
import { openBody } from "../record.ts";
import {
  LogUnknown,
  type Appended,
  type ReplicatedLog,
  type SealedRecord,
} from "../replicated-log.ts";
import { LogLost, type LogShipper, type ShipperOptions } from "../shipper.ts";
import { takeOver } from "../take-over.ts";

type Follower = Pick<LogFollower, "next" | "tell">;

export interface Simulation {
  readonly random: Random;
  readonly clock: Clock;
  /** Another client of the same log. */
  connect(): Promise<ReplicatedLog>;
  readonly steps: number;
  readonly flightsMax: number;
  /** What the engine does by itself, now and then. */
  readonly events?: readonly (() => void)[];
  /** Before the last look at all nodes: the engine is well. */
  readonly heal?: () => void;
  /** Mutants: a node that reads, or sends, otherwise. */
  readonly openFollower?: (log: ReplicatedLog, history: Uint8Array, point: ChainPoint) => Follower;
  readonly wrapLeader?: (log: ReplicatedLog) => ReplicatedLog;
}

interface Node {
  readonly log: ReplicatedLog;
  /** In the order of the log. */
  applied: { readonly point: ChainPoint; readonly payload: number }[];
  /** Where the log was followed to by records without a payload, too. */
  point: ChainPoint;
  follower: Follower;
  isReading: boolean;
  isCampaigning: boolean;
  shipper: LogShipper | undefined;
  /** Grows when the node begins anew: what comes back later is not its own any more. */
  life: number;
}

const nodeCount = 3;
const history = Buffer.from("a simulated store".slice(0, 16));

export class LogSimulation {
  readonly #options: Simulation;
  readonly #nodes: Node[] = [];
  /** Calls on their way to the engine. */
  #network: (() => void)[] = [];
  #isCalm = false;
  #payload = 0;
  readonly #acknowledged = new Map<number, number>();
  #fault: unknown;

  constructor(options: Simulation) {
    this.#options = options;
  }

  /** What went wrong; undefined: nothing. */
  async run(): Promise<string | undefined> {
    for (let i = 0; i < nodeCount; i++) this.#nodes.push(await this.#openNode());
    for (let i = 0; i < this.#options.steps && this.#fault === undefined; i++) {
      this.#act();
      await turn();
    }
    await this.#settle();
    if (this.#fault !== undefined) return wordsOf(this.#fault);
    return this.#compare();
  }

  async #openNode(): Promise<Node> {
    const log = await this.#options.connect();
    return {
      log,
      applied: [],
      point: chainStart,
      follower: this.#follow(log, chainStart),
      isReading: false,
      isCampaigning: false,
      shipper: undefined,
      life: 0,
    };
  }

  #follow(log: ReplicatedLog, point: ChainPoint): Follower {
    const { openFollower } = this.#options;
    return openFollower?.(log, history, point) ?? new LogFollower(log, history, point);
  }

  #chance(odds: number): boolean {
    return this.#options.random.next() < odds;
  }

  #pick<T>(items: readonly T[]): T {
    const at = Math.floor(this.#options.random.next() * items.length);
    return must(items[at], "there is one");
  }

  #act(): void {
    const node = this.#pick(this.#nodes);
    const dice = this.#options.random.next();
    if (dice < 0.4 && this.#network.length > 0) this.#deliverOne();
    else if (dice < 0.65) this.#work(node);
    else if (dice < 0.75) void this.#campaign(node);
    else if (dice < 0.92) void this.#read(node);
    else if (dice < 0.95) this.#crash(node);
    else for (const event of this.#options.events ?? []) if (this.#chance(0.5)) event();
  }

  #deliverOne(): void {
    const call = this.#pick(this.#network);
    this.#network = this.#network.filter((other) => other !== call);
    call();
  }

  /** A leader writes; most of the time more than one thing at once. */
  #work(node: Node): void {
    for (let i = 0; i < 3 && node.shipper !== undefined; i++) void this.#ship(node, node.shipper);
  }

  async #ship(node: Node, shipper: LogShipper): Promise<void> {
    const payload = ++this.#payload;
    const rows = Buffer.alloc(4);
    rows.writeUInt32LE(payload);
    const { life } = node;
    try {
      const point = await shipper.ship({ kind: "rows", rows });
      this.#acknowledged.set(payload, point.seq);
      if (node.life !== life) return;
      node.applied.push({ point, payload });
      node.point = point;
    } catch (error) {
      if (!(error instanceof LogLost)) this.#fault ??= error;
      if (node.life === life) this.#beginAnew(node, node.point);
    }
  }

  /** As a follower of what it has applied. */
  #beginAnew(node: Node, point: ChainPoint): void {
    node.life++;
    node.shipper?.stop();
    node.shipper = undefined;
    node.isCampaigning = false;
    node.isReading = false;
    node.point = point;
    node.applied = node.applied.filter((entry) => entry.point.seq <= point.seq);
    node.follower = this.#follow(node.log, point);
  }

  /** Loses what it applied last, as a store does that is not synced for each record. */
  #crash(node: Node): void {
    const kept = Math.floor(this.#options.random.next() * (node.applied.length + 1));
    this.#beginAnew(node, node.applied[kept - 1]?.point ?? chainStart);
  }

  async #campaign(node: Node): Promise<void> {
    if (node.shipper !== undefined || node.isCampaigning) return;
    this.#beginAnew(node, node.point);
    node.isCampaigning = true;
    const { life } = node;
    const isAlive = (): boolean => node.life === life;
    try {
      const options = this.#shipperOptions(isAlive);
      const taken = await takeOver(this.#overNetwork(node.log), node.point, options);
      if (!isAlive()) {
        taken?.shipper.stop();
        return;
      }
      node.isCampaigning = false;
      if (taken === undefined) return;
      for (const { head, record, point } of taken.records) {
        this.#apply(node, { head, point, ...(await openBody(record, head)) });
      }
      if (!isAlive()) return;
      node.point = taken.point;
      node.shipper = taken.shipper;
    } catch (error) {
      this.#fault ??= error;
    }
  }

  #shipperOptions(isAlive: () => boolean): ShipperOptions {
    const { clock, flightsMax } = this.#options;
    const pause = async (): Promise<boolean> => {
      await turn();
      return isAlive();
    };
    return { history, term: 1, rowFormat: 1, clock, flightsMax, pause };
  }

  async #read(node: Node): Promise<void> {
    if (node.shipper !== undefined || node.isCampaigning || node.isReading) return;
    node.isReading = true;
    const { life } = node;
    try {
      const records = await node.follower.next();
      if (node.life === life) for (const record of records) this.#apply(node, record);
    } catch (error) {
      this.#fault ??= error;
    }
    if (node.life === life) node.isReading = false;
  }

  #apply(node: Node, { head, point, rows }: FollowedRecord): void {
    node.point = point;
    if (head.kind !== "rows") return;
    node.applied.push({ point, payload: Buffer.from(rows).readUInt32LE(0) });
  }

  /** Its appends come late, or twice, or never; some answers do not come back. */
  #overNetwork(log: ReplicatedLog): ReplicatedLog {
    const append = (records: readonly SealedRecord[]): Promise<Appended> =>
      new Promise((resolve, reject) => {
        this.#network.push(() => this.#send(log, records, { resolve, reject }));
      });
    const leaders = { ...log, append, read: log.read.bind(log), tail: log.tail.bind(log) };
    const { wrapLeader } = this.#options;
    return wrapLeader === undefined || this.#isCalm ? leaders : wrapLeader(leaders);
  }

  #send(
    log: ReplicatedLog,
    records: readonly SealedRecord[],
    answer: { resolve: (appended: Appended) => void; reject: (error: unknown) => void },
  ): void {
    const isAnswered = this.#isCalm || this.#chance(0.7);
    const isRepeated = !this.#isCalm && this.#chance(0.2);
    const isLate = !isAnswered && this.#chance(0.6);
    if (isRepeated || isLate) this.#network.push(() => void log.append(records).catch(() => {}));
    if (isAnswered) log.append(records).then(answer.resolve, answer.reject);
    else answer.reject(new LogUnknown());
  }

  /** Everything arrives; then one node leads, and all read to the end. */
  async #settle(): Promise<void> {
    this.#isCalm = true;
    for (const node of this.#nodes) this.#beginAnew(node, node.point);
    await this.#deliverAll();
    const leader = must(this.#nodes[0], "there are nodes");
    for (let tries = 0; !(await this.#leadToEnd(leader)) && this.#fault === undefined; tries++) {
      if (tries > triesMax) this.#fault = "nobody comes to lead";
    }
    for (const node of this.#nodes.slice(1)) await this.#readToEnd(node, leader);
  }

  /** false: what another one had begun before came in between. */
  async #leadToEnd(leader: Node): Promise<boolean> {
    await this.#deliverUntil(this.#campaign(leader));
    // The first says of all before it that it is kept, the second of the first.
    for (let i = 0; i < 2 && leader.shipper !== undefined; i++) {
      await this.#deliverUntil(leader.shipper.ship({ kind: "barrier" }).catch(() => {}));
    }
    if (leader.shipper?.isLost === false) return true;
    this.#beginAnew(leader, leader.point);
    return false;
  }

  async #readToEnd(node: Node, leader: Node): Promise<void> {
    for (let tries = 0; node.point.seq < leader.point.seq; tries++) {
      if (this.#fault !== undefined) return;
      if (tries > triesMax) this.#fault = `a node stays at ${node.point.seq}`;
      await this.#read(node);
    }
  }

  async #deliverAll(): Promise<void> {
    while (this.#network.length > 0) {
      this.#options.heal?.();
      this.#deliverOne();
      await turn();
    }
  }

  async #deliverUntil(work: Promise<unknown>): Promise<void> {
    let isDone = false;
    const done = work.finally(() => (isDone = true));
    while (!isDone) {
      await this.#deliverAll();
      this.#options.heal?.();
      await turn();
    }
    await done;
  }

  /** What was acknowledged; terms that led: whether enough has happened. */
  get counts(): { readonly acknowledged: number; readonly terms: number } {
    const terms = new Set(
      this.#nodes.flatMap(({ applied }) => applied.map(({ point }) => point.term)),
    );
    return { acknowledged: this.#acknowledged.size, terms: terms.size };
  }

  #compare(): string | undefined {
    const [leader, ...others] = this.#nodes.map(({ applied }) =>
      applied.map(({ point, payload }) => `${point.seq}:${payload}`),
    );
    const all = must(leader, "there are nodes");
    for (const other of others) {
      if (other.join() !== all.join()) return `nodes differ:\n${other.join()}\n${all.join()}`;
    }
    const payloads = all.map((entry) => entry.split(":")[1]);
    if (new Set(payloads).size !== payloads.length) return `applied twice: ${payloads.join()}`;
    for (const [payload, seq] of this.#acknowledged) {
      if (!all.includes(`${seq}:${payload}`)) return `acknowledged and lost: ${seq}:${payload}`;
    }
    return undefined;
  }
}

const triesMax = 1000;

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function wordsOf(fault: unknown): string {
  return fault instanceof Error ? `${fault.name}: ${fault.message}` : JSON.stringify(fault);
}
