// Goal: with reads=quorum no clock is trusted: what is read was proved by the log after it was asked, and where the log
// gives no proof nothing is read, however sure the leader's clock is that it still leads.
import { renameSync } from "node:fs";
import { afterAll, expect, test } from "vitest";
import { must } from "../../src/base/assert.ts";
import { read, startCluster, statusOf, write, type TestMachine } from "./machines.ts";
import { cleanUp, post, waitUntil } from "./server.ts";

afterAll(cleanUp);

const query = "{ q(func: uid(0x100)) { count } }";

test("each machine reads what was acknowledged, and nothing while the log is away", async () => {
  const settings = "reads=quorum; lease=9s; read-wait=600ms";
  const cluster = await startCluster(2, { settings });
  const { machines } = cluster;
  let leader: TestMachine | undefined;
  await waitUntil(async () => {
    for (const one of machines) if ((await statusOf(one)).role === "leading") leader = one;
    return leader !== undefined;
  }, 15_000);
  const first = must(leader, "one leads");
  await write(first, '<0x100> <count> "1" .');
  for (const machine of machines)
    expect((await read(machine, query))["q"]).toEqual([{ count: "1" }]);

  const folder = cluster.log.replace(/^dir:/, "");
  renameSync(folder, `${folder}-away`);
  // The lease, by the clock, would be the leader's for eight seconds more.
  for (const { server } of machines) {
    const told = await post(`${server.url}/query`, query);
    expect(told).toMatchObject({ status: 503, json: { errors: [{}], data: null } });
  }
  renameSync(`${folder}-away`, folder);
  await waitUntil(async () => {
    const told = await post(`${first.server.url}/query`, query);
    return told.json["errors"] === undefined;
  }, 20_000);
  await write(first, '<0x100> <count> "2" .');
  for (const machine of machines)
    expect((await read(machine, query))["q"]).toEqual([{ count: "2" }]);
});
