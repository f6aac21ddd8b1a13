/** A bar on a terminal; on anything else a line now and then. */
import progress, { type SingleBar } from "cli-progress";
import { systemClock } from "../base/clock.ts";
import { countWords } from "../base/count-words.ts";
import { say } from "./log.ts";

export interface Progress {
  /** `done` of `total` in the bar; `count` for the rate. */
  update(done: number, total: number, count: number): void;
  /** A line for people, above the bar. */
  say(line: string): void;
}

interface ProgressBar extends Progress {
  /** Ends the bar and says how much went through how fast, where anything did. */
  finish(): void;
}

interface BarWords {
  readonly title: string;
  /** What is counted, in the plural. */
  readonly unit: string;
  /** Nothing is shown before the first update: there may be nothing to do. */
  readonly isLate?: boolean;
  /** What went through is not told at the end: another line does. */
  readonly isQuiet?: boolean;
}

/** The bar ends with the work, however that ends: one that stays keeps the process. */
export async function showProgress<T>(
  words: BarWords,
  work: (bar: Progress) => Promise<T>,
): Promise<T> {
  const bar = startProgressBar(words);
  try {
    return await work(bar);
  } finally {
    bar.finish();
  }
}

const lineEveryMs = 5_000;

/** Whoever starts it finishes it, also where the work fails. */
export function startProgressBar(words: BarWords): ProgressBar {
  const { title, unit, isLate = false, isQuiet = false } = words;
  const beganMs = systemClock.tickMs();
  let last: number | undefined;
  const seconds = (): number => Math.max(systemClock.tickMs() - beganMs, 1) / 1000;
  const rate = (count: number): number => Math.round(count / seconds());
  const bar = process.stdout.isTTY ? new TerminalBar(title, unit) : undefined;
  if (!isLate) bar?.show();
  let nextLineMs = beganMs + lineEveryMs;
  return {
    update(done, total, count) {
      if (last === undefined && isLate) bar?.show();
      last = count;
      // What comes by a pipe has no end that is known.
      const share = total > 0 ? Math.min(1, done / total) : undefined;
      const left = share ? String(Math.ceil((seconds() * (1 - share)) / share)) : "?";
      const shown = { count: print(count), rate: print(rate(count)), left };
      if (bar !== undefined) bar.update(share ?? 0, shown);
      else if (systemClock.tickMs() >= nextLineMs) {
        nextLineMs += lineEveryMs;
        const percent = share === undefined ? "" : ` ${Math.floor(100 * share)} %,`;
        say(`${title}:${percent} ${countWords(count, unit)}, ${shown.rate}/s, ${left} s left`);
      }
    },
    say(line) {
      bar?.hide();
      say(line);
      bar?.show();
    },
    finish() {
      bar?.hide();
      if (last === undefined || isQuiet) return;
      say(
        `${title}: ${countWords(last, unit)} in ${seconds().toFixed(1)} s (${print(rate(last))}/s)`,
      );
      last = undefined;
    },
  };
}

/**
 * Where lines for people go, too. It changes nothing of the terminal that an end in the middle would leave, and listens to
 * no signal: work that is one long step could not be ended then.
 */
class TerminalBar {
  readonly #bar: SingleBar;

  constructor(title: string, unit: string) {
    this.#bar = new progress.SingleBar({
      format: (options, { progress: share }, { count, rate, left }: Words) => {
        const bar = progress.Format.BarFormat(share, options);
        const percent = Math.floor(100 * share);
        const line = `${title} ${bar} ${percent} % | ${count} ${unit} | ${rate}/s | ${left} s left`;
        // A line that is broken in two would be left behind each time.
        return line.slice(0, Math.max(20, (process.stdout.columns || 100) - 1));
      },
      stream: process.stdout,
      linewrap: true,
      clearOnComplete: true,
      gracefulExit: false,
      barsize: 30,
    });
  }

  show(): void {
    this.#bar.start(1, 0, { count: "0", rate: "0", left: "?" } satisfies Words);
  }

  update(share: number, words: Words): void {
    this.#bar.update(share, words);
  }

  hide(): void {
    this.#bar.stop();
  }
}

interface Words {
  readonly count: string;
  readonly rate: string;
  readonly left: string;
}

function print(count: number): string {
  return count.toLocaleString("en-US");
}
