/**
 * Large answers on their way to their readers. They count against the process's memory until they have left, and are cut
 * when nobody reads them: at once where the memory is needed for others, else after a time. (Connections on which nothing
 * moves at all end earlier, see idle-readers.ts; here it is not known what of a write has left.)
 */
import { must } from "../base/assert.ts";
import type { Buffer } from "node:buffer";
import type { Clock } from "../base/clock.ts";
import type { ProcessMemory } from "../model/process-memory.ts";

/** What is needed of a response. */
interface Leaving {
  readonly destroyed: boolean;
  write(bytes: Uint8Array): boolean;
  end(bytes: Uint8Array): unknown;
  destroy(): unknown;
  once(event: "close" | "drain", listener: () => void): unknown;
}

interface LargeAnswersOptions {
  readonly memory: Pick<ProcessMemory, "hold" | "give" | "onNeed">;
  readonly clock: Clock;
  /** That a reader may rest; to this comes what a slow line takes. */
  readonly waitMs: number;
}

/** Up to so many bytes an answer is one write: slices of 256 KB took half as much CPU again for one of a megabyte. */
const wholeBytesMax = 4 * 1024 * 1024;
const sliceBytes = 1024 * 1024;

/** The slowest line that is waited for. */
const lineBytesPerMs = 16;

/** Where others need the memory, answers of which nothing was seen to leave in so long go. */
const hurriedWaitMs = 2_000;

interface Answer {
  readonly res: Leaving;
  readonly bytes: Buffer;
  offset: number;
  /** Bytes of the write under way. */
  writing: number;
  /** When the write before it had left. */
  movedMs: number;
  isHeld: boolean;
}

export class LargeAnswers {
  readonly #answers = new Set<Answer>();
  /** undefined before `configure`: then nothing is held. */
  #options: LargeAnswersOptions | undefined;
  #timer: NodeJS.Timeout | undefined;

  /** Before the first answer; once in a process. */
  configure(options: LargeAnswersOptions): void {
    this.#options = options;
    options.memory.onNeed((missing) => this.#makeRoom(missing));
  }

  /** Ends the response, whose head is made. */
  end(res: Leaving, bytes: Buffer): void {
    if (this.#options === undefined) {
      res.end(bytes);
      return;
    }
    const { memory, clock, waitMs } = this.#options;
    const movedMs = clock.tickMs();
    const answer = { res, bytes, offset: 0, writing: 0, movedMs, isHeld: true };
    memory.hold(bytes.length);
    this.#answers.add(answer);
    this.#timer ??= setInterval(this.look, Math.max(20, Math.min(1000, waitMs / 4))).unref();
    res.once("close", () => this.#release(answer));
    this.#write(answer);
  }

  get #settings(): LargeAnswersOptions {
    return must(this.#options, "answers are held after `configure` alone");
  }

  /** Cuts those whose readers have not moved for too long. */
  readonly look = (): void => {
    const { clock, waitMs } = this.#settings;
    const nowMs = clock.tickMs();
    for (const answer of this.#answers) {
      const dueMs = answer.movedMs + waitMs + answer.writing / lineBytesPerMs;
      if (nowMs > dueMs) this.#cut(answer);
    }
    if (this.#answers.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  };

  #write(answer: Answer): void {
    const { res, bytes } = answer;
    const size = bytes.length <= wholeBytesMax ? wholeBytesMax : sliceBytes;
    while (answer.offset < bytes.length) {
      const slice = bytes.subarray(answer.offset, answer.offset + size);
      answer.offset += slice.length;
      answer.writing = slice.length;
      if (answer.offset === bytes.length) {
        res.end(slice);
        return;
      }
      if (res.write(slice)) continue;
      res.once("drain", () => {
        answer.movedMs = this.#settings.clock.tickMs();
        if (!res.destroyed) this.#write(answer);
      });
      return;
    }
  }

  /** Those who have not moved for longest go first. */
  #makeRoom(missing: number): void {
    const latestMs = this.#settings.clock.tickMs() - hurriedWaitMs;
    const resting = [...this.#answers].filter(({ movedMs }) => movedMs < latestMs);
    resting.sort((a, b) => a.movedMs - b.movedMs);
    let freed = 0;
    for (const answer of resting) {
      if (freed >= missing) return;
      freed += answer.bytes.length;
      this.#cut(answer);
    }
  }

  #cut(answer: Answer): void {
    this.#release(answer);
    answer.res.destroy();
  }

  #release(answer: Answer): void {
    this.#answers.delete(answer);
    if (!answer.isHeld) return;
    answer.isHeld = false;
    this.#settings.memory.give(answer.bytes.length);
  }
}
