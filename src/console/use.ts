/** What components share: values that are kept, and answers that are on their way. */
import { useCallback, useEffect, useRef, useState, useSyncExternalStore } from "react";
import { access } from "./access.ts";
import { RefusedByServer } from "./refused.ts";
import type { Stored } from "./stored.ts";

export function useStored<T>(stored: Stored<T>): [T, (value: T) => void] {
  return [useSyncExternalStore(stored.subscribe, stored.get), stored.set];
}

interface Pending<T> {
  /** The newest that has arrived; undefined: none yet. */
  readonly data: T | undefined;
  readonly refusal: RefusedByServer | undefined;
  readonly isLoading: boolean;
  readonly reload: () => void;
}

/**
 * Asks when it is first shown, when `name` or who asks changes, and on `reload`. What arrives after that is dropped;
 * the data of before stays until there is newer, unless it belongs to another name.
 */
export function useAnswer<T>(name: string, load: (signal: AbortSignal) => Promise<T>): Pending<T> {
  const [shown] = useStored(access);
  const [turn, setTurn] = useState(0);
  const [state, setState] = useState<{
    name: string;
    data?: T;
    refusal?: RefusedByServer;
    isLoading: boolean;
  }>({ name, isLoading: true });
  const latest = useRef(load);
  latest.current = load;
  useEffect(() => {
    const ending = new AbortController();
    setState((before) =>
      before.name === name ? { ...before, isLoading: true } : { name, isLoading: true },
    );
    void (async () => {
      try {
        const data = await latest.current(ending.signal);
        if (!ending.signal.aborted) setState({ name, data, isLoading: false });
      } catch (error) {
        if (!ending.signal.aborted) setState({ name, refusal: toRefusal(error), isLoading: false });
      }
    })();
    return () => ending.abort();
  }, [name, shown, turn]);
  const reload = useCallback(() => setTurn((before) => before + 1), []);
  const isOld = state.name !== name;
  return {
    data: isOld ? undefined : state.data,
    refusal: isOld ? undefined : state.refusal,
    isLoading: isOld || state.isLoading,
    reload,
  };
}

export function toRefusal(error: unknown): RefusedByServer {
  if (error instanceof RefusedByServer) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new RefusedByServer(`The server could not be asked: ${message}`, false);
}

/** Calls `work` every so many milliseconds while the page is looked at; 0: not. */
export function useEvery(ms: number, work: () => void): void {
  const latest = useRef(work);
  latest.current = work;
  useEffect(() => {
    if (ms === 0) return undefined;
    const timer = setInterval(() => {
      if (!document.hidden) latest.current();
    }, ms);
    return () => clearInterval(timer);
  }, [ms]);
}
