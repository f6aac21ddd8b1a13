/**
 * Answers too large for one write on their way to their readers. They count against the process's memory until they have
 * left, go out in slices, so that it is seen whether anybody reads, and are cut when nobody does: at once where the memory
 * is needed for others, else after `waitMs`.
 */
import type { Buffer } from "node:buffer";
import type { ServerResponse } from "node:http";
import type { Clock } from "../base/clock.ts";
import type { ProcessMemory } from "../model/process-memory.ts";

/** What is needed of a response. */
export type Leaving = Pick<ServerResponse, "write" | "end" | "destroy" | "once" | "destroyed">;

export interface LargeAnswersOptions {
  readonly memory: Pick<ProcessMemory, "hold" | "give" | "onNeed">;
  readonly clock: Clock;
  /** Without a byte taken. */
  readonly waitMs: number;
}

/** A write to a socket is seen to be over only when all of it has left: a slow line takes some seconds for this. */
const sliceBytes = 256 * 1024;

/** Where others need the memory, readers who take less than a slice in so long go. */
const hurriedWaitMs = 2_000;

interface Answer {
  readonly res: Leaving;
  readonly bytes: Buffer;
  offset: number;
  /** Of the last slice that has left. */
  movedMs: number;
  isHeld: boolean;
}

export class LargeAnswers {
  readonly #answers = new Set<Answer>();
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
    const answer = { res, bytes, offset: 0, movedMs: clock.tickMs(), isHeld: true };
    memory.hold(bytes.length);
    this.#answers.add(answer);
    this.#timer ??= setInterval(this.look, Math.max(20, Math.min(1000, waitMs / 4))).unref();
    res.once("close", () => this.#release(answer));
    this.#write(answer);
  }

  /** Cuts those whose readers have not moved for too long. */
  readonly look = (): void => {
    const { clock, waitMs } = this.#options!;
    const nowMs = clock.tickMs();
    for (const answer of this.#answers) if (nowMs - answer.movedMs > waitMs) this.#cut(answer);
    if (this.#answers.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  };

  #write(answer: Answer): void {
    const { res, bytes } = answer;
    while (answer.offset < bytes.length) {
      const slice = bytes.subarray(answer.offset, answer.offset + sliceBytes);
      answer.offset += slice.length;
      if (answer.offset === bytes.length) {
        res.end(slice);
        return;
      }
      if (res.write(slice)) continue;
      res.once("drain", () => {
        answer.movedMs = this.#options!.clock.tickMs();
        if (!res.destroyed) this.#write(answer);
      });
      return;
    }
  }

  /** Those who have not moved for longest go first. */
  #makeRoom(missing: number): void {
    const latestMs = this.#options!.clock.tickMs() - hurriedWaitMs;
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
    this.#options!.memory.give(answer.bytes.length);
  }
}
