/**
 * Memory that large requests leave behind. V8 collects when something new is asked for, so that a process which then has
 * little to do keeps hundreds of megabytes for nothing. It is asked to collect while nothing is under way, at most
 * once after each growth: a busy process is never stopped for it.
 */

/** What the process offers; tests hand in their own. */
interface MemoryUser {
  /** Bytes of the heap and of the buffers beside it. */
  usedBytes(): number;
  /** Share of the time since the last question in which the event loop was busy, 0 to 1. */
  busyShare(): number;
  /** Collects all that is not used. Some 100 ms of a large heap. */
  collect(): void;
}

/** How often it is looked at. */
const lookEveryMs = 5000;

/** More than this over what was left by the last collection is worth another. */
const growthBytesMin = 48 * 1024 * 1024;

const idleShareMax = 0.1;

/** What is to be asked every `lookEveryMs`. */
export function watchIdleMemory(user: MemoryUser): () => void {
  let leftBytes = 0;
  return () => {
    let usedBytes: number;
    try {
      usedBytes = user.usedBytes();
    } catch {
      // Its number is read from a file: with none to be had the next look is as good.
      return;
    }
    leftBytes = Math.min(leftBytes, usedBytes);
    const isIdle = user.busyShare() <= idleShareMax;
    if (!isIdle || usedBytes < leftBytes + growthBytesMin) return;
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
