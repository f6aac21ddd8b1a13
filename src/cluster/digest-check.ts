/** A follower's part in comparing rows (reference/log 7.6): its own digest, and the leader's, of the same record. */
import { equalBytes } from "../base/bytes.ts";
import type { NodeStore } from "../stores/open.ts";
import { encodeDigest } from "./digest-round.ts";
import { decodeSeq } from "./peer-words.ts";
import { digestRows } from "./row-digest.ts";

interface DigestCheckOptions {
  readonly node: NodeStore;
  /** To the leader. */
  readonly report: (payload: Uint8Array) => void;
  /** This machine's rows are not the leader's. */
  readonly onDifference: (seq: number) => void;
}

export class DigestCheck {
  readonly #options: DigestCheckOptions;
  #own: Uint8Array | undefined;
  #leaders: Uint8Array | undefined;
  #isOver = false;

  constructor(options: DigestCheckOptions) {
    this.#options = options;
  }

  /** All up to the record is applied, and nothing behind it. */
  begin(seq: number): void {
    const { node, report } = this.#options;
    void digestRows(node.snapshot(), () => this.#isOver).then((digest) => {
      if (digest === undefined) return;
      this.#own = encodeDigest(seq, digest);
      report(this.#own);
      this.#compare();
    });
  }

  hear(payload: Uint8Array): void {
    this.#leaders = payload;
    this.#compare();
  }

  close(): void {
    this.#isOver = true;
  }

  #compare(): void {
    const own = this.#own;
    const leaders = this.#leaders;
    if (own === undefined || leaders === undefined) return;
    const seq = decodeSeq(own);
    if (seq === decodeSeq(leaders) && !equalBytes(own, leaders)) this.#options.onDifference(seq);
  }
}
