/** `weft compact` beside a running server: its data file is exchanged under the requests of its clients. */
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import {
  cleanUp,
  get,
  makeFolder,
  post,
  rdf,
  runWeft,
  startServer,
  weft,
  type TestServer,
} from "./server.ts";

afterAll(cleanUp);

const graphql = { "content-type": "application/graphql" };
const polling = { timeout: 20_000, interval: 10 };
const dql = { "content-type": "application/dql" };
const folder = makeFolder();
const key = join(folder, "store.key");
writeFileSync(key, randomBytes(32));

function mutate({ url }: TestServer, body: string): ReturnType<typeof post> {
  return post(`${url}/mutate?commitNow=true`, body, rdf);
}

function dataBytes({ dataDir }: TestServer): number {
  return statSync(join(dataDir, "data.mdb")).size;
}

/** A store most of which was deleted again. */
async function fill(server: TestServer): Promise<void> {
  await post(`${server.url}/alter`, "name: string @index(exact) .\nlong: string .", rdf);
  const nodes = Array.from({ length: 800 }, (_, i) => `<0x${(1000 + i).toString(16)}>`);
  for (let at = 0; at < nodes.length; at += 200) {
    const facts = nodes.slice(at, at + 200).map((node) => {
      return `${node} <long> "${randomBytes(6000).toString("hex")}" .`;
    });
    await mutate(server, `{ set {\n${facts.join("\n")}\n} }`);
  }
  await mutate(server, `{ delete {\n${nodes.map((node) => `${node} <long> * .`).join("\n")}\n} }`);
}

interface Load {
  /** Names whose writes were acknowledged. */
  readonly written: string[];
  readonly problems: string[];
  reads: number;
  end(): Promise<void>;
}

/** Writers, and readers that look for what was acknowledged before they ask, at whichever process takes them. */
function load(server: TestServer): Load {
  let isOver = false;
  const written: string[] = [];
  const problems: string[] = [];
  const write = async (writer: number): Promise<void> => {
    for (let i = 0; !isOver; i++) {
      const name = `w${writer}-${i}`;
      const { status, text } = await mutate(server, `{ set { _:n <name> "${name}" . } }`);
      if (status === 200 && text.includes('"Success"')) written.push(name);
      else problems.push(`write: ${status} ${text}`);
    }
  };
  const read = async (): Promise<void> => {
    while (!isOver) {
      const name = written.at(-1);
      if (name === undefined) await new Promise((resolve) => setTimeout(resolve, 10));
      else {
        const query = `{ q(func: eq(name, "${name}")) { name } }`;
        const { status, text } = await post(`${server.url}/query`, query, dql);
        if (status !== 200 || !text.includes(name)) problems.push(`read: ${status} ${text}`);
        one.reads++;
      }
    }
  };
  const look = async (): Promise<void> => {
    while (!isOver) {
      const { status, text } = await get(`${server.url}/health`);
      if (status !== 200 || !text.includes('"healthy"')) problems.push(`health: ${status} ${text}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
  const all = [write(0), write(1), read(), read(), look()];
  const one: Load = {
    written,
    problems,
    reads: 0,
    end: async () => {
      isOver = true;
      await Promise.all(all);
    },
  };
  return one;
}

test.each([
  ["with a process that writes alone", ["--workers", "3"]],
  ["with a worker that writes, encrypted", ["--workers", "2", "--encryption", `key-file=${key}`]],
])(
  "gives room back under load, %s: no request fails, and nothing acknowledged is lost",
  async (_how, flags) => {
    const dataDir = join(makeFolder(), "data");
    let server = await startServer({ dataDir, flags: [...flags, "--store", "log-bytes=100000"] });
    await fill(server);
    const { text: opened } = await post(
      `${server.url}/mutate`,
      '{ set { <0x7fffff> <name> "begun before" . } }',
      rdf,
    );
    const { txn } = (
      JSON.parse(opened) as {
        extensions: { txn: { start_ts: number; keys: string[]; preds: string[] } };
      }
    ).extensions;
    const pids = server.childPids();
    const before = dataBytes(server);
    const running = load(server);
    const encryption = flags.includes("--encryption") ? flags.slice(2) : [];
    for (let times = 0; times < 2; times++) {
      const { code, stdout, stderr } = await runWeft(["compact", "--data", dataDir, ...encryption]);
      expect(stderr).toBe("");
      expect(code).toBe(0);
      expect(stdout).toMatch(/takes [\d.]+ MB, before [\d.]+ MB/);
    }
    const { written: reached } = running;
    const count = reached.length;
    await expect.poll(() => reached.length, { timeout: 20_000 }).toBeGreaterThan(count + 3);
    await running.end();
    expect(running.problems).toEqual([]);
    expect(running.reads).toBeGreaterThan(0);
    expect(dataBytes(server)).toBeLessThan(before * 0.7);
    expect(existsSync(join(dataDir, "compact.new"))).toBe(false);
    // The processes are those of before, and so are the transactions that were open.
    expect(server.childPids()).toEqual(pids);
    const committed = await post(
      `${server.url}/commit?startTs=${txn.start_ts}`,
      JSON.stringify({ keys: txn.keys, preds: txn.preds }),
    );
    expect(committed.text).toContain("Success");
    expect(await server.stop()).toBe(0);

    server = await startServer({ dataDir, flags });
    const query = "{ q(func: has(name), first: 1000000) { name } }";
    const answer = (await post(`${server.url}/query`, query, dql)).text;
    const { data } = JSON.parse(answer) as { data: { q: { name: string }[] } };
    expect(new Set(data.q.map(({ name }) => name))).toEqual(new Set([...reached, "begun before"]));
    await server.stop();
    const check = await runWeft(["check", "--data", dataDir, ...encryption]);
    expect(check.stdout + check.stderr).toContain("0 problems");
  },
  120_000,
);

test("is begun at /admin, as a task; one whose process is killed changes nothing", async () => {
  const dataDir = join(makeFolder(), "data");
  const server = await startServer({ dataDir, flags: ["--workers", "3"] });
  await fill(server);
  const before = dataBytes(server);
  const killed = spawn(process.execPath, [weft, "compact", "--data", dataDir], { stdio: "ignore" });
  const ended = new Promise((resolve) => killed.once("exit", resolve));
  await expect.poll(() => existsSync(join(dataDir, "compact.new", "data.mdb")), polling).toBe(true);
  killed.kill("SIGKILL");
  await ended;
  await expect.poll(() => existsSync(join(dataDir, "compact.new")), polling).toBe(false);
  expect(dataBytes(server)).toBe(before);

  const admin = async (query: string): Promise<{ [field: string]: { [leaf: string]: string } }> => {
    const { text } = await post(`${server.url}/admin`, query, graphql);
    return (JSON.parse(text) as { data: { [field: string]: { [leaf: string]: string } } }).data;
  };
  const begun = await admin("mutation { compact { response { code message } taskId } }");
  expect(begun["compact"]).toMatchObject({ response: { code: "Success" } });
  const { taskId } = begun["compact"]!;
  const ask = `{ task(input: {id: "${taskId}"}) { kind status } }`;
  await expect
    .poll(async () => (await admin(ask))["task"], polling)
    .toEqual({ kind: "Compact", status: "Success" });
  expect(dataBytes(server)).toBeLessThan(before * 0.7);
  expect((await mutate(server, '{ set { _:n <name> "later" . } }')).text).toContain("Success");
}, 90_000);
