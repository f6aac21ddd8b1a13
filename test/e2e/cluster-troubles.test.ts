// Goal: what machines stand on is gone, or damaged (the log, a record of it, a store): they say what it is, lose nothing,
// and go on by themselves where that can be.
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { must } from "../../src/base/assert.ts";
import {
  read,
  startCluster,
  statusOf,
  write,
  type TestCluster,
  type TestMachine,
} from "./machines.ts";
import { cleanUp, get, post, runWeft, waitUntil } from "./server.ts";

afterAll(cleanUp);

let cluster: TestCluster;
let leader: TestMachine;
let other: TestMachine;

beforeAll(async () => {
  cluster = await startCluster(2, { settings: "lease=900ms; read-wait=1s" });
  await findLeader();
  await post(`${leader.server.url}/admin/schema`, "type Thing { id: ID! name: String }");
}, 60_000);

async function findLeader(): Promise<void> {
  const machines = new Map(cluster.machines.map((machine) => [machine.name, machine]));
  const [a, b] = [must(machines.get("a"), "of two"), must(machines.get("b"), "of two")];
  await waitUntil(async () => {
    const roles = await Promise.all([a, b].map((one) => statusOf(one).then(({ role }) => role)));
    [leader, other] = roles[0] === "leading" ? [a, b] : [b, a];
    return roles.toSorted().join(" ") === "following leading";
  }, 20_000);
}

async function healthOf({ server }: TestMachine): Promise<{ status: number; text: string }> {
  const { status, text } = await get(`${server.url}/health`);
  return { status, text };
}

const asked: readonly [path: string, type: string, body: string][] = [
  ["/graphql", "application/json", '{"query":"{ queryThing { id } }"}'],
  [
    "/graphql",
    "application/json",
    '{"query":"mutation { addThing(input: [{ name: \\"a\\" }]) { numUids } }"}',
  ],
  ["/query", "application/dql", "{ q(func: uid(0x1)) { tag } }"],
  ["/mutate?commitNow=true", "application/rdf", '{ set { <0x9> <tag> "no" . } }'],
  ["/alter", "text/plain", "other: int ."],
  ["/admin", "application/json", '{"query":"{ getGQLSchema { schema } }"}'],
  ["/admin/schema", "text/plain", "type Thing { id: ID! name: String }"],
];

interface Refused {
  readonly path: string;
  readonly status: number;
  readonly retry: string | null;
  readonly text: string;
}

/** What a machine answers to requests of each kind. */
function askAll({ server }: TestMachine): Promise<Refused[]> {
  return Promise.all(
    asked.map(async ([path, type, body]) => {
      const { status, headers, text } = await post(`${server.url}${path}`, body, {
        "content-type": type,
      });
      return { path, status, retry: headers.get("retry-after"), text };
    }),
  );
}

test("a log that is gone is not made anew: nobody begins another history, and all goes on when it is back", async () => {
  const folder = cluster.log.slice("dir:".length);
  const aside = `${folder}.away`;
  await write(leader, '<0x1> <tag> "kept" .');
  await waitUntil(async () => {
    const states = await Promise.all([leader, other].map(statusOf));
    return states.every(({ applied, kept }) => applied === kept);
  }, 10_000);
  renameSync(folder, aside);
  // The one that follows, too: it could answer no strict read.
  for (const one of [leader, other]) {
    await waitUntil(async () => {
      const { status, text } = await healthOf(one);
      return status === 503 && text.includes("does not hold it");
    }, 10_000);
  }
  const told = await askAll(other);
  expect(told.filter(({ status, retry }) => status !== 503 || retry !== "1")).toEqual([]);
  expect(told[0]!.text).toContain("the newest state of the machines cannot be known: the log");
  const { stdout: status } = await runWeft(["cluster", "status", "--to", other.server.url]);
  expect(status).toMatch(/^problem: the log cannot be reached: .* does not hold it$/m);
  await other.server.stop();
  // Whoever starts now has what no other log has.
  await expect(cluster.start(other.name)).rejects.toThrow(
    /this machine has applied record \d+ of the log, and the log is not there \(.*\): bring it back as it was/,
  );
  expect(existsSync(folder)).toBe(false);
  renameSync(aside, folder);
  other = await cluster.start(other.name);
  await findLeader();
  const query = "{ q(func: uid(0x1)) { tag } }";
  const tags = await Promise.all([leader, other].map((one) => read(one, query)));
  expect(JSON.stringify(tags[0])).toBe(JSON.stringify(tags[1]));
}, 60_000);

test("a leader whose directory is gone gives the lead up, and follows when it is back", async () => {
  const [lost, heir] = [leader, other];
  const aside = `${lost.dir}.away`;
  renameSync(lost.dir, aside);
  await waitUntil(async () => (await statusOf(heir)).role === "leading", 15_000);
  const told = await write(heir, '<0x2> <tag> "goes on" .');
  expect(told.text).toContain('"Success"');
  expect((await healthOf(heir)).status).toBe(200);
  // While it is looked for: nothing takes its place, into which it would then be moved.
  for (let looks = 0; looks < 12; looks++) {
    expect((await healthOf(lost)).status).toBe(503);
    expect(existsSync(lost.dir)).toBe(false);
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
  renameSync(aside, lost.dir);
  await waitUntil(async () => (await statusOf(lost)).role === "following", 15_000);
  const query = "{ q(func: uid(0x2)) { tag } }";
  await waitUntil(async () => {
    const found = await read(lost, query).catch(() => undefined);
    return JSON.stringify(found) === '{"q":[{"tag":"goes on"}]}';
  }, 10_000);
  await findLeader();
}, 60_000);

/** Of the newest record with rows that the log has behind a number, by a change of its own. */
async function writeRecord(tag: string): Promise<string> {
  const folder = join(cluster.log.slice("dir:".length), "records");
  const before = new Set(readdirSync(folder));
  const told = await write(leader, `<0x3> <tag> "${tag}" .`);
  expect(told.text).toContain('"Success"');
  const added = readdirSync(folder).filter((name) => !before.has(name));
  return join(folder, must(added.toSorted()[0], "it was appended"));
}

test("machines that need a damaged or missing record are given a snapshot", async () => {
  await other.server.stop();
  const missing = await writeRecord("missing");
  await writeRecord("behind it");
  rmSync(missing);
  other = await cluster.start(other.name);
  expect(other.server.output()).toMatch(
    /record \d+ of the log is missing".*\.wlr.*the log cannot be read any further, and a snapshot is asked for/,
  );
  const query = "{ q(func: uid(0x3)) { tag } }";
  expect(await read(other, query)).toEqual({ q: [{ tag: "behind it" }] });

  // A byte of its head: it does not stand behind the one before any more. The first record says whose log it is.
  await other.server.stop();
  const damaged = await writeRecord("damaged");
  await writeRecord("behind that");
  const bytes = readFileSync(damaged);
  bytes.writeUInt8(bytes.readUInt8(60) ^ 1, 60);
  writeFileSync(damaged, bytes);
  rmSync(other.dir, { recursive: true });
  rmSync(join(cluster.log.slice("dir:".length), "records", "0000000000000001.wlr"));
  other = await cluster.start(other.name);
  expect(other.server.output()).toContain("the snapshot is complete");
  expect(await read(other, query)).toEqual({ q: [{ tag: "behind that" }] });
  expect((await healthOf(leader)).status).toBe(200);
}, 90_000);

test("a machine whose store is damaged leaves its requests to others, and says so", async () => {
  await write(leader, '<0x5> <tag> "as it was stored" .');
  await waitUntil(async () => {
    const states = await Promise.all([leader, other].map(statusOf));
    return states.every(({ applied, kept }) => applied === kept);
  }, 10_000);
  await other.server.stop();
  const file = join(other.dir, "data.mdb");
  const bytes = readFileSync(file);
  for (let at = bytes.indexOf("as it was stored"); at >= 0;) {
    bytes[at]! ^= 1;
    at = bytes.indexOf("as it was stored");
  }
  writeFileSync(file, bytes);
  other = await cluster.start(other.name, { isAnyHealth: true });
  await waitUntil(async () => (await healthOf(other)).text.includes('"damaged"'), 10_000);
  const { status, text } = await healthOf(other);
  expect([status, text]).toEqual([
    503,
    expect.stringContaining("the store is damaged: weft check"),
  ]);
  // The leader is told some moments after the machine has connected.
  let stdout = "";
  await waitUntil(async () => {
    ({ stdout } = await runWeft(["cluster", "status", "--to", leader.server.url]));
    return !stdout.includes("it has just connected");
  }, 10_000);
  expect(stdout).toContain(`${other.name} could not lead: the store is damaged`);
  await other.server.stop();
  rmSync(other.dir, { recursive: true });
  other = await cluster.start(other.name);
  expect(await read(other, "{ q(func: uid(0x5)) { tag } }")).toEqual({
    q: [{ tag: "as it was stored" }],
  });
}, 60_000);

test("a machine that is out of service sends all requests elsewhere, and says what is wrong where that is asked", async () => {
  const children = other.server.childPids();
  for (const pid of children) process.kill(pid, "SIGSTOP");
  const damaged = await writeRecord("passed over");
  await writeRecord("behind it");
  const bytes = readFileSync(damaged);
  bytes.writeUInt8(bytes.readUInt8(60) ^ 1, 60);
  writeFileSync(damaged, bytes);
  for (const pid of children) process.kill(pid, "SIGCONT");
  await waitUntil(async () => (await healthOf(other)).text.includes('"stopped"'), 20_000);
  expect((await healthOf(other)).status).toBe(503);
  const told = await askAll(other);
  // It does not come back by itself.
  expect(told.filter(({ status, retry }) => status !== 503 || retry !== null)).toEqual([]);
  for (const { text } of told) expect(text).toMatch(/this machine is out of service: record \d+/);
  expect(told[0]!.text).toMatch(
    /^\{"errors":\[\{"message":"this machine is out of service: [^"]*"\}\]/,
  );
  expect((await statusOf(other)).role).toBe("stopped");
  const { stdout } = await runWeft(["cluster", "status", "--to", other.server.url]);
  expect(stdout).toMatch(/^problem: record \d+ of the log is damaged/m);
  expect(stdout).toMatch(new RegExp(`^${other.name} .* stopped `, "m"));
}, 60_000);
