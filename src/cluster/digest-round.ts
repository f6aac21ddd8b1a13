/**
 * Finds machines whose rows are not those of the others (reference/log 7.6): now and then a record asks all for a digest
 * of their rows as of it. When all that follow have told theirs, or have been waited for, the leader tells what counts:
 * the digest of most machines, its own where as many have that. Whoever differs from it goes out of service, also the
 * leader.
 */
import { equalBytes } from "../base/bytes.ts";
import type { Clock } from "../base/clock.ts";
import type { Logger } from "../base/log.ts";
import type { NodeStore } from "../stores/open.ts";
import { decodeSeq, encodeSeq } from "./peer-words.ts";
import type { Replica } from "./replica.ts";
import { digestRows } from "./row-digest.ts";

interface DigestOptions {
  readonly node: NodeStore;
  readonly replica: Pick<Replica, "askForDigests">;
  readonly clock: Clock;
  readonly logger: Logger;
  /** From one to the next; 0: none. */
  readonly digestMs: number;
  /** This machine's rows are not those of most others. */
  readonly onMinority: (why: string) => void;
  /** As many machines have its rows as others; undefined: most, or all, have them. */
  readonly onDoubt: (why: string | undefined) => void;
}

/** The other machines. */
interface DigestPeers {
  /** Those that follow now, by their names. */
  readonly names: () => readonly string[];
  readonly tell: (payload: Uint8Array) => void;
}

/** A digest and the record that it is as of, as machines send it: number u64, 32 bytes. */
export function encodeDigest(seq: number, digest: Uint8Array): Uint8Array {
  return Buffer.concat([encodeSeq(seq), digest]);
}

/** A machine that has more to do than this one takes longer; one that has not told its digest by then has no say. */
const patienceMs = 120_000;

interface Round {
  readonly seq: number;
  /** When this machine knew its own. */
  readonly sinceMs: number;
  readonly own: Uint8Array;
}

export class DigestRound {
  readonly #options: DigestOptions;
  readonly #peers: DigestPeers;
  #dueMs: number;
  #isRunning = false;
  #isOver = false;
  /** The one that is not judged yet. */
  #round: Round | undefined;
  /** What each other machine told last. */
  readonly #told = new Map<string, Uint8Array>();

  constructor(options: DigestOptions, peers: DigestPeers) {
    this.#options = options;
    this.#peers = peers;
    this.#dueMs = options.clock.tickMs() + options.digestMs;
  }

  /** To be called with each beat. */
  beginWhenDue(): void {
    const { clock, digestMs, logger } = this.#options;
    this.#judge();
    if (digestMs === 0 || this.#isRunning || clock.tickMs() < this.#dueMs) return;
    this.#dueMs = clock.tickMs() + digestMs;
    this.#isRunning = true;
    this.#run()
      .catch((error: unknown) => logger.warn("rows were not compared", { error: String(error) }))
      .finally(() => (this.#isRunning = false));
  }

  /** Of another machine. */
  hear(node: string, payload: Uint8Array): void {
    this.#told.set(node, payload);
    this.#judge();
  }

  close(): void {
    this.#isOver = true;
  }

  /** Nothing is written between the record and the state that is looked at. */
  async #run(): Promise<void> {
    const { node, replica, logger, clock } = this.#options;
    const goOn = await node.pause();
    let seq: number;
    let snapshot: ReturnType<NodeStore["snapshot"]>;
    try {
      seq = await replica.askForDigests();
      snapshot = node.snapshot();
    } finally {
      goOn();
    }
    const digest = await digestRows(snapshot, () => this.#isOver);
    if (digest === undefined) return;
    logger.info("the rows of this machine were digested", {
      record: seq,
      digest: digest.toString("hex"),
    });
    this.#round = { seq, sinceMs: clock.tickMs(), own: encodeDigest(seq, digest) };
    this.#judge();
  }

  #judge(): void {
    const round = this.#round;
    if (round === undefined || this.#isOver) return;
    const { seq, sinceMs, own } = round;
    const names = this.#peers.names();
    const told = names.flatMap((name) => {
      const payload = this.#told.get(name);
      return payload !== undefined && decodeSeq(payload) === seq ? [{ name, payload }] : [];
    });
    const isLate = this.#options.clock.tickMs() - sinceMs > patienceMs;
    if (told.length < names.length && !isLate) return;
    this.#round = undefined;
    this.#decide(own, told);
  }

  #decide(own: Uint8Array, told: readonly Told[]): void {
    const { logger, onDoubt, onMinority } = this.#options;
    const record = decodeSeq(own);
    const differ = told.filter(({ payload }) => !equalBytes(payload, own));
    const ownCount = 1 + told.length - differ.length;
    const most = findMost(differ);
    if (most.length > ownCount) {
      for (const { payload } of most.slice(0, 1)) this.#peers.tell(payload);
      const names = most.map(({ name }) => name).join(", ");
      onMinority(
        `its rows are not those of most machines (${names}) at record ${record} of the log`,
      );
      return;
    }
    this.#peers.tell(own);
    for (const { name: node } of differ) {
      logger.error("the rows of another machine are not those of this one", { node, record });
    }
    const names = differ.map(({ name }) => name).join(", ");
    onDoubt(
      most.length === ownCount
        ? `the rows of ${names} are not those of this machine at record ${record} of the log, and as many machines have the one as the other: whose are right nobody can know (docs/cluster.md)`
        : undefined,
    );
  }
}

interface Told {
  readonly name: string;
  readonly payload: Uint8Array;
}

/** Those of the largest group that tell the same. */
function findMost(told: readonly Told[]): readonly Told[] {
  const groups = told.map((one) => told.filter(({ payload }) => equalBytes(payload, one.payload)));
  return groups.reduce<readonly Told[]>((most, one) => (one.length > most.length ? one : most), []);
}
