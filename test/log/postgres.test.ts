// Goal: the log in PostgreSQL keeps the contract, and is not deceived by what PostgreSQL shows or says when its standby
// is away: nothing that was acknowledged is missing where the standby takes over.
import { afterAll, beforeAll, describe, expect, it, test } from "vitest";
import { must } from "../../src/base/assert.ts";
import { systemClock } from "../../src/base/clock.ts";
import { makeSeededRandom } from "../../src/base/random.ts";
import { chainStart, LogChain } from "../../src/log/chain.ts";
import { describeLog } from "../../src/log/contract.ts";
import { makeRecords } from "../../src/log/contract/records.ts";
import { judgeNext } from "../../src/log/follower.ts";
import { openPostgresLog, type PostgresLog } from "../../src/log/postgres.ts";
import { PostgresSessions } from "../../src/log/postgres/sessions.ts";
import { openBody } from "../../src/log/record.ts";
import { LogUnavailable, LogUnknown, type SealedRecord } from "../../src/log/replicated-log.ts";
import { takeOver } from "../../src/log/take-over.ts";
import { hasPostgres, startPostgresPair, type PostgresPair } from "../support/postgres.ts";
import { startTcpProxy } from "../support/tcp-proxy.ts";

const isHere = await hasPostgres();
let pair: PostgresPair;
let cell = 0;

beforeAll(async () => {
  if (isHere) pair = await startPostgresPair();
});
afterAll(async () => {
  if (isHere) await pair.close();
});

function open(cellOf: number, url = pair.primary.url): Promise<PostgresLog> {
  return openPostgresLog({ url, isSingle: false, cell: cellOf, clock: systemClock });
}

describe.runIf(isHere)("PostgreSQL with a synchronous standby", () => {
  describeLog(
    { describe, it },
    {
      name: "PostgreSQL",
      random: makeSeededRandom,
      rounds: 3,
      steps: 200,
      async open() {
        const own = ++cell;
        const logs: PostgresLog[] = [];
        return {
          async connect() {
            const log = await open(own);
            logs.push(log);
            return log;
          },
          close: async () => void (await Promise.all(logs.map((log) => log.close()))),
        };
      },
    },
  );

  it("ends sessions of machines that are gone", async () => {
    const sessions = new PostgresSessions({
      url: pair.primary.url,
      isSingle: false,
      clock: systemClock,
    });
    const { rows } = await sessions.run("SELECT current_setting('tcp_keepalives_idle') AS idle");
    expect(rows).toEqual([{ idle: "10" }]);
    await sessions.close();
  });

  describe("a wait for the standby that is ended", () => {
    /** Ends the waits of all that append, by `pg_terminate_backend` or `pg_cancel_backend`. */
    async function endWaits(how: "terminate" | "cancel"): Promise<void> {
      await until(async () => {
        const { rows } = await pair.primary.run(
          `SELECT pg_${how}_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'`,
        );
        return rows.length > 0;
      });
    }

    test.each(["terminate", "cancel"] as const)(
      "%s: is not kept, though it is seen",
      async (how) => {
        const log = await open(++cell);
        const reader = await open(cell);
        const [first, second, third] = await makeRecords(["a", "b", "c"]).then(three);
        expect(await log.append([first])).toBe("kept");
        await pair.standby.kill();
        const sent = log.append([second]);
        const refused = errorOf(sent);
        await endWaits(how);
        // A cancelled one says that it is done; what would prove it is waited for, too.
        if (how === "cancel") await endWaits(how);
        expect(await refused).toBeInstanceOf(LogUnknown);
        expect((await reader.read(1, 1000)).map(({ seq }) => seq)).toEqual([2]);

        // The same bytes again: they are there, and this does not make them kept.
        const again = errorOf(log.append([second]));
        await endWaits(how);
        if (how === "cancel") await pause();
        expect(await again).toBeInstanceOf(LogUnknown);

        const lease = errorOf(log.lease.beat(0));
        await endWaits(how);
        expect(await lease).toBeInstanceOf(LogUnavailable);

        await pair.standby.start();
        await pair.whenSynchronous();
        expect(await log.append([second])).toBe("kept");
        expect(await log.append([third])).toBe("kept");
        const { rows } = await pair.standby.run(
          `SELECT seq FROM weft_log WHERE cell = ${cell} ORDER BY seq`,
        );
        expect(rows.map(({ seq }) => Number(seq)).slice(0, 2)).toEqual([1, 2]);
        await Promise.all([log.close(), reader.close()]);
      },
    );
  });

  test("connections that are cut at any byte: what is kept is there once", async () => {
    const proxy = await startTcpProxy(pair.primary.port);
    const url = `postgres://weft@127.0.0.1:${proxy.port}/postgres`;
    const log = await open(++cell, url);
    const taken = await takeOver(log, chainStart, shipperOptions);
    const shipper = must(taken, "nobody else leads").shipper;
    const random = makeSeededRandom(7);
    const acknowledged: string[] = [];
    for (let i = 0; i < 60; i++) {
      const shipped = ["a", "b", "c"].map(async (lane) => {
        const text = `${lane}${i}`;
        const { seq } = await shipper.ship({ kind: "rows", rows: Buffer.from(text) });
        acknowledged.push(`${seq}:${text}`);
      });
      const cutAt = proxy.sent + Math.floor(random.next() * 1500);
      const isOver = Promise.all(shipped).then(() => true);
      // Either the bytes are sent, or the records are kept by then.
      while (proxy.sent < cutAt && !(await Promise.race([isOver, soon()])));
      proxy.cut();
      await isOver;
    }
    const found = await readTexts(log);
    expect(acknowledged.length).toBe(180);
    for (const entry of acknowledged) expect(found).toContain(entry);
    expect(found.length).toBe(180);
    await log.close();
    await proxy.close();
  });

  test("a server that is not safe is refused, in one line", async () => {
    const set = async (setting: string, value: string): Promise<void> => {
      await pair.primary.run(`ALTER SYSTEM SET ${setting} TO ${value}`);
      await pair.primary.run("SELECT pg_reload_conf()");
      await until(async () => {
        const { rows } = await pair.primary.run(`SHOW ${setting}`);
        return `'${String(rows[0]?.[setting])}'` === value;
      });
    };
    let laterMs = 0;
    const clock = { ...systemClock, tickMs: () => systemClock.tickMs() + laterMs };
    const { url } = pair.primary;
    const kept = await openPostgresLog({ url, isSingle: false, cell: ++cell, clock });
    const [record] = await makeRecords(["a"]);
    await set("synchronous_commit", "'local'");
    await expect(open(cell)).rejects.toMatchObject({
      code: "E_STARTUP",
      message: expect.stringContaining('synchronous_commit is "local"') as string,
    });
    await set("synchronous_commit", "'on'");
    await set("fsync", "'off'");
    await expect(open(cell)).rejects.toThrow('fsync is "off"');
    await set("fsync", "'on'");
    await set("synchronous_standby_names", "''");
    await expect(open(cell)).rejects.toThrow("it has no synchronous standby");
    const single = await openPostgresLog({
      url: pair.primary.url,
      isSingle: true,
      cell,
      clock: systemClock,
    });
    expect(await single.tail()).toBe(0);
    await single.close();
    // One that was opened before is found by its next look.
    laterMs += 10_000;
    expect(await errorOf(kept.append([must(record, "one was made")]))).toBeInstanceOf(LogUnknown);
    expect(await single.tail().catch(() => "closed")).toBe("closed");
    await set("synchronous_standby_names", "'standby'");
    await pair.whenSynchronous();
    expect(await kept.tail()).toBe(0);
    await kept.close();
    await expect(open(cell, "postgres://weft@127.0.0.1:1/postgres")).rejects.toMatchObject({
      code: "E_STARTUP",
    });
  });

  // The last: there is no standby behind it.
  test("the primary is killed while it is written to: the standby has all that was kept", async () => {
    const proxy = await startTcpProxy(pair.primary.port);
    const url = `postgres://weft@127.0.0.1:${proxy.port}/postgres`;
    const options = { isSingle: true, cell: ++cell, clock: systemClock };
    const log = await openPostgresLog({ url, ...options });
    const { shipper } = must(await takeOver(log, chainStart, shipperOptions), "nobody else leads");
    const acknowledged: string[] = [];
    const write = async (lane: string, count: number): Promise<void> => {
      for (let i = 0; i < count; i++) {
        const text = `${lane}${i}`;
        const { seq } = await shipper.ship({ kind: "rows", rows: Buffer.from(text) });
        acknowledged.push(`${seq}:${text}`);
      }
    };
    await Promise.all(["a", "b", "c"].map((lane) => write(lane, 30)));
    const writing = Promise.all(["d", "e", "f"].map((lane) => write(lane, 60)));
    await until(async () => acknowledged.length > 150);
    await pair.primary.kill("SIGKILL");
    // A new primary without a standby is refused until it is told otherwise.
    await pair.standby.run("SELECT pg_promote()");
    await expect(open(cell, pair.standby.url)).rejects.toThrow("it has no synchronous standby");
    proxy.target = pair.standby.port;
    proxy.cut();
    await writing;
    const found = await readTexts(log);
    expect(acknowledged.length).toBe(270);
    for (const entry of acknowledged) expect(found).toContain(entry);
    expect(found.length).toBe(270);
    await log.close();
    await proxy.close();
  });
});

const history = Buffer.alloc(16, 9);

const shipperOptions = {
  history,
  term: 1,
  rowFormat: 1,
  clock: systemClock,
  pause: async () => {
    await pause();
    return true;
  },
};

/** What counts, as "number:text". */
async function readTexts(log: PostgresLog): Promise<readonly string[]> {
  const chain = new LogChain(history, chainStart);
  const found: string[] = [];
  for (;;) {
    const records = await judgeNext(log, chain, 1_000_000);
    if (records === undefined) return found;
    for (const { head, record } of records) {
      const { rows } = await openBody(record, head);
      if (head.kind === "rows") found.push(`${head.seq}:${Buffer.from(rows).toString()}`);
    }
  }
}

function three(records: readonly SealedRecord[]): [SealedRecord, SealedRecord, SealedRecord] {
  const [a, b, c] = records;
  return [must(a, "of three"), must(b, "of three"), must(c, "of three")];
}

/** What it rejects with; undefined: it resolves. */
async function errorOf(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
    return undefined;
  } catch (error) {
    return error;
  }
}

async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await pause();
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 10));
}

async function soon(): Promise<false> {
  await new Promise((resolve) => setImmediate(resolve));
  return false;
}
