/**
 * Memory that large requests leave behind. V8 collects when something new is asked for, so that a process which then has
 * little to do keeps hundreds of megabytes for nothing. It is asked to collect while nothing is under way, a few times
 * after each growth: a busy process is never stopped for it, and one collection gives back a part of what it frees alone
 * (of 470 MB with 12 in use 75, the second 165, the third 195).
 */

/** What the process offers; tests hand in their own. */
interface MemoryUser {
  /** Bytes of the heap and of the buffers beside it. */
  usedBytes(): number;
  /** Of these, those that a collection has freed and the heap keeps. */
  freeBytes(): number;
  /** Share of the time since the last question in which the event loop was busy, 0 to 1. */
  busyShare(): number;
  /** Collects all that is not used. Some 100 ms of a large heap. */
  collect(): void;
}

/** How often it is looked at. */
const lookEveryMs = 5000;

/** More than this over what was left by the last collection is worth another. */
const growthBytesMin = 48 * 1024 * 1024;

/** Collections behind the first one, while the heap keeps as much as is worth one. */
const furtherMax = 4;

const idleShareMax = 0.1;

/** What is to be asked every `lookEveryMs`. */
export function watchIdleMemory(user: MemoryUser): () => void {
  let leftBytes = 0;
  let furtherLeft = 0;
  return () => {
    let usedBytes: number;
    try {
      usedBytes = user.usedBytes();
    } catch {
      // Its number is read from a file: with none to be had the next look is as good.
      return;
    }
    leftBytes = Math.min(leftBytes, usedBytes);
    if (user.busyShare() > idleShareMax) return;
    if (usedBytes >= leftBytes + growthBytesMin) furtherLeft = furtherMax;
    else if (furtherLeft > 0 && user.freeBytes() >= growthBytesMin) furtherLeft--;
    else return;
    user.collect();
    leftBytes = user.usedBytes();
  };
}

/** Does so for this process, if it was started with `--expose-gc`. */
export function giveBackIdleMemory(): void {
  const { gc } = globalThis;
  if (gc === undefined) return;
  let last = performance.eventLoopUtilization();
  const look = watchIdleMemory({
    usedBytes: () => {
      const { heapTotal, external } = process.memoryUsage();
      return heapTotal + external;
    },
    freeBytes: () => {
      const { heapTotal, heapUsed } = process.memoryUsage();
      return heapTotal - heapUsed;
    },
    busyShare: () => {
      const now = performance.eventLoopUtilization();
      const { utilization } = performance.eventLoopUtilization(now, last);
      last = now;
      return utilization;
    },
    collect: () => {
      gc();
    },
  });
  setInterval(look, lookEveryMs).unref();
}
