/**
 * What every adapter of the port must do, as tests: each adapter's test file calls `describeStore` with its test
 * runner's functions and a way to open an empty store.
 */
import { assert } from "../base/assert.ts";
import { emptyBytes, encodeUtf8, toHex } from "../base/bytes.ts";
import type { Random } from "../base/random.ts";
import {
  chunkCount,
  chunkMembers,
  decodeHead,
  isHead,
  listCount,
  visitChunkFacets,
} from "../codec/chunk.ts";
import {
  chunkKey,
  countList,
  metaKey,
  presenceList,
  prefixRange,
  recordKey,
  reverseList,
  tokenList,
  longList,
  wideKey,
} from "../codec/key.ts";
import {
  entryChunk,
  entryKind,
  furtherParts,
  isWideStub,
  kindOfEntry,
  readEntries,
  visitCells,
} from "../codec/record.ts";
import {
  StoreRefusal,
  type Change,
  type Commit,
  type Derive,
  type Patch,
  type Snapshot,
  type Store,
} from "./store.ts";

/** The few functions of a test runner that the suite needs. */
export interface Runner {
  describe(name: string, body: () => void): void;
  it(name: string, body: () => Promise<void>): void;
}

export interface Contract {
  readonly name: string;
  /** An empty store; `derive` as the process that composes would hand it in. */
  open(derive: Derive): Promise<Store>;
  /** Seeds for the random tests. */
  random(seed: number): Random;
  readonly rounds: number;
}

let sequence = 0;

export function makeChange(parts: Partial<Change>): Change {
  return {
    id: { slot: 0, floorTs: 0, sequence: ++sequence },
    startTs: 0,
    basisTs: 0,
    fence: 0,
    conflictKeys: [],
    basisKeys: [],
    patches: [],
    log: emptyBytes,
    ...parts,
  };
}

/** Every member of a list with its facets (hex), through a snapshot. */
export async function readWholeList(
  snapshot: Snapshot,
  list: Uint8Array,
): Promise<Map<number, string>> {
  const found = new Map<number, string>();
  let declared = 0;
  let chunks = 0;
  const take = (row: Uint8Array): void => {
    const uids = chunkMembers(row);
    for (const uid of uids) {
      assert(!found.has(uid), "a member is in one chunk");
      found.set(uid, "");
    }
    visitChunkFacets(row, (place, bytes) => found.set(uids[place]!, toHex(bytes)));
    assert(chunkCount(row) === uids.length, "a chunk knows its count");
    chunks++;
  };
  const { start, end } = prefixRange(list);
  let head: ReturnType<typeof decodeHead> | undefined;
  let isFirst = true;
  await snapshot.scan({ start, end }, (key, row) => {
    if (key.length !== list.length + 8) return true;
    if (isFirst) declared = listCount(row);
    isFirst = false;
    if (isHead(row)) head = decodeHead(row);
    else take(row);
    return true;
  });
  assert(found.size === declared, "a list's head has the exact count");
  assert(head === undefined || head.chunks === chunks, "a list's head knows its chunks");
  assert(head === undefined || chunks > 1, "a list of one chunk has no head");
  return found;
}

/** A node as the suite compares it: predicate → slots with cells, or targets with facets, all as text. */
export async function readWholeRecord(
  snapshot: Snapshot,
  storageId: number,
  uid: number,
): Promise<Map<number, Map<string, string>>> {
  const node = new Map<number, Map<string, string>>();
  const rows: Uint8Array[] = [];
  await snapshot.readMany([recordKey(storageId, uid)], (_i, row) => {
    if (row !== undefined) rows.push(row.slice());
  });
  if (rows.length === 0) return node;
  const further = furtherParts(rows[0]!).map((first) => recordKey(storageId, uid, first));
  await snapshot.readMany(further, (_i, row) => {
    assert(row !== undefined, "part 0 names parts that are there");
    rows.push(row.slice());
  });
  let previous = 0;
  for (const row of rows) {
    for (const { predicate, bytes } of readEntries(row)) {
      assert(predicate > previous, "predicates ascend through the parts");
      previous = predicate;
      node.set(predicate, await readWholeEntry(snapshot, { storageId, uid, predicate }, bytes));
    }
  }
  return node;
}

async function readWholeEntry(
  snapshot: Snapshot,
  at: { storageId: number; uid: number; predicate: number },
  bytes: Uint8Array,
): Promise<Map<string, string>> {
  const values = new Map<string, string>();
  const { storageId, uid, predicate } = at;
  if (kindOfEntry(bytes) === entryKind.long) {
    const list = await readWholeList(snapshot, longList(storageId, predicate, uid));
    for (const [target, facets] of list) values.set(String(target), facets);
  } else if (kindOfEntry(bytes) === entryKind.edges) {
    const chunk = entryChunk(bytes);
    const uids = chunkMembers(chunk);
    for (const target of uids) values.set(String(target), "");
    visitChunkFacets(chunk, (place, facets) => values.set(String(uids[place]!), toHex(facets)));
  } else {
    const wide: string[] = [];
    visitCells(bytes, (slot, cell) => {
      if (isWideStub(cell)) wide.push(slot);
      else values.set(slot, toHex(cell));
    });
    const keys = wide.map((slot) => wideKey(storageId, predicate, uid, slot));
    await snapshot.readMany(keys, (i, cell) => {
      assert(cell !== undefined, "a wide cell has its row");
      values.set(wide[i]!, toHex(cell));
    });
  }
  return values;
}

function same(found: unknown, wanted: unknown, sentence: string): void {
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

async function refusalOf(promise: Promise<unknown>): Promise<string> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof StoreRefusal) return error.reason;
    throw error;
  }
  return "none";
}

const storageId = 3;

/** The naive twin: maps, and every derived list made anew from them. */
class Twin {
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

async function compareToTwin(snapshot: Snapshot, twin: Twin): Promise<void> {
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

function pick<T>(random: Random, items: readonly T[]): T {
  return items[Math.floor(random.next() * items.length)]!;
}

const tokens = ["a", "a\u0000b", "b", "\u0001"].map((text) => encodeUtf8(text));

/** Predicates 1 and 2 hold cells, 3 and 4 edges, 5 long texts; 2 and 4 are counted. */
function randomPatch(random: Random, span: number, isRemoving: boolean): Patch {
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
function undo(twin: Twin, commit: Commit): void {
  for (const { patch, existed, before } of commit.applied.toReversed()) {
    if (patch.kind === "cell") twin.apply({ ...patch, cell: existed ? before : undefined });
    else if (patch.kind !== "meta") twin.apply({ ...patch, add: existed, facets: before });
  }
}

export function describeStore({ describe, it }: Runner, contract: Contract): void {
  const open = (derive: Derive = () => []): Promise<Store> => contract.open(derive);

  const withStore = async (
    body: (store: Store) => Promise<void>,
    derive?: Derive,
  ): Promise<void> => {
    const store = await open(derive);
    try {
      await body(store);
    } finally {
      await store.close();
    }
  };

  const look = async <T>(store: Store, use: (snapshot: Snapshot) => Promise<T>): Promise<T> => {
    const snapshot = await store.snapshot();
    try {
      return await use(snapshot);
    } finally {
      snapshot.close();
    }
  };

  const meta = (name: string, value: string | undefined): Patch => ({
    kind: "meta",
    key: metaKey(storageId, name),
    value: value === undefined ? undefined : encodeUtf8(value),
    expected: "any",
  });

  const readMeta = (snapshot: Snapshot, name: string): Promise<string | undefined> => {
    let found: string | undefined;
    return Promise.resolve(
      snapshot.readMany([metaKey(storageId, name)], (_i, row) => {
        found = row === undefined ? undefined : String.fromCharCode(...row);
      }),
    ).then(() => found);
  };

  describe(`${contract.name}: commits and snapshots`, () => {
    it("a commit is seen by every later snapshot and by no earlier one", () =>
      withStore(async (store) => {
        const before = await store.snapshot();
        const { commitTs } = await store.commit(makeChange({ patches: [meta("a", "1")] }));
        await look(store, async (after) => {
          same(await readMeta(after, "a"), "1", "after");
          same(after.ts, commitTs, "number");
        });
        same(await readMeta(before, "a"), undefined, "before");
        same(before.ts < commitTs, true, "numbers rise");
        before.close();
      }));

    it("many commits at once all get numbers of their own", () =>
      withStore(async (store) => {
        const changes = Array.from({ length: 40 }, (_, i) =>
          store.commit(makeChange({ patches: [meta(`k${i}`, String(i))] })),
        );
        const numbers = new Set((await Promise.all(changes)).map(({ commitTs }) => commitTs));
        same(numbers.size, 40, "numbers");
        await look(store, async (snapshot) => {
          for (let i = 0; i < 40; i++) same(await readMeta(snapshot, `k${i}`), String(i), "row");
        });
      }));

    it("scans in order, backwards too, and stops when told", () =>
      withStore(async (store) => {
        await store.commit(
          makeChange({ patches: ["a", "b", "c", "d"].map((name) => meta(name, name)) }),
        );
        const range = { start: metaKey(storageId, "b"), end: metaKey(storageId, "d") };
        await look(store, async (snapshot) => {
          const names: string[] = [];
          await snapshot.scan(range, (key) => names.push(String.fromCharCode(key.at(-1)!)) > 0);
          await snapshot.scan({ ...range, reverse: true }, (key, row) => {
            same(String.fromCharCode(...row), String.fromCharCode(key.at(-1)!), "value");
            names.push(String.fromCharCode(key.at(-1)!));
            return false;
          });
          same(names.join(""), "bcc", "names");
        });
      }));

    it("a change that breaks is left out, its neighbours are committed", () =>
      withStore(async (store) => {
        const edge = {
          kind: "edge",
          storageId,
          uid: 1,
          predicate: 3,
          target: 2,
          add: true,
          facets: undefined,
          countIndex: 0,
        } as const;
        const cell = { kind: "cell", storageId, uid: 1, predicate: 3, slot: "" } as const;
        const bytes = new Uint8Array([1, 4, 34, 34]);
        await store.commit(makeChange({ patches: [edge] }));
        const results = await Promise.allSettled([
          store.commit(makeChange({ patches: [meta("a", "1")] })),
          store.commit(
            makeChange({ patches: [meta("x", "1"), { ...cell, cell: bytes, countIndex: 0 }] }),
          ),
          store.commit(makeChange({ patches: [meta("b", "2")] })),
        ]);
        same(
          results.map((result) => result.status),
          ["fulfilled", "rejected", "fulfilled"],
          "results",
        );
        await look(store, async (snapshot) => {
          same(await readMeta(snapshot, "a"), "1", "a");
          same(await readMeta(snapshot, "b"), "2", "b");
          same(await readMeta(snapshot, "x"), undefined, "x");
        });
      }));
  });

  describe(`${contract.name}: what decides a commit`, () => {
    it("first committer wins", () =>
      withStore(async (store) => {
        const first = await store.commit(makeChange({ conflictKeys: ["k"] }));
        const late = makeChange({ conflictKeys: ["k"], startTs: first.commitTs - 1 });
        same(await refusalOf(store.commit(late)), "conflict", "late");
        const next = makeChange({ conflictKeys: ["k"], startTs: first.commitTs });
        same(await refusalOf(store.commit(next)), "none", "next");
      }));

    it("changes of one group are judged against each other", () =>
      withStore(async (store) => {
        const reasons = await Promise.all(
          [1, 2, 3].map(() => refusalOf(store.commit(makeChange({ conflictKeys: ["k"] })))),
        );
        same(reasons.toSorted(), ["conflict", "conflict", "none"], "reasons");
      }));

    it("a record that changed after the basis refuses with basis", () =>
      withStore(async (store) => {
        const { commitTs } = await store.commit(makeChange({ basisKeys: ["r"] }));
        const stale = makeChange({ basisKeys: ["r"], startTs: commitTs, basisTs: commitTs - 1 });
        same(await refusalOf(store.commit(stale)), "basis", "stale");
        const fresh = makeChange({ basisKeys: ["r"], basisTs: commitTs });
        same(await refusalOf(store.commit(fresh)), "none", "fresh");
      }));

    it("a raised fence refuses what was derived before it", () =>
      withStore(async (store) => {
        const { commitTs } = await store.commit(makeChange({ raisesFence: true }));
        same(await refusalOf(store.commit(makeChange({}))), "fence", "old");
        await look(store, async (snapshot) => {
          same(snapshot.fence, commitTs, "fence");
          const change = makeChange({ fence: snapshot.fence });
          same(await refusalOf(store.commit(change)), "none", "new");
        });
      }));

    it("a row that is not what was expected refuses with schema", () =>
      withStore(async (store) => {
        const key = metaKey(storageId, "schema");
        const patch = { kind: "meta", key, value: encodeUtf8("2"), expected: undefined } as const;
        same(await refusalOf(store.commit(makeChange({ patches: [patch] }))), "none", "new");
        same(await refusalOf(store.commit(makeChange({ patches: [patch] }))), "schema", "again");
        const change = makeChange({ patches: [{ ...patch, expected: encodeUtf8("2") }] });
        same(await refusalOf(store.commit(change)), "none", "matching");
      }));

    it("a change that is sent twice is applied once", () =>
      withStore(async (store) => {
        const change = makeChange({ conflictKeys: ["k"], patches: [meta("a", "1")] });
        const [one, two] = await Promise.all([store.commit(change), store.commit(change)]);
        const three = await store.commit(change);
        same([two.commitTs, three.commitTs], [one.commitTs, one.commitTs], "numbers");
      }));
  });

  describe(`${contract.name}: uids and slots`, () => {
    it("hands out each uid once, and none that was reserved", () =>
      withStore(async (store) => {
        const first = await store.lease(10);
        await store.reserve(first + 12);
        const second = await store.lease(5);
        same(second > first + 12, true, "above the reserved one");
        await store.reserve(2 ** 53 - 10);
        const third = await store.lease(25_000);
        same(third >= second + 5 && third < 2 ** 40, true, "a far uid does not raise the lease");
        const far = third + 25_000 + (1 << 20) + 5;
        await store.reserve(far);
        const fourth = await store.lease((1 << 20) + 10);
        same(fourth > far || fourth + (1 << 20) + 10 <= far, true, "passed over");
      }));

    it("gives each process a slot with its floor", () =>
      withStore(async (store) => {
        const one = await store.claimSlot();
        const two = await store.claimSlot();
        same(one.slot !== two.slot && two.floorTs > one.floorTs, true, "slots differ");
        const slots = await store.slots();
        same(slots.get(two.slot), two.floorTs, "floor");
      }));
  });

  describe(`${contract.name}: log`, () => {
    it("gives commits in order with what they changed", () =>
      withStore(async (store) => {
        const from = await look(store, async (snapshot) => snapshot.ts);
        const log = encodeUtf8("facts");
        await store.commit(makeChange({ patches: [meta("a", "1")], log }));
        await store.commit(makeChange({ patches: [meta("a", "2")] }));
        await look(store, async (snapshot) => {
          const commits = (await store.readLog(snapshot, from))!;
          same(commits.length, 2, "entries");
          same(toHex(commits[0]!.log), toHex(log), "facts");
          same(commits[1]!.applied.length, 1, "patches");
          same(toHex(commits[1]!.applied[0]!.before!), toHex(encodeUtf8("1")), "before");
          same(await store.readLog(snapshot, snapshot.ts), [], "nothing new");
        });
      }));

    it("wakes listeners after a commit", () =>
      withStore(async (store) => {
        const seen: number[] = [];
        const stop = store.onCommit((ts) => seen.push(ts));
        const { commitTs } = await store.commit(makeChange({}));
        for (let i = 0; i < 50 && seen.length === 0; i++) {
          await new Promise((resolve) => setTimeout(resolve, 2));
        }
        stop();
        same(seen.at(-1)! >= commitTs, true, "woken");
      }));
  });

  describe(`${contract.name}: index builds and sweeps`, () => {
    const name = (uid: number): Patch => ({
      kind: "cell",
      storageId,
      uid,
      predicate: 1,
      slot: "",
      cell: new Uint8Array([1, 4, 34, 34]),
      countIndex: 0,
    });
    const list = tokenList(storageId, 20, encodeUtf8("t"));

    it("fills in slices and sweeps away", () => {
      const derive: Derive = (snapshot, job, uids) => {
        const patches: Patch[] = [];
        for (const uid of uids) {
          void snapshot.readMany([recordKey(job.storageId, uid)], (_i, row) => {
            if (row === undefined) return;
            const facets = undefined;
            const member = { kind: "member", list, member: uid, add: true, facets } as const;
            patches.push({ ...member, countIndex: 0, owner: 0 });
          });
        }
        return patches;
      };
      return withStore(async (store) => {
        const uids = Array.from({ length: 30 }, (_, i) => i * 3 + 1);
        await store.commit(makeChange({ patches: uids.map(name) }));
        const job = { storageId, predicate: 1, limit: 7, detail: emptyBytes };
        let slices = 0;
        for (let at = { after: 0, done: false }; !at.done; slices++) {
          at = await store.fill({ ...job, after: at.after });
        }
        same(slices >= 5, true, "slices");
        await store.commit(makeChange({}));
        const members = await look(store, (snapshot) => readWholeList(snapshot, list));
        same([...members.keys()], uids, "members");
        const request = { storageId, index: 20, predicate: 1, limit: 8 } as const;
        while (!(await store.sweep({ ...request, kind: "index" })).done);
        while (!(await store.sweep({ ...request, kind: "predicate" })).done);
        await store.commit(makeChange({}));
        await look(store, async (snapshot) => {
          same((await readWholeList(snapshot, list)).size, 0, "index");
          same((await readWholeList(snapshot, presenceList(storageId, 1))).size, 0, "presence");
          for (const uid of uids) {
            same((await readWholeRecord(snapshot, storageId, uid)).size, 0, "record");
          }
        });
        await store.commit(makeChange({ patches: uids.map(name) }));
        while (!(await store.sweep({ ...request, kind: "storage" })).done);
        await store.commit(makeChange({}));
        await look(store, async (snapshot) => {
          let rows = 0;
          await snapshot.scan(prefixRange(chunkKey(list, 0).subarray(0, 4)), () => ++rows > 0);
          same(rows, 0, "rows of the storage id");
        });
      }, derive);
    });
  });

  describe(`${contract.name}: random patches against a naive twin`, () => {
    for (let round = 0; round < contract.rounds; round++) {
      it(`seed ${round}`, () => runRandom(contract, round, withStore, look));
    }
  });
}

async function runRandom(
  contract: Contract,
  seed: number,
  withStore: (body: (store: Store) => Promise<void>) => Promise<void>,
  look: <T>(store: Store, use: (snapshot: Snapshot) => Promise<T>) => Promise<T>,
): Promise<void> {
  const random = contract.random(seed);
  const span = pick(random, [12, 200, 2000]);
  await withStore(async (store) => {
    const twin = new Twin();
    for (let step = 0; step < 24; step++) {
      const isRemoving = step % 6 >= 4;
      const changes = Array.from({ length: 1 + Math.floor(random.next() * 4) }, () =>
        makeChange({
          patches: Array.from({ length: Math.floor(random.next() * 60) }, () =>
            randomPatch(random, span, isRemoving),
          ),
        }),
      );
      const before = await look(store, async (snapshot) => snapshot.ts);
      await Promise.all(changes.map((change) => store.commit(change)));
      const earlier = structuredClone({ nodes: twin.nodes, lists: twin.lists });
      for (const change of changes) for (const patch of change.patches) twin.apply(patch);
      await look(store, async (snapshot) => {
        if (step % 3 === 0 || step > 20) await compareToTwin(snapshot, twin);
        checkUndo(twin, earlier, (await store.readLog(snapshot, before))!);
      });
    }
  });
}

function checkUndo(
  twin: Twin,
  earlier: Pick<Twin, "nodes" | "lists">,
  commits: readonly Commit[],
): void {
  const back = new Twin();
  for (const [uid, node] of structuredClone(twin.nodes)) back.nodes.set(uid, node);
  for (const [key, list] of structuredClone(twin.lists)) back.lists.set(key, list);
  const derived = new Set([...twin.derived().keys()]);
  for (const commit of commits.toReversed()) undo(back, commit);
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
