/** Random patches on a few nodes and lists, and the naive twin that a store is compared to: maps. */
import { must } from "../../base/assert.ts";
import { emptyBytes, encodeUtf8, toHex } from "../../base/bytes.ts";
import type { Random } from "../../base/random.ts";
import { countList, presenceList, reverseList, tokenList } from "../../codec/key.ts";
import type { Commit, Patch, Snapshot } from "../store.ts";
import { readWholeList, readWholeRecord } from "./read-whole.ts";

export function same(found: unknown, wanted: unknown, sentence: string): void {
  const left = JSON.stringify(toPlain(found));
  const right = JSON.stringify(toPlain(wanted));
  if (left !== right) throw new Error(`${sentence}: found ${left}, wanted ${right}`);
}

function toPlain(value: unknown): unknown {
  if (!(value instanceof Map)) return value;
  const entries = [...(value as Map<unknown, unknown>)].map(([key, inner]) => [
    String(key),
    toPlain(inner),
  ]);
  return entries.sort((a, b) => (String(a[0]) < String(b[0]) ? -1 : 1));
}

/** All of the suite's rows. */
export const storageId = 3;

/** The naive twin: maps, and every derived list made anew from them. */
export class Twin {
  readonly nodes = new Map<number, Map<number, Map<string, string>>>();
  readonly lists = new Map<string, Map<number, string>>();
  /** Index ids of the counts of predicates. */
  static readonly counts = new Map([
    [2, 70],
    [4, 71],
  ]);

  apply(patch: Patch): void {
    switch (patch.kind) {
      case "cell":
        return this.put(patch.uid, patch.predicate, patch.slot, patch.cell && toHex(patch.cell));
      case "edge": {
        const facets = patch.add ? toHex(patch.facets ?? emptyBytes) : undefined;
        return this.put(patch.uid, patch.predicate, String(patch.target), facets);
      }
      case "member": {
        const key = toHex(patch.list);
        const list = this.lists.get(key) ?? new Map<number, string>();
        this.lists.set(key, list);
        if (patch.add) list.set(patch.member, toHex(patch.facets ?? emptyBytes));
        else list.delete(patch.member);
        return;
      }
      case "meta":
        return;
    }
  }

  private put(uid: number, predicate: number, slot: string, value: string | undefined): void {
    const node = this.nodes.get(uid) ?? new Map<number, Map<string, string>>();
    const values = node.get(predicate) ?? new Map<string, string>();
    if (value === undefined) values.delete(slot);
    else values.set(slot, value);
    if (values.size === 0) node.delete(predicate);
    else node.set(predicate, values);
    this.nodes.set(uid, node);
  }

  /** Presence and count lists by their prefix (hex). */
  derived(): Map<string, Map<number, string>> {
    const lists = new Map<string, Map<number, string>>();
    const add = (prefix: Uint8Array, uid: number): void => {
      const key = toHex(prefix);
      lists.set(key, (lists.get(key) ?? new Map<number, string>()).set(uid, ""));
    };
    for (const [uid, node] of this.nodes) {
      for (const [predicate, values] of node) {
        add(presenceList(storageId, predicate), uid);
        const index = Twin.counts.get(predicate);
        if (index !== undefined) add(countList(storageId, index, values.size), uid);
      }
    }
    return lists;
  }
}

export async function compareToTwin(snapshot: Snapshot, twin: Twin): Promise<void> {
  for (const [uid, node] of twin.nodes) {
    same(await readWholeRecord(snapshot, storageId, uid), node, `record ${uid}`);
  }
  for (const [key, members] of twin.lists) {
    same(await readWholeList(snapshot, fromHex(key)), members, `list ${key}`);
  }
  const derived = twin.derived();
  for (let predicate = 1; predicate <= 6; predicate++) {
    const prefix = presenceList(storageId, predicate);
    const wanted = derived.get(toHex(prefix)) ?? new Map<number, string>();
    same(await readWholeList(snapshot, prefix), wanted, `presence ${predicate}`);
  }
  for (const index of Twin.counts.values()) {
    for (let count = 0; count < 80; count++) {
      const prefix = countList(storageId, index, count);
      const wanted = derived.get(toHex(prefix)) ?? new Map<number, string>();
      same(await readWholeList(snapshot, prefix), wanted, `count ${index}/${count}`);
    }
  }
}

function fromHex(text: string): Uint8Array {
  const bytes = new Uint8Array(text.length / 2);
  for (let i = 0; i < bytes.length; i++) bytes[i] = parseInt(text.slice(i * 2, i * 2 + 2), 16);
  return bytes;
}

export function pick<T>(random: Random, items: readonly T[]): T {
  return must(items[Math.floor(random.next() * items.length)], "there are items");
}

const tokens = ["a", "a\u0000b", "b", "\u0001"].map((text) => encodeUtf8(text));

/** Predicates 1 and 2 hold cells, 3 and 4 edges, 5 long texts; 2 and 4 are counted. */
export function randomPatch(random: Random, span: number, isRemoving: boolean): Patch {
  const uid = 1 + Math.floor(random.next() * 4);
  const add = random.next() < (isRemoving ? 0.15 : 0.75);
  const facets = random.next() < 0.2 ? encodeUtf8("f".repeat(random.next() * 30)) : undefined;
  const roll = random.next();
  if (roll < 0.3) {
    const predicate = pick(random, [1, 2, 5]);
    const slot = pick(random, ["", "de", "en", "\u0000\u00ff234567"]);
    const size = predicate === 5 ? random.next() * 3000 : 2 + random.next() * 20;
    const cell = add ? new Uint8Array(2 + Math.floor(size)).fill(random.next() * 256) : undefined;
    const countIndex = Twin.counts.get(predicate) ?? 0;
    return { kind: "cell", storageId, uid, predicate, slot, cell, countIndex };
  }
  if (roll < 0.6) {
    const predicate = pick(random, [3, 4]);
    const target = 1 + Math.floor(random.next() * (span < 70 ? span : 70));
    const countIndex = Twin.counts.get(predicate) ?? 0;
    return { kind: "edge", storageId, uid, predicate, target, add, facets, countIndex };
  }
  const list = random.next() < 0.9 ? tokenList(storageId, 9, pick(random, tokens)) : reverse(uid);
  const far = random.next() < 0.05 ? 2 ** 52 : 0;
  const member = 1 + far + Math.floor(random.next() * span);
  return { kind: "member", list, member, add, facets, countIndex: 0, owner: 0 };
}

function reverse(uid: number): Uint8Array {
  return reverseList(storageId, 10, uid);
}

/** Takes back what a commit did, from its account: the twin must then be what it was. */
function history(twin: Twin, commit: Commit): void {
  for (const { patch, existed, before } of commit.applied.toReversed()) {
    if (patch.kind === "cell") twin.apply({ ...patch, cell: existed ? before : undefined });
    else if (patch.kind !== "meta") twin.apply({ ...patch, add: existed, facets: before });
  }
}

/** Taking back what the log says must give the state of before. */
export function checkUndo(
  twin: Twin,
  earlier: Pick<Twin, "nodes" | "lists">,
  commits: readonly Commit[],
): void {
  const back = new Twin();
  for (const [uid, node] of structuredClone(twin.nodes)) back.nodes.set(uid, node);
  for (const [key, list] of structuredClone(twin.lists)) back.lists.set(key, list);
  const derived = new Set(twin.derived().keys());
  for (const commit of commits.toReversed()) history(back, commit);
  const isFilled = ([key, map]: [unknown, Map<unknown, unknown>]): boolean =>
    map.size > 0 && !derived.has(String(key)) && !isDerived(String(key));
  same(
    new Map([...back.nodes].filter(([, node]) => node.size > 0)),
    new Map([...earlier.nodes].filter(([, node]) => node.size > 0)),
    "records taken back",
  );
  same(
    new Map([...back.lists].filter(isFilled)),
    new Map([...earlier.lists].filter(isFilled)),
    "lists taken back",
  );
}

/** Presence and count lists by their prefix (hex). */
function isDerived(key: string): boolean {
  return key.slice(8, 10) === "04" || key.slice(8, 10) === "07";
}
