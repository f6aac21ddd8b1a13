/**
 * Long requests take turns: at most a few of them run at a time in a process, the others wait, so that a small request
 * waits for one slice of each that runs and not of each there is (architecture 5).
 */
export interface Turns {
  /** After a slice of work: resolves when the next may begin. `request` is the same object for a whole request. */
  next(request: object): Promise<void>;
  /** The request has ended. */
  end(request: object): void;
}

/** Slices after which a request counts as long. */
const shortSlices = 5;

export function makeTurns(runningMax = 2): Turns {
  const slices = new Map<object, number>();
  const running = new Set<object>();
  const waiting: { readonly request: object; readonly resolve: () => void }[] = [];
  const later = (resolve: () => void): void => void setImmediate(resolve);
  return {
    next(request) {
      const count = (slices.get(request) ?? 0) + 1;
      slices.set(request, count);
      if (count <= shortSlices || running.has(request)) return new Promise(later);
      if (running.size < runningMax) {
        running.add(request);
        return new Promise(later);
      }
      return new Promise((resolve) => waiting.push({ request, resolve }));
    },
    end(request) {
      slices.delete(request);
      if (!running.delete(request)) return;
      const first = waiting.shift();
      if (first === undefined) return;
      running.add(first.request);
      later(first.resolve);
    },
  };
}
