/**
 * What every adapter of the port must do, as tests: each adapter's test file calls `describeStore` with its test
 * runner's functions and a way to open an empty store.
 */
import { must } from "../base/assert.ts";
import { emptyBytes, encodeUtf8, toHex } from "../base/bytes.ts";
import type { Random } from "../base/random.ts";
import {
  chunkKey,
  metaKey,
  moveKey,
  prefixRange,
  presenceList,
  recordKey,
  storageRange,
  tokenList,
} from "../codec/key.ts";
import { readWholeList, readWholeRecord } from "./contract/read-whole.ts";
import {
  checkUndo,
  compareToTwin,
  pick,
  randomPatch,
  same,
  storageId,
  Twin,
} from "./contract/twin.ts";
import { compareWalk } from "./contract/walk-log.ts";
import {
  StoreRefusal,
  type Change,
  type Derive,
  type FillResult,
  type Patch,
  type Snapshot,
  type Store,
} from "./store.ts";

/** The few functions of a test runner that the suite needs. */
interface Runner {
  readonly describe: (name: string, body: () => void) => void;
  readonly it: (name: string, body: () => Promise<void>) => void;
}

interface Contract {
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

/** The store with a slot: changes made by `makeChange` go out under it, as another process than the writer needs it. */
export async function underSlot(store: Store): Promise<Store> {
  const { slot, floorTs } = await store.claimSlot();
  return {
    ...store,
    commit: (change) =>
      store.commit({ ...change, id: { slot, floorTs, sequence: change.id.sequence } }),
  };
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

interface Suite extends Runner {
  readonly contract: Contract;
  /** An open store for one test. */
  readonly withStore: (body: (store: Store) => Promise<void>, derive?: Derive) => Promise<void>;
}

/** One snapshot for the length of a call. */
async function look<T>(store: Store, use: (snapshot: Snapshot) => Promise<T>): Promise<T> {
  const snapshot = await store.snapshot();
  try {
    return await use(snapshot);
  } finally {
    snapshot.close();
  }
}

function meta(name: string, value: string | undefined): Patch {
  return {
    kind: "meta",
    key: metaKey(storageId, name),
    value: value === undefined ? undefined : encodeUtf8(value),
    expected: "any",
  };
}

async function readMeta(snapshot: Snapshot, name: string): Promise<string | undefined> {
  let found: string | undefined;
  await snapshot.readMany([metaKey(storageId, name)], (_i, row) => {
    found = row === undefined ? undefined : String.fromCharCode(...row);
  });
  return found;
}

export function describeStore({ describe, it }: Runner, contract: Contract): void {
  const withStore: Suite["withStore"] = async (body, derive = () => []) => {
    const store = await contract.open(derive);
    try {
      await body(store);
    } finally {
      await store.close();
    }
  };
  const suite: Suite = { describe, it, contract, withStore };
  describeCommits(suite);
  describeBreaking(suite);
  describeJudgement(suite);
  describeUidsAndSlots(suite);
  describeLog(suite);
  describeSlices(suite);
  describePlacing(suite);
  describeRandom(suite);
}

function describeCommits({ describe, it, contract, withStore }: Suite): void {
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
          await snapshot.scan(range, (key) => names.push(lastLetter(key)) > 0);
          await snapshot.scan({ ...range, reverse: true }, (key, row) => {
            same(String.fromCharCode(...row), lastLetter(key), "value");
            names.push(lastLetter(key));
            return false;
          });
          same(names.join(""), "bcc", "names");
        });
      }));
  });
}

function describeBreaking({ describe, it, contract, withStore }: Suite): void {
  describe(`${contract.name}: a group`, () => {
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
}

function describeJudgement({ describe, it, contract, withStore }: Suite): void {
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

    it("a change that comes behind later ones is applied, and recognised when it comes again", () =>
      withStore(async (store) => {
        const early = makeChange({ patches: [meta("a", "1")] });
        const late = await store.commit(makeChange({ patches: [meta("b", "2")] }));
        const one = await store.commit(early);
        const newest = await store.commit(makeChange({ patches: [meta("c", "3")] }));
        const again = await store.commit(early);
        same([one.commitTs > late.commitTs, again.commitTs], [true, one.commitTs], "numbers");
        same(newest.commitTs > one.commitTs, true, "the newest");
      }));
  });
}

function describeUidsAndSlots({ describe, it, contract, withStore }: Suite): void {
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
}

/** Of a key made by `metaKey`. */
function lastLetter(key: Uint8Array): string {
  return String.fromCharCode(must(key.at(-1), "a key has a letter"));
}

function describeLog({ describe, it, contract, withStore }: Suite): void {
  describe(`${contract.name}: log`, () => {
    it("gives commits in order with what they changed", () =>
      withStore(async (store) => {
        const from = await look(store, async (snapshot) => snapshot.ts);
        const log = encodeUtf8("facts");
        await store.commit(makeChange({ patches: [meta("a", "1")], log }));
        await store.commit(makeChange({ patches: [meta("a", "2")] }));
        await look(store, async (snapshot) => {
          const commits = must(await store.readLog(snapshot, from), "the log goes back that far");
          same(commits.length, 2, "entries");
          const first = must(commits[0], "there are two");
          const second = must(commits[1], "there are two");
          same(toHex(first.log), toHex(log), "facts");
          same(second.applied.length, 1, "patches");
          const before = must(second.applied[0]?.before, "there was a row before");
          same(toHex(before), toHex(encodeUtf8("1")), "before");
          same(await store.readLog(snapshot, snapshot.ts), [], "nothing new");
          await compareWalk(store, snapshot, from);
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
        same(must(seen.at(-1), "a listener is woken") >= commitTs, true, "woken");
      }));
  });
}

function describeSlices({ describe, it, contract, withStore }: Suite): void {
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
        let done = false;
        for (let after = 0; !done; slices++) {
          const next = { ...job, after };
          // oxlint-disable-next-line unicorn/no-array-fill-with-reference-type -- not an array's
          const slice: FillResult = await store.fill(next);
          after = slice.after;
          done = slice.done;
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
}

function describePlacing({ describe, it, contract, withStore }: Suite): void {
  describe(`${contract.name}: rows of another store`, () => {
    const member = (uid: number): Patch => ({
      kind: "member",
      list: tokenList(storageId, 20, encodeUtf8("t")),
      member: uid,
      add: true,
      facets: undefined,
      countIndex: 0,
      owner: 0,
    });

    it("come under an id of their own, and are read as they were", () =>
      withStore(async (store) => {
        const uids = Array.from({ length: 900 }, (_, i) => i * 3 + 1);
        await store.commit(makeChange({ patches: uids.map(member) }));
        const rows: { key: Uint8Array; value: Uint8Array }[] = [];
        await look(store, async (snapshot) => {
          await snapshot.scan(storageRange(storageId), (key, value) => {
            rows.push({ key: moveKey(key, storageId + 1), value: value.slice() });
            return true;
          });
        });
        // Of a process beside the writer: the one that its changes go out under.
        const [[slot, floorTs] = [0, 0]] = await store.slots();
        const far = 2 ** 40;
        await store.place({ slot, floorTs, rows, uids: [500_000, far] });
        await store.commit(makeChange({}));
        const list = tokenList(storageId + 1, 20, encodeUtf8("t"));
        const members = await look(store, (snapshot) => readWholeList(snapshot, list));
        same([...members.keys()], uids, "members");
        same((await store.lease(1)) > 500_000, true, "uids of the rows are passed over");
        const foreign = { slot, floorTs: floorTs + 1, rows, uids: [] };
        same(await refusalOf(store.place(foreign)), "slot", "of whoever has no slot");
      }));

    it("come with a commit before which the log does not reach back", () =>
      withStore(async (store) => {
        await store.commit(makeChange({}));
        const [first, begun, after] = await Promise.all([
          store.commit(makeChange({ patches: [meta("before", "1")] })),
          store.commit(makeChange({ patches: [meta("begun", "1")], beginsLog: true })),
          store.commit(makeChange({ patches: [meta("after", "1")] })),
        ]);
        same(begun.commitTs, first.commitTs + 2, "a number is left out");
        await look(store, async (snapshot) => {
          same(await store.readLog(snapshot, first.commitTs), undefined, "from before");
          const commits = await store.readLog(snapshot, begun.commitTs - 1);
          same(
            commits?.map(({ commitTs }) => commitTs),
            [begun.commitTs, after.commitTs],
            "since",
          );
          same(await readMeta(snapshot, "begun"), "1", "what it wrote");
        });
      }));
  });
}

function describeRandom(suite: Suite): void {
  const { describe, it, contract } = suite;
  describe(`${contract.name}: random patches against a naive twin`, () => {
    for (let round = 0; round < contract.rounds; round++) {
      it(`seed ${round}`, () => runRandom(suite, round));
    }
  });
}

async function runRandom({ contract, withStore }: Suite, seed: number): Promise<void> {
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
        checkUndo(
          twin,
          earlier,
          must(await store.readLog(snapshot, before), "the log goes back that far"),
        );
        await compareWalk(store, snapshot, before);
      });
    }
  });
}
