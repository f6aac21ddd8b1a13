/**
 * Finds machines whose rows are not the leader's (reference/log 7.6): now and then a record asks all for a digest of
 * their rows as of it; the leader compares, and tells all what its own come to. Whoever differs goes out of service.
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
  readonly replica: Replica;
  readonly clock: Clock;
  readonly logger: Logger;
  /** From one to the next; 0: none. */
  readonly digestMs: number;
}

/** A digest and the record that it is as of, as machines send it: number u64, 32 bytes. */
export function encodeDigest(seq: number, digest: Uint8Array): Uint8Array {
  return Buffer.concat([encodeSeq(seq), digest]);
}

export class DigestRound {
  readonly #options: DigestOptions;
  readonly #tell: (payload: Uint8Array) => void;
  #dueMs: number;
  #isRunning = false;
  #isOver = false;
  /** Of this machine, as it was told. */
  #own: Uint8Array | undefined;
  /** What others have sent for a record that this machine is still looking at. */
  #early: { node: string; payload: Uint8Array }[] = [];

  /** `tell`: to all that follow. */
  constructor(options: DigestOptions, tell: (payload: Uint8Array) => void) {
    this.#options = options;
    this.#tell = tell;
    this.#dueMs = options.clock.tickMs() + options.digestMs;
  }

  beginWhenDue(): void {
    const { clock, digestMs, logger } = this.#options;
    if (digestMs === 0 || this.#isRunning || clock.tickMs() < this.#dueMs) return;
    this.#dueMs = clock.tickMs() + digestMs;
    this.#isRunning = true;
    this.#run()
      .catch((error: unknown) => logger.warn("rows were not compared", { error: String(error) }))
      .finally(() => (this.#isRunning = false));
  }

  /** Of another machine. */
  compare(node: string, payload: Uint8Array): void {
    if (this.#isRunning) {
      this.#early.push({ node, payload });
      return;
    }
    const own = this.#own;
    if (own === undefined || decodeSeq(own) !== decodeSeq(payload)) return;
    if (!equalBytes(own, payload)) {
      const fields = { node, record: decodeSeq(own) };
      this.#options.logger.error("the rows of another machine are not those of this one", fields);
    }
  }

  close(): void {
    this.#isOver = true;
  }

  /** Nothing is written between the record and the state that is looked at. */
  async #run(): Promise<void> {
    const { node, replica, logger } = this.#options;
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
    this.#own = encodeDigest(seq, digest);
    this.#isRunning = false;
    logger.info("the rows of this machine were digested", {
      record: seq,
      digest: digest.toString("hex"),
    });
    this.#tell(this.#own);
    for (const { node: name, payload } of this.#early.splice(0)) this.compare(name, payload);
  }
}
