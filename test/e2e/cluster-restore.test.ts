// Goal: a restore that one of several machines is asked for is one commit of all of them, whoever leads.
import { readdirSync } from "node:fs";
import { afterAll, expect, test } from "vitest";
import { must } from "../../src/base/assert.ts";
import { read, startCluster, statusOf, write, type TestMachine } from "./machines.ts";
import { cleanUp, post, runWeft, waitUntil } from "./server.ts";

afterAll(cleanUp);

async function begin(machine: TestMachine, mutation: string): Promise<string> {
  const { json } = await post(`${machine.server.url}/admin`, { query: `mutation { ${mutation} }` });
  expect(json["errors"]).toBeUndefined();
  const [answer] = Object.values(json["data"] as unknown as Record<string, { taskId: string }>);
  return must(answer, "it was asked for").taskId;
}

async function done(machine: TestMachine, taskId: string): Promise<void> {
  const query = `{ task(input: {id: "${taskId}"}) { kind status } }`;
  await waitUntil(async () => {
    const { json } = await post(`${machine.server.url}/admin`, { query });
    const status = String(json["data"]?.["task"]?.["status"]);
    expect([status, machine.server.output()]).not.toEqual(["Failed", expect.anything()]);
    return status === "Success";
  }, 30_000);
}

const countWords = "{ q(func: has(word)) { count(uid) } }";

test("each machine holds what the backup held, at once, and applies what is written behind it", async () => {
  const cluster = await startCluster(2);
  const { machines } = cluster;
  await waitUntil(async () => {
    const states = await Promise.all(machines.map(statusOf));
    return states.some(({ role }) => role === "leading") && states.every(({ leader }) => leader);
  }, 20_000);
  const states = await Promise.all(machines.map(statusOf));
  const follower = must(
    machines.find((_, i) => states[i]?.role !== "leading"),
    "one follows",
  );
  const many = Array.from({ length: 2000 }, (_, i) => `_:n${i} <word> "w" .`).join("\n");
  await write(follower, `\n${many}\n`);
  await done(follower, await begin(follower, 'backup(input: {destination: "kept"}) { taskId }'));
  await write(follower, `\n${many}\n`);
  await done(follower, await begin(follower, 'restore(input: {location: "kept"}) { taskId }'));
  for (const machine of machines) {
    expect(await read(machine, countWords)).toEqual({ q: [{ count: 2000 }] });
  }
  for (const machine of machines) await write(machine, '_:x <word> "behind" .');
  for (const machine of machines) {
    expect(await read(machine, countWords)).toEqual({ q: [{ count: 2002 }] });
  }
  for (const { server } of machines.toReversed()) await server.stop();
  for (const { dir } of machines) {
    const { code, stderr } = await runWeft(["check", "--data", dir]);
    expect([dir, code, stderr]).toEqual([dir, 0, ""]);
  }
  const listed = readdirSync(follower.dir);
  expect(listed.filter((name) => name.startsWith("restore"))).toEqual([]);
}, 90_000);
