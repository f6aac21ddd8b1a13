/**
 * What every adapter of the log's port must do, as tests (reference/log 1): each adapter's test file calls
 * `describeLog` with its test runner's functions and a way to open an empty log; `weft certify` calls it with a runner
 * of its own.
 */
import { assert, must } from "../base/assert.ts";
import { systemClock } from "../base/clock.ts";
import type { Random } from "../base/random.ts";
import { makeRecords } from "./contract/records.ts";
import { LogSimulation } from "./contract/simulation.ts";
import { noSum } from "./record.ts";
import { LogTrimmed, type ReplicatedLog, type SealedRecord } from "./replicated-log.ts";

/** The few functions of a test runner that the suite needs. */
interface Runner {
  readonly describe: (name: string, body: () => void) => void;
  readonly it: (name: string, body: () => Promise<void>) => void;
}

/** A log that holds nothing yet. */
interface EmptyLog {
  /** Another client of it, as another process would have one. */
  connect(): Promise<ReplicatedLog>;
  /** Closes the clients, too. */
  close(): Promise<void>;
}

interface LogContract {
  readonly name: string;
  open(): Promise<EmptyLog>;
  random(this: void, seed: number): Random;
  /** Runs of the simulation, and steps of each. */
  readonly rounds: number;
  readonly steps: number;
  /** Of its first run. */
  readonly seed?: number;
}

type Body = (log: ReplicatedLog, other: ReplicatedLog) => Promise<void>;

export function describeLog({ describe, it }: Runner, contract: LogContract): void {
  const withLogs = (body: Body) => async (): Promise<void> => {
    const empty = await contract.open();
    try {
      await body(await empty.connect(), await empty.connect());
    } finally {
      await empty.close();
    }
  };
  describe(`a replicated log: ${contract.name}`, () => {
    for (const [name, body] of Object.entries({ ...appending, ...reading, ...leases })) {
      it(name, withLogs(body));
    }
    it("keeps its promises under several leaders at once", () => simulate(contract));
  });
}

async function simulate(contract: LogContract): Promise<void> {
  const { random, rounds, steps, seed = 1 } = contract;
  for (let round = 0; round < rounds; round++) {
    const empty = await contract.open();
    try {
      const fault = await new LogSimulation({
        random: random(seed + round),
        clock: systemClock,
        connect: () => empty.connect(),
        steps,
        flightsMax: 1,
      }).run();
      if (fault !== undefined) throw new Error(`seed ${seed + round}: ${fault}`);
    } finally {
      await empty.close();
    }
  }
}

const appending: Readonly<Record<string, Body>> = {
  async "is empty at first"(log) {
    same(await log.tail(), 0);
    same(await log.read(0, 1000), []);
  },

  async "gives back the bytes that were appended, to everybody"(log, other) {
    const records = await makeRecords(["a", "b", "c", "d"]);
    same(await log.append(records.slice(0, 1)), "kept");
    same(await log.append(records.slice(1)), "kept");
    same(await other.tail(), 4);
    sameRecords(await other.read(0, 1_000_000), records);
    sameRecords(await log.read(2, 1_000_000), records.slice(2));
    same(await log.read(4, 1_000_000), []);
  },

  async "says kept of the same bytes again, and keeps them once"(log, other) {
    const records = await makeRecords(["a", "b"]);
    same(await log.append(records), "kept");
    same(await log.append(records), "kept");
    same(await other.append(records.slice(1)), "kept");
    sameRecords(await other.read(0, 1_000_000), records);
  },

  async "gives a number once"(log, other) {
    const [first, ours] = await makeRecords(["a", "ours"]);
    const [theirs] = await makeRecords(["theirs"], first);
    same(await log.append([given(first), given(ours)]), "kept");
    same(await other.append([given(theirs)]), "fenced");
    sameRecords(await other.read(0, 1_000_000), [given(first), given(ours)]);
  },

  async "keeps nothing behind what it does not have"(log) {
    const [first, second, third] = await makeRecords(["a", "b", "c"]);
    const [strange] = await makeRecords(["d"], { seq: 1, sum: noSum });
    same(await log.append([given(second)]), "fenced");
    same(await log.append([given(first)]), "kept");
    same(await log.append([given(third)]), "fenced");
    same(await log.append([given(strange)]), "fenced");
    same(await log.tail(), 1);
  },

  async "lets one of two through that append at once"(log, other) {
    const [first] = await makeRecords(["a"]);
    same(await log.append([given(first)]), "kept");
    let last = given(first);
    for (let i = 0; i < 10; i++) {
      const ours = await makeRecords([`ours ${i}`, "and more"], last);
      const theirs = await makeRecords([`theirs ${i}`], last);
      const answers = await Promise.all([log.append(ours), other.append(theirs)]);
      same([...answers].sort(), ["fenced", "kept"]);
      const kept = answers[0] === "kept" ? ours : theirs;
      sameRecords(await log.read(last.seq, 1_000_000), kept);
      last = given(kept.at(-1));
    }
  },

  async "keeps large bodies"(log, other) {
    const noise = makeNoise(3 * 1024 * 1024);
    const records = await makeRecords(["a", noise, noise.slice(1), "d"]);
    same(await log.append(records), "kept");
    same(await log.append(records), "kept");
    sameRecords(await other.read(0, 100_000_000), records);
  },
};

const reading: Readonly<Record<string, Body>> = {
  async "reads as much as it is asked for, and at least one"(log) {
    const noise = makeNoise(1000);
    const records = await makeRecords([noise, noise, noise, noise]);
    same(await log.append(records), "kept");
    sameRecords(await log.read(0, 1), records.slice(0, 1));
    sameRecords(await log.read(1, 1), records.slice(1, 2));
    const some = await log.read(0, 2500);
    assert(some.length >= 2 && some.length <= 3, `${some.length} records for 2,500 bytes`);
  },

  async "forgets what is trimmed, and nothing gets its place"(log, other) {
    const records = await makeRecords(["a", "b", "c", "d", "e"]);
    same(await log.append(records), "kept");
    await log.trim(4);
    await trimmed(other.read(0, 1000), 4);
    await trimmed(other.read(2, 1000), 4);
    sameRecords(await other.read(3, 1_000_000), records.slice(3));
    same(await other.append(records.slice(0, 1)), "fenced");
    same(await other.append(records.slice(1, 2)), "fenced");
    const [again] = await makeRecords(["of another store"]);
    same(await other.append([given(again)]), "fenced");
    await trimmed(log.read(0, 1000), 4);
    same(await log.tail(), 5);
    const [next] = await makeRecords(["f"], records.at(-1));
    same(await other.append([given(next)]), "kept");
    sameRecords(await log.read(3, 1_000_000), [...records.slice(3), given(next)]);
  },

  async "keeps the newest record, whatever is trimmed"(log, other) {
    const records = await makeRecords(["a", "b"]);
    same(await log.append(records), "kept");
    await log.trim(100);
    sameRecords(await other.read(1, 1000), records.slice(1));
    const [next] = await makeRecords(["c"], records.at(-1));
    same(await other.append([given(next)]), "kept");
    same(await log.tail(), 3);
  },

  async "wakes those who watch"(log, other) {
    const [first] = await makeRecords(["a"]);
    let wakes = 0;
    let stop = (): void => {};
    const woken = new Promise<void>((resolve) => {
      stop = other.watch(() => {
        wakes++;
        resolve();
      });
    });
    same(await log.append([given(first)]), "kept");
    await woken;
    stop();
    assert(wakes > 0, "it was woken");
  },
};

const leases: Readonly<Record<string, Body>> = {
  async "has a lease that one holds"(log, other) {
    const none = await log.lease.read();
    same({ term: none.term, address: none.address }, { term: 0, address: "" });
    same(await log.lease.take(none, { term: 1, node: "a", address: "a:1", lastsMs: 3000 }), true);
    same(
      await other.lease.take(none, { term: 2, node: "b", address: "b:1", lastsMs: 3000 }),
      false,
    );
    const held = await other.lease.read();
    same(held.lastsMs, 3000);
    same({ term: held.term, node: held.node, address: held.address }, owner(1, "a"));
    same(await log.lease.beat(1), true);
    same(
      await other.lease.take(held, { term: 2, node: "b", address: "b:1", lastsMs: 3000 }),
      false,
    );
    const beaten = await other.lease.read();
    assert(beaten.beat > held.beat, "a beat can be seen");
    same(
      await other.lease.take(beaten, { term: 2, node: "b", address: "b:1", lastsMs: 3000 }),
      true,
    );
    same(await log.lease.beat(1), false);
    same(await other.lease.beat(2), true);
    await log.lease.giveUp(1);
    same(await other.lease.beat(2), true);
    await other.lease.giveUp(2);
    same((await log.lease.read()).beat, -1);
    same(await other.lease.beat(2), false);
  },

  async "keeps the newest wish of each machine"(log, other) {
    same(await log.lease.wishes(), []);
    await log.lease.wish({ node: "a", address: "a:1", term: 3, count: 1, reaches: [] });
    await other.lease.wish({ node: "b", address: "b:1", term: 3, count: 1, reaches: ["a"] });
    await log.lease.wish({ node: "a", address: "a:1", term: 4, count: 2, reaches: ["b", "c"] });
    const found = [...(await other.lease.wishes())].toSorted((x, y) => (x.node < y.node ? -1 : 1));
    same(found, [
      { node: "a", address: "a:1", term: 4, count: 2, reaches: ["b", "c"] },
      { node: "b", address: "b:1", term: 3, count: 1, reaches: ["a"] },
    ]);
  },

  async "gives the lease to one of two who take it at once"(log, other) {
    for (let i = 0; i < 10; i++) {
      const seen = await log.lease.read();
      const term = seen.term + 1;
      const taken = await Promise.all([
        log.lease.take(seen, { term, node: "a", address: "a:1", lastsMs: 3000 }),
        other.lease.take(seen, { term, node: "b", address: "b:1", lastsMs: 3000 }),
      ]);
      assert(taken[0] !== taken[1], "one of them has it");
      same((await log.lease.read()).node, taken[0] ? "a" : "b");
    }
  },
};

function owner(term: number, node: string): object {
  return { term, node, address: `${node}:1` };
}

async function trimmed(promise: Promise<unknown>, first: number): Promise<void> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof LogTrimmed) {
      same(error.first, first);
      return;
    }
    throw error;
  }
  throw new Error("something was read that was trimmed");
}

function given(record: SealedRecord | undefined): SealedRecord {
  return must(record, "as many were made");
}

/** Text that does not pack well. */
function makeNoise(length: number): string {
  let text = "";
  let state = 1;
  while (text.length < length) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    text += String.fromCharCode(33 + ((state >>> 16) % 90));
  }
  return text;
}

function sameRecords(found: readonly SealedRecord[], expected: readonly SealedRecord[]): void {
  same(
    found.map(({ seq, sum }) => `${seq} ${sum.toString("hex")}`),
    expected.map(({ seq, sum }) => `${seq} ${sum.toString("hex")}`),
  );
  for (const [i, { head, body, prev }] of expected.entries()) {
    const record = given(found[i]);
    assert(record.head.equals(head), `the head of record ${record.seq} is as it was`);
    assert(record.body.equals(body), `the body of record ${record.seq} is as it was`);
    assert(record.prev.equals(prev), `record ${record.seq} stands where it stood`);
  }
}

function same(found: unknown, expected: unknown): void {
  const [a, b] = [found, expected].map((value) => JSON.stringify(value));
  if (a !== b) throw new Error(`${a} is not ${b}`);
}
