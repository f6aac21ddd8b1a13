/** A bar on a terminal; on anything else a line now and then. */
import progress, { type SingleBar } from "cli-progress";
import { systemClock } from "../base/clock.ts";
import { countWords } from "../base/count-words.ts";
import { say } from "./log.ts";

interface ProgressBar {
  /** `done` of `total` in the bar; `count` for the rate. */
  update(done: number, total: number, count: number): void;
  /** Ends the bar and says how much went through how fast. */
  finish(): void;
}

const lineEveryMs = 5_000;

/** `unit`: what is counted, in the plural. */
export function startProgressBar(title: string, unit: string): ProgressBar {
  const beganMs = systemClock.tickMs();
  let last = { done: 0, total: 0, count: 0 };
  const seconds = (): number => Math.max(systemClock.tickMs() - beganMs, 1) / 1000;
  const rate = (): number => Math.round(last.count / seconds());
  const bar = process.stdout.isTTY ? makeBar(title, unit) : undefined;
  let nextLineMs = beganMs + lineEveryMs;
  bar?.start(1, 0, { count: "0", rate: "0", left: "?" });
  return {
    update(done, total, count) {
      last = { done, total, count };
      const left = done > 0 ? Math.ceil((seconds() * (total - done)) / done) : undefined;
      if (bar !== undefined) {
        bar.setTotal(Math.max(total, 1));
        bar.update(done, { count: print(count), rate: print(rate()), left: left ?? "?" });
      } else if (systemClock.tickMs() >= nextLineMs) {
        nextLineMs += lineEveryMs;
        const percent = Math.floor((100 * done) / Math.max(total, 1));
        say(
          `${title}: ${percent} %, ${countWords(count, unit)}, ${print(rate())}/s, ${left ?? "?"} s left`,
        );
      }
    },
    finish() {
      bar?.stop();
      say(
        `${title}: ${countWords(last.count, unit)} in ${seconds().toFixed(1)} s (${print(rate())}/s)`,
      );
    },
  };
}

function makeBar(title: string, unit: string): SingleBar {
  return new progress.SingleBar({
    format: `${title} {bar} {percentage} % | {count} ${unit} | {rate}/s | {left} s left`,
    formatBar: progress.Format.BarFormat,
    hideCursor: true,
    clearOnComplete: true,
    barsize: 30,
  });
}

function print(count: number): string {
  return count.toLocaleString("en-US");
}
