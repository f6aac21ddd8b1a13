// Goal: the contract of a replicated log and its simulation hold on the naive twin, and a broken part is caught.
import { randomBytes } from "node:crypto";
import { describe, expect, it, test } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { makeSeededRandom } from "../../src/base/random.ts";
import { chainStart, type ChainPoint } from "../../src/log/chain.ts";
import { describeLog } from "../../src/log/contract.ts";
import { LogSimulation, type Simulation } from "../../src/log/contract/simulation.ts";
import { connectTwin, TwinEngine } from "../../src/log/contract/twin.ts";
import { LogFollower } from "../../src/log/follower.ts";
import { openBody, packBody, readHead, sealLogRecord } from "../../src/log/record.ts";
import type { ReplicatedLog, SealedRecord } from "../../src/log/replicated-log.ts";
import { takeOver } from "../../src/log/take-over.ts";

const runs = Number(process.env["WEFT_RUNS"] ?? 40);

describeLog(
  { describe, it },
  {
    name: "twin",
    random: makeSeededRandom,
    rounds: 20,
    steps: 300,
    async open() {
      const engine = new TwinEngine({ compares: true, isLazy: false });
      return { connect: async () => connectTwin(engine), close: async () => {} };
    },
  },
);

function lazyEvents(engine: TwinEngine): readonly (() => void)[] {
  const sync = (): void => engine.sync();
  return [sync, sync, sync, () => engine.failOver()];
}

type Kind = "exact" | "byNumber" | "lazy";

/** The first fault of some runs; undefined: none. */
async function findFault(
  kind: Kind,
  mutant: Partial<Simulation> = {},
  connect = connectTwin,
): Promise<string | undefined> {
  let acknowledged = 0;
  let terms = 0;
  const isMutant = Object.keys(mutant).length > 0 || connect !== connectTwin;
  // Found by the first or second; it stops there.
  for (let seed = 0; seed < runs * (isMutant ? 20 : 1); seed++) {
    const isLazy = kind === "lazy";
    const engine = new TwinEngine({ compares: kind !== "byNumber", isLazy });
    const simulation = new LogSimulation({
      random: makeSeededRandom(seed),
      clock: systemClock,
      connect: async () => connect(engine),
      steps: 400,
      flightsMax: kind === "byNumber" ? 3 : 1,
      events: isLazy ? lazyEvents(engine) : [],
      heal: () => engine.sync(),
      ...mutant,
    });
    const fault = await simulation.run();
    if (fault !== undefined) return `seed ${seed}: ${fault}`;
    acknowledged += simulation.counts.acknowledged;
    terms += simulation.counts.terms;
  }
  if (isMutant) return undefined;
  // Otherwise it says nothing.
  expect(acknowledged).toBeGreaterThan(runs * 5);
  expect(terms).toBeGreaterThan(runs * 3);
  return undefined;
}

describe("several leaders, delays, repeats, lost answers", () => {
  test.each<Kind>(["exact", "byNumber", "lazy"])("an engine that is %s", async (kind) => {
    expect(await findFault(kind)).toBeUndefined();
  });
});

/** Reads without one of the follower's rules. */
class CarelessFollower {
  readonly #log: ReplicatedLog;
  #point: ChainPoint;

  constructor(log: ReplicatedLog, point: ChainPoint) {
    this.#log = log;
    this.#point = point;
  }

  tell(): void {}

  /** Whatever stands there counts, as far as a later record says that it is kept. */
  async next(): ReturnType<LogFollower["next"]> {
    const records = await this.#log.read(this.#point.seq, 1_000_000);
    const heads = records.map((record) => readHead(record));
    const kept = Math.max(0, ...heads.map(({ durable }) => durable));
    const given: Awaited<ReturnType<LogFollower["next"]>>[number][] = [];
    for (const [i, record] of records.entries()) {
      const head = heads[i];
      if (head === undefined || head.seq > kept) break;
      this.#point = { seq: head.seq, sum: record.sum, term: head.term };
      given.push({ head, point: this.#point, ...(await openBody(record, head)) });
    }
    return given;
  }
}

/** A node that has applied what is not in the log finds nothing that follows it. */
const caught = /lost|differ|twice|nobody comes to lead|stays at/;

describe("a mutant is caught", () => {
  test("that applies void records", async () => {
    const openFollower: Simulation["openFollower"] = (log, _history, point) =>
      new CarelessFollower(log, point);
    expect(await findFault("byNumber", { openFollower })).toMatch(caught);
  });

  test("that applies what may vanish", async () => {
    const openFollower: Simulation["openFollower"] = (log, history, point) => {
      const follower = new LogFollower(log, history, point);
      follower.tell(Infinity);
      return follower;
    };
    expect(await findFault("lazy", { openFollower })).toMatch(caught);
  });

  test("that takes unknown for kept", async () => {
    const wrapLeader: Simulation["wrapLeader"] = (log) => ({
      ...log,
      append: (records) => log.append(records).catch(() => "kept" as const),
    });
    expect(await findFault("exact", { wrapLeader })).toMatch(caught);
  });

  test("that sends other bytes after an unknown answer", async () => {
    const wrapLeader: Simulation["wrapLeader"] = (log) => ({
      ...log,
      append: (records) =>
        log.append(records).catch(async (error: unknown) => {
          const [last] = records.slice(-1);
          if (last === undefined) throw error;
          // Taken for not kept: the same content once more, behind it.
          const fields = { ...readHead(last), seq: last.seq + 1, prev: last.sum };
          const again = sealLogRecord(fields, await packBody(await openBody(last, readHead(last))));
          return log.append([...records, again]);
        }),
    });
    expect(await findFault("exact", { wrapLeader })).toMatch(caught);
  });

  test("that overlooks a refusal of what stands in front", async () => {
    const wrapLeader: Simulation["wrapLeader"] = (log) => ({
      ...log,
      append: async (records) => {
        const appended = await log.append(records);
        return records.some(({ seq }) => seq % 3 === 0) ? "kept" : appended;
      },
    });
    expect(await findFault("byNumber", { wrapLeader })).toMatch(caught);
  });

  test("an engine that takes what is visible for durable", async () => {
    const connect = (engine: TwinEngine): ReplicatedLog => ({
      ...connectTwin(engine),
      append: async (records: readonly SealedRecord[]) => engine.append(records),
    });
    expect(await findFault("lazy", {}, connect)).toMatch(caught);
  });
});

describe("a record", () => {
  const fields = {
    history: randomBytes(16),
    seq: 7,
    term: 3,
    kind: "rows",
    rowFormat: 1,
    prev: randomBytes(32),
    durable: 5,
    firstTs: 100,
    lastTs: 2 ** 40,
    wallMs: 1_700_000_000_000,
  } as const;

  test("comes back as it was", async () => {
    const keys = randomBytes(24);
    const rows = Buffer.from("a row, and another. ".repeat(1000));
    const record = sealLogRecord(fields, await packBody({ keys, rows }));
    const head = readHead(record);
    expect(head).toMatchObject({ ...fields, isPacked: true, isInParts: false });
    expect(record.body.length).toBeLessThan(rows.length / 10);
    const body = await openBody(record, head);
    expect(Buffer.from(body.keys)).toEqual(keys);
    expect(Buffer.from(body.rows)).toEqual(rows);
  });

  test("with one bit changed is not read", async () => {
    const record = sealLogRecord(
      fields,
      await packBody({ keys: Buffer.of(1), rows: Buffer.of(2) }),
    );
    const body = Buffer.from(record.body);
    body[0] = 3;
    await expect(openBody({ ...record, body }, readHead(record))).rejects.toMatchObject({
      code: "E_LOG",
    });
  });

  test("of a later format is not skipped", async () => {
    const record = sealLogRecord(fields, await packBody({ keys: Buffer.of(), rows: Buffer.of() }));
    const head = Buffer.from(record.head);
    head.writeUInt8(99, 40);
    expect(() => readHead({ ...record, head })).toThrow("newer format");
  });

  test("behind another one, of another store or an older term does not count", async () => {
    const { LogChain } = await import("../../src/log/chain.ts");
    const nothing = await packBody({ keys: Buffer.of(), rows: Buffer.of() });
    const first = { ...fields, seq: 1, prev: chainStart.sum, kind: "begin" } as const;
    const begin = sealLogRecord(first, nothing);
    const second = { ...fields, seq: 2, prev: begin.sum } as const;
    const judge = (changed: Partial<typeof second>): boolean => {
      const chain = new LogChain(fields.history, chainStart);
      expect(chain.accept(begin)).toBeDefined();
      return chain.accept(sealLogRecord({ ...second, ...changed }, nothing)) !== undefined;
    };
    expect(judge({})).toBe(true);
    expect(judge({ history: randomBytes(16) })).toBe(false);
    expect(judge({ prev: randomBytes(32) })).toBe(false);
    expect(judge({ term: 2 as 3 })).toBe(false);
    expect(judge({ term: 4 as 3 })).toBe(false);
    expect(judge({ kind: "begin" as "rows" })).toBe(false);
    expect(judge({ kind: "begin" as "rows", term: 4 as 3 })).toBe(true);
    expect(() => judge({ seq: 3 as 2 })).toThrow("record 2 of the log is missing");
  });
});

test("a follower that waits asks for no more each time, and finds the mark behind large records", async () => {
  const engine = new TwinEngine({ compares: true, isLazy: false });
  const asked: number[] = [];
  const log: ReplicatedLog = connectTwin(engine);
  const read = log.read.bind(log);
  const watched = {
    ...log,
    read: (after: number, bytesMax: number) => {
      asked.push(bytesMax);
      return read(after, bytesMax);
    },
  };
  const history = randomBytes(16);
  const options = { history, rowFormat: 1, clock: systemClock, pause: async () => false };
  const taken = await takeOver(log, chainStart, { ...options, term: 1 });
  const follower = new LogFollower(watched, history, chainStart);
  for (let i = 0; i < 200; i++) expect(await follower.next()).toEqual([]);
  expect(new Set(asked).size).toBe(1);

  const large = randomBytes(9 * 1024 * 1024);
  for (const rows of [large, large]) await taken?.shipper.ship({ kind: "rows", rows });
  await taken?.shipper.ship({ kind: "barrier" });
  const sizes: number[] = [];
  for (let i = 0; i < 10; i++) {
    for (const record of await follower.next()) sizes.push(record.rows.length);
  }
  expect(sizes).toEqual([0, large.length, large.length]);
});
