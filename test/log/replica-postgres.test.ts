// Goal: machines over PostgreSQL: its primary is killed under writes and its standby promoted; nothing that was
// acknowledged is missing on the machine that leads next, and both hold the same rows.
import { randomBytes } from "node:crypto";
import { afterAll, describe, expect, test } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { openPostgresLog, type PostgresLog } from "../../src/log/postgres.ts";
import {
  closeMachines,
  digestRows,
  followAll,
  lead,
  openMachine,
  putRow,
} from "../support/machines.ts";
import { hasPostgres, startPostgresPair } from "../support/postgres.ts";
import { startTcpProxy } from "../support/tcp-proxy.ts";

afterAll(closeMachines);

describe.runIf(await hasPostgres())("PostgreSQL", () => {
  test("a fail-over of the log, then one of the machines", async () => {
    const pair = await startPostgresPair();
    const proxy = await startTcpProxy(pair.primary.port);
    const url = `postgres://weft@127.0.0.1:${proxy.port}/postgres`;
    const open = (): Promise<PostgresLog> =>
      openPostgresLog({ url, isSingle: true, cell: 1, clock: systemClock });
    const id = randomBytes(16).toString("hex");
    const logs = [await open(), await open()] as const;
    try {
      const one = await openMachine(logs[0], id);
      const two = await openMachine(logs[1], id);
      const store = await lead(one);
      const acknowledged: number[] = [];
      const write = async (lane: number): Promise<void> => {
        for (let i = 0; i < 60; i++) {
          const { commitTs } = await store.commit(putRow(`row ${lane} ${i}`, "x".repeat(i)));
          acknowledged.push(commitTs);
        }
      };
      const writing = Promise.all([1, 2, 3, 4, 5].map(write));
      while (acknowledged.length < 100) await followAll(two);
      await pair.primary.kill("SIGKILL");
      await pair.standby.run("SELECT pg_promote()");
      proxy.target = pair.standby.port;
      proxy.cut();
      await writing;
      expect(acknowledged.length).toBe(300);
      expect(new Set(acknowledged).size).toBe(300);

      const next = await lead(two);
      await expect(store.commit(putRow("late", "x"))).rejects.toMatchObject({
        code: "E_OUTCOME_UNKNOWN",
      });
      const snapshot = await next.snapshot();
      expect(snapshot.ts).toBe(300);
      snapshot.close();
      await next.commit(putRow("row of the next", "x"));
      await two.replica.mark();
      await two.replica.mark();
      await one.node.close();
      const back = await openMachine(logs[0], id, one.dir);
      await followAll(back);
      expect(digestRows(back.node)).toBe(digestRows(two.node));
    } finally {
      await closeMachines();
      await Promise.all(logs.map((log) => log.close()));
      await proxy.close();
      await pair.close();
    }
  });
});
