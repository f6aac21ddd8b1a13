/**
 * Finds what no run of transactions under strict snapshot isolation can show, in a history of appends to lists and reads
 * of them (after Adya's names): values of failed transactions (G1a) or of the middle of one (G1b), lists that
 * contradict each other, acknowledged values that are gone, and cycles of dependencies with at most one
 * anti-dependency (G0, G1c, G-single), where an answer that came before a request counts as a dependency, too: a state
 * older than that (a stale read) is such a cycle. Cycles with two anti-dependencies (write skew) are allowed.
 */
import type { Attempt, Step } from "./history.ts";

export interface Anomaly {
  readonly kind:
    "G0" | "G1a" | "G1b" | "G1c" | "G-single" | "contradiction" | "duplicate" | "lost" | "own";
  readonly detail: string;
}

/** `final`: key → its list when all was over; acknowledged values must be in it. */
export function findAnomalies(
  history: readonly Attempt[],
  final: ReadonlyMap<string, readonly number[]>,
): readonly Anomaly[] {
  const found: Anomaly[] = [];
  const writers = findWriters(history);
  const orders = findOrders(history, final, found);
  checkReads(history, writers, found);
  checkFinal(history, final, found);
  for (const attempt of history) if (attempt.outcome === "ok") checkOwn(attempt, found);
  return [...found, ...findCycles(history, writers, orders)];
}

function* readsOf({ steps }: Attempt): Iterable<Step & { kind: "read" }> {
  for (const step of steps) if (step.kind === "read") yield step;
}

function findWriters(history: readonly Attempt[]): ReadonlyMap<number, number> {
  const writers = new Map<number, number>();
  history.forEach(({ steps }, at) => {
    for (const step of steps) if (step.kind === "append") writers.set(step.value, at);
  });
  return writers;
}

/** Key → the longest list that was seen; all others must be its beginnings. */
function findOrders(
  history: readonly Attempt[],
  final: ReadonlyMap<string, readonly number[]>,
  found: Anomaly[],
): ReadonlyMap<string, readonly number[]> {
  const orders = new Map(final);
  const lists: (Step & { kind: "read" })[] = [];
  for (const attempt of history) {
    if (attempt.outcome === "ok") lists.push(...outerReads(attempt));
  }
  for (const { key, list } of lists) {
    if (list.length > (orders.get(key)?.length ?? 0)) orders.set(key, list);
  }
  for (const [key, order] of orders) {
    if (new Set(order).size < order.length) {
      found.push({ kind: "duplicate", detail: `${key}: ${order.join(" ")}` });
    }
  }
  for (const { key, list } of lists) {
    const order = orders.get(key) ?? [];
    if (list.some((value, i) => order[i] !== value)) {
      found.push({
        kind: "contradiction",
        detail: `${key}: ${list.join(" ")} against ${order.join(" ")}`,
      });
    }
  }
  return orders;
}

/** Reads before the attempt's own appends to the key: they show what others did. */
function outerReads({ steps }: Attempt): (Step & { kind: "read" })[] {
  const appended = new Set<string>();
  const reads: (Step & { kind: "read" })[] = [];
  for (const step of steps) {
    if (step.kind === "append") appended.add(step.key);
    else if (!appended.has(step.key)) reads.push(step);
  }
  return reads;
}

function checkReads(
  history: readonly Attempt[],
  writers: ReadonlyMap<number, number>,
  found: Anomaly[],
): void {
  history.forEach((attempt, at) => {
    if (attempt.outcome !== "ok") return;
    for (const { key, list } of readsOf(attempt)) {
      for (const value of list) {
        const writer = writers.get(value);
        if (writer === undefined || history[writer]!.outcome === "failed") {
          found.push({ kind: "G1a", detail: `${value} of ${key} was never committed` });
        }
      }
      const last = list.at(-1);
      const writer = last === undefined ? undefined : writers.get(last);
      if (writer === undefined || writer === at) continue;
      const own = history[writer]!.steps.filter(
        (step) => step.kind === "append" && step.key === key,
      ) as (Step & { kind: "append" })[];
      if (own.length > 0 && own.at(-1)!.value !== last) {
        found.push({ kind: "G1b", detail: `${key} was read in the middle, at ${last}` });
      }
    }
  });
}

function checkFinal(
  history: readonly Attempt[],
  final: ReadonlyMap<string, readonly number[]>,
  found: Anomaly[],
): void {
  const there = new Map([...final].map(([key, list]) => [key, new Set(list)]));
  for (const { outcome, steps } of history) {
    for (const step of steps) {
      if (step.kind !== "append") continue;
      const isThere = there.get(step.key)?.has(step.value) === true;
      if (outcome === "ok" && !isThere) {
        found.push({ kind: "lost", detail: `${step.value} of ${step.key} was acknowledged` });
      }
      if (outcome === "failed" && isThere) {
        found.push({ kind: "G1a", detail: `${step.value} of ${step.key} had failed` });
      }
    }
  }
}

/** An attempt sees what it appended itself. */
function checkOwn({ steps }: Attempt, found: Anomaly[]): void {
  const expected = new Map<string, readonly number[]>();
  for (const step of steps) {
    const known = expected.get(step.key);
    if (step.kind === "append") {
      if (known !== undefined) expected.set(step.key, [...known, step.value]);
      continue;
    }
    if (known !== undefined && known.join() !== step.list.join()) {
      found.push({
        kind: "own",
        detail: `${step.key}: ${step.list.join(" ")}, not ${known.join(" ")}`,
      });
    }
    expected.set(step.key, step.list);
  }
}

type EdgeKind = "ww" | "wr" | "rw" | "rt";

interface Edge {
  readonly to: number;
  readonly kind: EdgeKind;
}

/** Nodes are attempts; behind them, moments at which answers came, each leading to what was asked afterwards. */
function findCycles(
  history: readonly Attempt[],
  writers: ReadonlyMap<number, number>,
  orders: ReadonlyMap<string, readonly number[]>,
): readonly Anomaly[] {
  const edges: Edge[][] = history.map(() => []);
  const add = (from: number | undefined, to: number | undefined, kind: EdgeKind): void => {
    if (from !== undefined && to !== undefined && from !== to) edges[from]!.push({ to, kind });
  };
  for (const order of orders.values()) {
    for (let i = 1; i < order.length; i++) {
      add(writers.get(order[i - 1]!), writers.get(order[i]!), "ww");
    }
  }
  history.forEach((attempt, at) => {
    if (attempt.outcome !== "ok") return;
    for (const { key, list } of outerReads(attempt)) {
      const order = orders.get(key) ?? [];
      const last = list.at(-1);
      if (last !== undefined) add(writers.get(last), at, "wr");
      if (list.length < order.length) add(at, writers.get(order[list.length]!), "rw");
    }
  });
  addMoments(history, edges);
  const parts = findParts(edges);
  const found: Anomaly[] = [];
  edges.forEach((out, from) => {
    for (const { to, kind } of out) {
      if (kind === "rt" || parts[from] !== parts[to]) continue;
      const path = findPath(edges, parts, to, from);
      if (path === undefined) continue;
      const kinds = new Set<EdgeKind>([kind, ...path]);
      const name = kinds.has("rw") ? "G-single" : kinds.has("wr") ? "G1c" : "G0";
      found.push({ kind: name, detail: `${kind} ${path.join(" ")} from attempt ${from}` });
      if (found.length >= 10) return;
    }
  });
  return found;
}

function addMoments(history: readonly Attempt[], edges: Edge[][]): void {
  const ends = history.flatMap(({ outcome, endMs }, at) =>
    outcome === "ok" ? [{ endMs, at }] : [],
  );
  const starts = history.map(({ startMs }, at) => ({ startMs, at }));
  ends.sort((a, b) => a.endMs - b.endMs);
  starts.sort((a, b) => a.startMs - b.startMs);
  let next = 0;
  let moment: number | undefined;
  for (const { startMs, at } of starts) {
    while (next < ends.length && ends[next]!.endMs < startMs) {
      const made = edges.length;
      edges.push([]);
      if (moment !== undefined) edges[moment]!.push({ to: made, kind: "rt" });
      edges[ends[next]!.at]!.push({ to: made, kind: "rt" });
      moment = made;
      next++;
    }
    if (moment !== undefined) edges[moment]!.push({ to: at, kind: "rt" });
  }
}

/** The kinds of a shortest path without anti-dependencies, within a part; undefined for none. */
function findPath(
  edges: readonly (readonly Edge[])[],
  parts: readonly number[],
  from: number,
  to: number,
): readonly EdgeKind[] | undefined {
  const seen = new Map<number, { readonly before: number; readonly kind: EdgeKind } | undefined>();
  seen.set(from, undefined);
  for (const at of seen.keys()) {
    if (at === to) {
      const path: EdgeKind[] = [];
      for (let step = seen.get(at); step !== undefined; step = seen.get(step.before)) {
        path.unshift(step.kind);
      }
      return path;
    }
    for (const { to: next, kind } of edges[at]!) {
      if (kind !== "rw" && parts[next] === parts[from] && !seen.has(next)) {
        seen.set(next, { before: at, kind });
      }
    }
  }
  return undefined;
}

/** Node → the number of its strongly connected part (Tarjan, without recursion). */
function findParts(edges: readonly (readonly Edge[])[]): readonly number[] {
  const index = Array.from(edges, () => -1);
  const low = Array.from(edges, () => 0);
  const parts = Array.from(edges, () => -1);
  const stack: number[] = [];
  let counter = 0;
  for (let root = 0; root < edges.length; root++) {
    if (index[root] !== -1) continue;
    const work: { readonly at: number; next: number }[] = [{ at: root, next: 0 }];
    while (work.length > 0) {
      const top = work.at(-1)!;
      const { at } = top;
      if (top.next === 0) {
        index[at] = low[at] = counter++;
        stack.push(at);
      }
      const edge = edges[at]![top.next++];
      if (edge !== undefined) {
        if (index[edge.to] === -1) work.push({ at: edge.to, next: 0 });
        else if (parts[edge.to] === -1) low[at] = Math.min(low[at]!, index[edge.to]!);
        continue;
      }
      work.pop();
      const above = work.at(-1);
      if (above !== undefined) low[above.at] = Math.min(low[above.at]!, low[at]!);
      if (low[at] !== index[at]) continue;
      for (let member = -1; member !== at;) parts[(member = stack.pop()!)] = at;
    }
  }
  return parts;
}
