// Goal: an operator sees which machines there are, also those that are away, evicts one that is gone for good, and
// finalizes an upgrade.
import { rmSync } from "node:fs";
import { afterAll, expect, test } from "vitest";
import { must } from "../../src/base/assert.ts";
import { read, startCluster, statusOf, write } from "./machines.ts";
import { cleanUp, get, runWeft, waitUntil } from "./server.ts";

afterAll(cleanUp);

test("a machine that is away is listed until it is evicted; its old store is refused, a new one is not", async () => {
  const cluster = await startCluster(2);
  await waitUntil(async () => {
    const states = await Promise.all(cluster.machines.map(statusOf));
    return states.some(({ role }) => role === "leading") && states.every(({ leader }) => leader);
  }, 20_000);
  const states = await Promise.all(cluster.machines.map(statusOf));
  const at = states.findIndex(({ role }) => role === "leading");
  const leader = must(cluster.machines[at], "one leads");
  const other = must(cluster.machines[1 - at], "one follows");
  const { url } = leader.server;
  const weft = async (...args: string[]): Promise<string> => {
    const { stdout, stderr } = await runWeft(["cluster", ...args, "--to", url]);
    return stdout + stderr;
  };
  expect(await weft("finalize")).toContain("nothing is to finalize: rows have format 5");
  expect(await weft("status")).toContain("rows have format 5");
  const elsewhere = await runWeft(["cluster", "finalize", "--to", other.server.url]);
  expect(elsewhere.stderr).toContain(`${other.name} does not lead: ${leader.name} does`);
  await write(leader, '<0x1> <word> "first" .');
  expect(await weft("evict", other.name)).toContain("is connected: end it");

  await other.server.stop();
  const otherOf = async (): Promise<boolean | undefined> =>
    (await statusOf(leader)).members.find(({ node }) => node === other.name)?.isAway;
  await waitUntil(async () => (await otherOf()) === true, 10_000);
  expect(await weft("status")).toMatch(new RegExp(`^${other.name} .* away `, "m"));
  const dead = async (): Promise<number> =>
    (await get(`${url}/state`)).text.split('"amDead":true').length - 1;
  expect(await dead()).toBeGreaterThan(0);
  expect(await weft("evict", other.name)).toContain("is not one of the machines any more");
  expect(await otherOf()).toBeUndefined();
  expect(await dead()).toBe(0);

  // It learns of it from the log; then from its own store.
  await expect(cluster.start(other.name)).rejects.toThrow("this machine was evicted");
  await expect(cluster.start(other.name)).rejects.toThrow("this machine was evicted");
  expect(await otherOf()).toBeUndefined();
  // With a new directory it is a machine again.
  rmSync(other.dir, { recursive: true });
  const anew = await cluster.start(other.name);
  expect(await read(anew, "{ q(func: uid(0x1)) { word } }")).toEqual({ q: [{ word: "first" }] });
  expect(await otherOf()).toBe(false);
}, 90_000);
