/** Waits between tries: twice as long each time, and never the same for two clients. */
import type { Random } from "../base/random.ts";
import type { Signal } from "./api.ts";

const firstMs = 100;
const longestMs = 10_000;

/** `attempt` from 1 on. `askedMs`: what the server asked for, which is kept at least. */
export function delayOf(attempt: number, random: Random, askedMs = 0): number {
  const grownMs = Math.min(longestMs, firstMs * 2 ** (attempt - 1));
  return askedMs + grownMs * (0.5 + random.next() / 2);
}

/** `Retry-After`: seconds, or a date; undefined for neither. */
export function readRetryAfter(header: string | null, nowMs: number): number | undefined {
  if (header === null || header === "") return undefined;
  const ms = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - nowMs;
  return Number.isNaN(ms) ? undefined : Math.max(0, ms);
}

/** Ends early, rejecting with the signal's reason. */
export function wait(ms: number, signal?: Signal): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = (): void => {
      clearTimeout(timer);
      reject(reasonOf(signal));
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", end);
      resolve();
    }, ms);
    if (signal?.aborted === true) end();
    else signal?.addEventListener("abort", end, { once: true });
  });
}

function reasonOf(signal: Signal | undefined): Error {
  const reason: unknown = signal?.reason;
  return reason instanceof Error ? reason : new Error("aborted", { cause: reason });
}
