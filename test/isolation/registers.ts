/**
 * Registers: reads and writes of single values, in transactions. Who writes one has read it, in the same transaction, so
 * each value tells the one before it; a register is the list of all that it held, and the checker of lists judges it.
 */
import type { Random } from "../../src/base/random.ts";
import { findAnomalies } from "./checker.ts";
import { Aborted, mutate } from "./client.ts";
import type { Attempt, Step } from "./history.ts";
import { pick, readNodes, type Workload } from "./workloads.ts";

/** `value` undefined: nothing was there. Values are used once in all. */
export type RegisterStep =
  | { readonly kind: "write"; readonly key: string; readonly value: number }
  | { readonly kind: "read"; readonly key: string; readonly value: number | undefined };

export type RegisterAttempt = Omit<Attempt, "steps"> & { readonly steps: readonly RegisterStep[] };

/** `final`: what each register held when all was over. */
export function asLists(
  history: readonly RegisterAttempt[],
  final: ReadonlyMap<string, number | undefined>,
): { readonly history: readonly Attempt[]; readonly final: ReadonlyMap<string, number[]> } {
  const before = findBefore(history);
  const lists = new Map<number, number[]>();
  const listTo = (value: number | undefined): number[] => {
    // The values that are not known yet, newest first. None comes twice, whatever a server makes up.
    const missing = new Set<number>();
    let at = value;
    while (at !== undefined && !lists.has(at) && !missing.has(at)) {
      missing.add(at);
      at = before.get(at);
    }
    let list = at === undefined ? [] : (lists.get(at) ?? []);
    for (const next of [...missing].reverse()) lists.set(next, (list = [...list, next]));
    return list;
  };
  const convert = (step: RegisterStep): Step =>
    step.kind === "write"
      ? { kind: "append", key: step.key, value: step.value }
      : { kind: "read", key: step.key, list: listTo(step.value) };
  return {
    history: history.map((attempt) => ({ ...attempt, steps: attempt.steps.map(convert) })),
    final: new Map([...final].map(([key, value]) => [key, listTo(value)])),
  };
}

/** Value → what its writer had found, or written, before. */
function findBefore(history: readonly RegisterAttempt[]): ReadonlyMap<number, number | undefined> {
  const before = new Map<number, number | undefined>();
  for (const { steps } of history) {
    const held = new Map<string, number | undefined>();
    for (const { kind, key, value } of steps) {
      if (kind === "write") before.set(value, held.get(key));
      held.set(key, value);
    }
  }
  return before;
}

/** Of register workloads so far: each has keys of its own. */
let registerWorkloads = 0;

export function registers(): Workload {
  const firstKey = 0xe000 + 0x100 * registerWorkloads++;
  const keys = Array.from({ length: 12 }, (_, i) => `0x${(firstKey + i).toString(16)}`);
  const history: RegisterAttempt[] = [];
  let nextValue = 1;

  async function read(
    url: string,
    uids: readonly string[],
    steps: RegisterStep[],
    startTs = 0,
  ): Promise<number> {
    const { values, txn } = await readNodes(url, uids, "iso.register", startTs);
    for (const key of uids) {
      const value = values.get(key);
      steps.push({ kind: "read", key, value: value === undefined ? undefined : Number(value) });
    }
    return txn.start_ts;
  }

  async function attempt(
    url: string,
    random: Random,
    steps: RegisterStep[],
  ): Promise<Attempt["outcome"]> {
    const uids = [...new Set([0, 0, 0].map(() => keys[pick(random, keys.length)]!))];
    const written: string[] = [];
    let startTs: number;
    try {
      startTs = await read(url, uids, steps);
      if (random.next() < 0.3) {
        await read(url, keys, steps, startTs);
        return "ok";
      }
      for (const key of uids.slice(0, 2)) {
        // What is written over in the same transaction is never to be seen.
        if (random.next() < 0.2) {
          const value = nextValue++;
          steps.push({ kind: "write", key, value });
          await mutate(
            url,
            `{ set { <${key}> <iso.register> "${value}" . } }`,
            `startTs=${startTs}`,
          );
        }
        const value = nextValue++;
        steps.push({ kind: "write", key, value });
        written.push(`<${key}> <iso.register> "${value}" .`);
      }
    } catch {
      return "failed";
    }
    try {
      const facts = `{ set {\n${written.join("\n")}\n} }`;
      await mutate(url, facts, `startTs=${startTs}&commitNow=true`);
      return "ok";
    } catch (error) {
      return error instanceof Aborted ? "failed" : "unknown";
    }
  }

  return {
    name: "registers",
    prepare: async () => {},
    async play(url, random) {
      const steps: RegisterStep[] = [];
      const startMs = performance.now();
      const outcome = await attempt(url, random, steps);
      history.push({ outcome, startMs, endMs: performance.now(), steps });
    },
    async judge(url) {
      const steps: RegisterStep[] = [];
      await read(url, keys, steps);
      const lists = asLists(history, new Map(steps.map(({ key, value }) => [key, value])));
      return findAnomalies(lists.history, lists.final).map(
        ({ kind, detail }) => `${kind}: ${detail}`,
      );
    },
    count: () => history.filter(({ outcome }) => outcome === "ok").length,
  };
}
