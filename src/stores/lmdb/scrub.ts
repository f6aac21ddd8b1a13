/**
 * Verifies all pages and rows in the background, again and again, in slices of a millisecond: a bit that a disk has
 * lost is told of before somebody asks for it. The first pass of a process begins at once where not all was verified
 * when the file was opened; until it has ended, what is not found is looked for twice (`neighbours.ts`).
 */
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/log.ts";
import type { Environment } from "./environment.ts";
import { readMetaOf } from "./meta-pages.ts";
import { walkPages } from "./page-walk.ts";
import type { PageDamage } from "./pages.ts";

export interface ScrubPolicy {
  /**
   * Of one core's time, while a pass runs, at most; ten times that (at most 50) in the first one where pages were not
   * verified when the file was opened. A busy process spends a quarter of it. 0: never.
   */
  readonly percent: number;
  /** From the end of a pass to the beginning of the next. */
  readonly everyMs: number;
}

export const noScrub: ScrubPolicy = { percent: 0, everyMs: 0 };

interface ScrubParts {
  readonly environment: Environment;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly policy: ScrubPolicy;
}

/** Answers wait for a slice; longer ones would make small answers leave one by one (`response-batcher.ts`). */
const sliceMs = 1;
/** From this share of its time a process counts as busy. */
const busyShare = 0.5;
const busySlowdown = 4;
/**
 * A pass before whose end reads cannot trust the pages goes faster: until then each absent row costs two walks to its
 * neighbours, 6 % of the CPU of writes that make nodes.
 */
const firstPassSpeedup = 10;
const percentMax = 50;
/** A long pass says that it goes on. */
const progressMs = 60_000;

export class Scrub {
  private readonly parts: ScrubParts;
  private timer: NodeJS.Timeout | undefined = undefined;
  private from: Uint8Array | undefined = undefined;
  private rows = 0;
  private problems = 0;
  private startedMs = 0;
  private toldMs = 0;
  private used = performance.eventLoopUtilization();

  constructor(parts: ScrubParts) {
    this.parts = parts;
    if (parts.policy.percent <= 0) return;
    this.begin(parts.environment.trust.isVerified ? parts.policy.everyMs : 0);
  }

  close(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
  }

  private begin(waitMs: number): void {
    this.later(waitMs, () => {
      this.from = undefined;
      this.rows = 0;
      this.problems = 0;
      this.startedMs = this.parts.clock.tickMs();
      this.toldMs = this.startedMs;
      this.slice();
    });
  }

  private later(waitMs: number, work: () => void): void {
    this.timer = setTimeout(work, Math.min(waitMs, timerMsMax)).unref();
  }

  private slice(): void {
    const { environment, clock, logger } = this.parts;
    const startMs = clock.tickMs();
    const pin = environment.pin();
    try {
      // No older than the pinned state, so none of its pages is overwritten.
      const file = environment.dataFile;
      const meta = readMetaOf(file);
      const walked =
        meta &&
        walkPages(file, meta, {
          isDeep: true,
          ...(this.from === undefined ? {} : { from: this.from }),
          isEnough: () => clock.tickMs() - startMs >= sliceMs,
          onDamage: (damage) => this.note(damage),
        });
      this.rows += walked?.rows ?? 0;
      this.from = walked?.next;
    } catch (error) {
      logger.error("the scrub cannot read the data file", { error: String(error) });
      this.problems++;
      this.from = undefined;
    } finally {
      pin.release();
    }
    const nowMs = clock.tickMs();
    if (this.from === undefined) {
      this.finish(nowMs);
      return;
    }
    if (nowMs - this.toldMs >= progressMs) {
      this.toldMs = nowMs;
      logger.info("the scrub goes on", { rows: this.rows, problems: this.problems });
    }
    const percent = this.percent();
    const restMs = ((nowMs - startMs) * (100 - percent)) / percent;
    this.later(restMs * (this.isBusy() ? busySlowdown : 1), () => this.slice());
  }

  private percent(): number {
    const { environment, policy } = this.parts;
    if (environment.trust.isVerified) return policy.percent;
    return Math.min(percentMax, policy.percent * firstPassSpeedup);
  }

  /** Whether requests have kept the process busy since the last slice. */
  private isBusy(): boolean {
    const used = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(used, this.used);
    this.used = used;
    return utilization > busyShare;
  }

  private note({ message, isMoved }: PageDamage): void {
    this.problems++;
    if (isMoved) this.parts.environment.trust.isOrdered = false;
    this.parts.environment.noteDamage(message, this.parts.logger);
  }

  private finish(nowMs: number): void {
    const { environment, logger, policy } = this.parts;
    const seconds = Math.round((nowMs - this.startedMs) / 100) / 10;
    logger.info("all rows are scrubbed", { rows: this.rows, problems: this.problems, seconds });
    environment.trust.isVerified = this.problems === 0;
    this.begin(policy.everyMs);
  }
}

/** Node's timers take no more. */
const timerMsMax = 2 ** 31 - 1;
