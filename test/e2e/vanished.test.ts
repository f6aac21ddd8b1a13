// Goal: a server whose directory is removed, moved or exchanged acknowledges nothing that is lost, says so, and makes no
// other store in its place.
import { copyFileSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, expect, test } from "vitest";
import {
  cleanUp,
  get,
  makeFolder,
  post,
  rdf,
  startServer,
  type TestServer,
  type Told,
  waitUntil,
} from "./server.ts";

afterAll(cleanUp);

const write = (server: TestServer, name: string): Promise<Told> =>
  post(`${server.url}/mutate?commitNow=true`, `{ set { _:n <name> "${name}" . } }`, rdf);

async function names(server: TestServer): Promise<unknown> {
  const found = await post(`${server.url}/query`, "{ q(func: has(name)) { name } }");
  return found.json["data"];
}

async function open(workers: string): Promise<{ server: TestServer; dir: string }> {
  const dir = join(makeFolder(), "store");
  const server = await startServer({ dataDir: dir, flags: ["--workers", workers] });
  await post(`${server.url}/alter`, "name: string @index(exact) .");
  await write(server, "before");
  return { server, dir };
}

const health = (server: TestServer): Promise<Told | undefined> =>
  get(`${server.url}/health`).catch(() => undefined);

/** Within a second writes are refused and /health says why. */
async function expectStopped(server: TestServer, why: RegExp): Promise<void> {
  const startMs = performance.now();
  await waitUntil(async () => (await health(server))?.status === 503, 5_000);
  expect(performance.now() - startMs).toBeLessThan(1_500);
  expect((await health(server))?.text).toMatch(why);
  // The writer looks for itself, and relies on what it has seen for some milliseconds.
  await sleep(200);
  const refused = await write(server, "lost");
  expect(refused.text).toMatch(why);
  expect(refused.json["errors"]).toBeDefined();
}

const isHealthy = async (server: TestServer): Promise<boolean> =>
  (await health(server))?.status === 200;

test("a removed directory stops writes for good", async () => {
  const { server, dir } = await open("2");
  rmSync(dir, { recursive: true, force: true });
  await expectStopped(server, /its directory is gone/);
  for (const pid of server.childPids()) process.kill(pid, "SIGKILL");
  await waitUntil(async () => (await health(server))?.status === 503, 5_000);
  expect((await health(server))?.text).toContain("its directory is gone");
  expect(existsSync(dir)).toBe(false);
  await server.stop();
  expect(existsSync(dir)).toBe(false);
});

test.each(["1", "3"])(
  "a moved directory stops writes until it is back: %s workers, which die meanwhile",
  async (workers) => {
    const { server, dir } = await open(workers);
    renameSync(dir, `${dir}.away`);
    await expectStopped(server, /its directory is gone/);
    expect(await names(server)).toEqual({ q: [{ name: "before" }] });
    renameSync(`${dir}.away`, dir);
    await waitUntil(() => isHealthy(server), 5_000);
    expect((await write(server, "between")).json["errors"]).toBeUndefined();
    renameSync(dir, `${dir}.away`);
    mkdirSync(dir);
    await expectStopped(server, /another directory/);
    for (const pid of server.childPids()) process.kill(pid, "SIGKILL");
    await waitUntil(async () => (await health(server))?.status === 503, 5_000);
    expect(readdirSync(dir)).toEqual([]);
    rmSync(dir, { recursive: true });
    renameSync(`${dir}.away`, dir);
    await waitUntil(() => isHealthy(server), 15_000);
    expect((await write(server, "after")).json["errors"]).toBeUndefined();
    const found = (await names(server)) as { q: { name: string }[] };
    expect(found.q.map(({ name }) => name).toSorted()).toEqual(["after", "before", "between"]);
    expect(await server.stop()).toBe(0);
  },
);

test("another store in its place is not served, and not written to", async () => {
  const other = await open("1");
  await write(other.server, "other");
  await other.server.stop();
  const kept = readdirSync(other.dir).toSorted();
  const { server, dir } = await open("1");
  renameSync(dir, `${dir}.away`);
  renameSync(other.dir, dir);
  await expectStopped(server, /another directory/);
  expect(await names(server)).toEqual({ q: [{ name: "before" }] });
  await server.stop();
  expect(readdirSync(dir).toSorted()).toEqual(kept);
  const moved = await startServer({ dataDir: `${dir}.away` });
  expect(await names(moved)).toEqual({ q: [{ name: "before" }] });
});

test("a removed data file or journal stops writes", async () => {
  const { server, dir } = await open("1");
  renameSync(join(dir, "data.mdb"), join(dir, "data.away"));
  await expectStopped(server, /data\.mdb is gone/);
  renameSync(join(dir, "data.away"), join(dir, "data.mdb"));
  await waitUntil(() => isHealthy(server), 5_000);
  rmSync(join(dir, "journal.0"));
  await expectStopped(server, /its journal is gone/);
  await server.stop();
  const again = await startServer({ dataDir: dir });
  expect(await names(again)).toEqual({ q: [{ name: "before" }] });
});

test("a header that is removed, or another store's, stops writes until it is back", async () => {
  const { server, dir } = await open("2");
  const other = await open("1");
  await other.server.stop();
  const header = join(dir, "weft.store");
  renameSync(header, `${header}.away`);
  await expectStopped(server, /weft\.store is gone/);
  copyFileSync(join(other.dir, "weft.store"), header);
  const other503 = /weft\.store is another store's/;
  await waitUntil(async () => other503.test((await health(server))?.text ?? ""), 5_000);
  expect((await write(server, "lost")).json["errors"]).toBeDefined();
  renameSync(`${header}.away`, header);
  await waitUntil(() => isHealthy(server), 5_000);
  expect((await write(server, "after")).json["errors"]).toBeUndefined();
});
