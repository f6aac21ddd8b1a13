// Goal: a connection that was handed to a process which hangs or dies is answered by another or closed, soon, and no
// request is executed twice.
import { connect } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  cleanUp,
  makeFolder,
  post,
  roleOf,
  sleep,
  startServer,
  type TestServer,
  waitUntil,
} from "./server.ts";

let server: TestServer;

/** Silence after which a process is replaced. */
const hang = "2s";
const boundMs = 25_000;

beforeAll(async () => {
  server = await startServer({
    dataDir: makeFolder(),
    flags: ["--workers", "2", "--hang", hang, "--log", "silent"],
  });
  await post(`${server.url}/alter`, "name: string @index(exact) .");
});
afterAll(cleanUp);

type End = "answered" | "closed" | "stranded";

/** One connection with one write on it. */
function writeOnce(name: string): Promise<End> {
  const { port } = new URL(server.url);
  const body = `{ set { _:n <name> "${name}" . } }`;
  const head = `POST /mutate?commitNow=true HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/rdf\r\nContent-Length: ${body.length}`;
  return new Promise((resolve) => {
    let answer = "";
    const socket = connect(Number(port), "127.0.0.1", () => socket.write(`${head}\r\n\r\n${body}`));
    const timer = setTimeout(() => {
      resolve("stranded");
      socket.destroy();
    }, boundMs);
    socket.on("data", (chunk: Buffer) => (answer += chunk.toString()));
    socket.on("error", () => {});
    socket.on("close", () => {
      clearTimeout(timer);
      resolve(answer.includes('"code":"Success"') ? "answered" : "closed");
    });
  });
}

async function writeMany(prefix: string, everyMs: number): Promise<Map<string, End>> {
  const ends = new Map<string, End>();
  const writes: Promise<void>[] = [];
  for (let i = 0; i < 200; i++) {
    const name = `${prefix} ${i}`;
    writes.push(writeOnce(name).then((end) => void ends.set(name, end)));
    if (everyMs > 0) await sleep(everyMs);
  }
  await Promise.all(writes);
  return ends;
}

async function expectOnce(ends: Map<string, End>): Promise<void> {
  const stranded = [...ends].filter(([, end]) => end === "stranded");
  expect(stranded).toEqual([]);
  const found = await post(`${server.url}/query`, "{ q(func: has(name)) { name } }");
  const { q } = found.json["data"] as unknown as { q: { name: string }[] };
  const counts = new Map<string, number>();
  for (const { name } of q) counts.set(name, (counts.get(name) ?? 0) + 1);
  expect([...counts].filter(([, count]) => count > 1)).toEqual([]);
  for (const [name, end] of ends) if (end === "answered") expect(counts.get(name)).toBe(1);
}

const count = (ends: Map<string, End>, end: End): number =>
  [...ends.values()].filter((one) => one === end).length;

test.each(["both", "worker"])(
  "a %s that hangs keeps one connection waiting at most",
  async (role) => {
    const victim = server.childPids().find((pid) => roleOf(pid) === role) ?? 0;
    process.kill(victim, "SIGSTOP");
    const ends = await writeMany(`hanging ${role}`, 0);
    await expectOnce(ends);
    // Those that wait are handed to another when it is killed; they were not read.
    expect(count(ends, "answered")).toBe(200);
    expect(server.childPids()).not.toContain(victim);
  },
);

test("a process that slept for less goes on", async () => {
  await waitUntil(() => server.childPids().length === 2, 10_000);
  const before = server.childPids();
  for (const pid of before) process.kill(pid, "SIGSTOP");
  await sleep(500);
  for (const pid of before) process.kill(pid, "SIGCONT");
  const ends = await writeMany("slept", 0);
  await expectOnce(ends);
  expect(count(ends, "answered")).toBe(200);
  expect(server.childPids()).toEqual(before);
});

test("processes that are killed one after the other", async () => {
  const storm = (async () => {
    for (let i = 0; i < 8; i++) {
      const victim = server.childPids()[i % 2];
      if (victim !== undefined) process.kill(victim, "SIGKILL");
      await sleep(250);
    }
  })();
  const ends = await writeMany("killed", 10);
  await storm;
  await expectOnce(ends);
  expect(count(ends, "answered")).toBeGreaterThan(50);
});
