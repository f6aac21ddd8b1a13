/**
 * Root queries of one request that ask the same of the same state are read once: aliases of one field with equal
 * arguments cost as much as one of them. What each shows is written for each.
 */
import type { ExecutionResult } from "../../exec/frame.ts";
import type { Reader } from "../../graph/reader.ts";
import type { Limits } from "../../model/limits.ts";
import type { RequestBudget } from "../../model/request-budget.ts";
import type { ReadyQuery } from "../resolve/query-root.ts";
import type { ReadyRoot } from "./handle-roots.ts";

/** What results may take together that wait for their equals, beyond which each is read for itself. */
const keptBytesMax = 16 * 1024 * 1024;
/** And of the memory of a request. */
const keptShare = 1 / 16;

/** Roots that ask the same. */
interface Equals {
  /** Those that have not read yet. */
  left: number;
  kept:
    { readonly ts: number; readonly result: Promise<ExecutionResult>; bytes: number } | undefined;
}

export class EqualRoots {
  readonly #ofRoot: ReadonlyMap<ReadyQuery, Equals>;
  readonly #bytesMax: number;
  #keptBytes = 0;
  #toldBytes = 0;

  constructor(ofRoot: ReadonlyMap<ReadyQuery, Equals>, { queryMemoryMax }: Limits) {
    this.#ofRoot = ofRoot;
    const share = queryMemoryMax === 0 ? keptBytesMax : queryMemoryMax * keptShare;
    this.#bytesMax = Math.min(keptBytesMax, share);
  }

  /** What is held for roots that follow, more or less than when it was asked for last. */
  takeGrowth(): number {
    const growth = this.#keptBytes - this.#toldBytes;
    this.#toldBytes = this.#keptBytes;
    return growth;
  }

  /** `run` unless an equal root has run at this state. Its rejection is that of all that are equal. */
  read(
    ready: ReadyQuery,
    { ts }: Reader,
    budget: RequestBudget,
    run: () => Promise<ExecutionResult>,
  ): Promise<ExecutionResult> {
    const equals = this.#ofRoot.get(ready);
    if (equals === undefined) return run();
    equals.left--;
    const { kept } = equals;
    if (kept?.ts === ts) {
      if (equals.left === 0) this.#forget(equals);
      return kept.result;
    }
    this.#forget(equals);
    if (equals.left === 0) return run();
    const before = budget.bytes;
    const result = run();
    const mine = { ts, result, bytes: 0 };
    equals.kept = mine;
    const judge = (): void => {
      if (equals.kept !== mine) return;
      // Of those that run beside each other it is more than their own: then less is kept.
      const bytes = Math.max(0, budget.bytes - before);
      if (this.#keptBytes + bytes > this.#bytesMax) equals.kept = undefined;
      else this.#keptBytes += mine.bytes = bytes;
    };
    void result.then(judge, judge);
    return result;
  }

  #forget(equals: Equals): void {
    this.#keptBytes -= equals.kept?.bytes ?? 0;
    equals.kept = undefined;
  }
}

/** Where some roots ask the same; undefined elsewhere. */
export function findEqualRoots(
  roots: readonly ReadyRoot[],
  limits: Limits,
): EqualRoots | undefined {
  if (!repeatsField(roots)) return undefined;
  const byForm = new Map<string, Equals>();
  const ofRoot = new Map<ReadyQuery, Equals>();
  for (const root of roots) {
    const form = root.kind === "query" ? root.ready.planned.tree.form : undefined;
    if (root.kind !== "query" || form === undefined) continue;
    const key = JSON.stringify([form, root.ready.texts]);
    let equals = byForm.get(key);
    if (equals === undefined) byForm.set(key, (equals = { left: 0, kept: undefined }));
    equals.left++;
    ofRoot.set(root.ready, equals);
  }
  return byForm.size === ofRoot.size ? undefined : new EqualRoots(ofRoot, limits);
}

function repeatsField(roots: readonly ReadyRoot[]): boolean {
  if (roots.length === 1) return false;
  const seen = new Set<unknown>();
  for (const root of roots) {
    if (root.kind !== "query") continue;
    if (seen.has(root.field.definition)) return true;
    seen.add(root.field.definition);
  }
  return false;
}
