// Goal: a reader that goes on from its position learns of each acknowledged transaction exactly once, whatever is
// killed meanwhile; where the log is gone it is told so.
import { afterAll, expect, test } from "vitest";
import { follow, type FeedReader } from "./feed-reader.ts";
import { findFreePort } from "../support/free-port.ts";
import {
  cleanUp,
  get,
  listChildren,
  makeFolder,
  post,
  rdf,
  startServer,
  type Json,
  type TestServer,
} from "./server.ts";

afterAll(cleanUp);

/** Connects again, behind what it was told, whenever it is cut off. */
class Resumer {
  /** How often each value was told, by position. */
  readonly seen = new Map<string, number>();
  readonly positions: number[] = [];
  #url: string;
  #position = "";
  #reader: FeedReader | undefined;
  #isClosed = false;
  connections = 0;

  constructor(url: string) {
    this.#url = url;
  }

  async run(): Promise<void> {
    while (!this.#isClosed) {
      const search = this.#position === "" ? "from=oldest" : `from=${this.#position}`;
      try {
        this.#reader = await follow(this.#url, `/changes?${search}`);
        if (this.#reader.status !== 200) throw new Error("not now");
        this.connections++;
        await this.#read(this.#reader);
      } catch {
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    }
  }

  close(): void {
    this.#isClosed = true;
    this.#reader?.close();
  }

  async #read(reader: FeedReader): Promise<void> {
    for (let event = await reader.next(); event !== undefined; event = await reader.next()) {
      if (event["commit"] === undefined) continue;
      this.positions.push(Number(event["commit"]));
      const facts: Json[] = [...(event["facts"] ?? [])];
      for (const fact of facts) {
        const value = String(fact["after"]);
        this.seen.set(value, (this.seen.get(value) ?? 0) + 1);
      }
      if (event["more"] === undefined) this.#position = String(event["position"]);
    }
  }
}

test("kills of processes and of the server lose and double nothing", async () => {
  const dataDir = makeFolder();
  const port = await findFreePort();
  const start = (): Promise<TestServer> =>
    startServer({ dataDir, port, flags: ["--no-sample", "--workers", "3"] });
  let server = await start();
  const readers = [new Resumer(server.url), new Resumer(server.url)];
  const running = readers.map((reader) => reader.run());
  const kept: string[] = [];
  let count = 0;
  /** What was not acknowledged may be there, or not. */
  const write = async (): Promise<void> => {
    const value = `v${count++}`;
    try {
      const facts = `{ set { _:a <name> "${value}" . } }`;
      const answer = await post(`${server.url}/mutate?commitNow=true`, facts, rdf);
      if (answer.text.includes('"Success"')) kept.push(value);
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
  const writeUntil = async (total: number): Promise<void> => {
    while (kept.length < total) await write();
  };
  await writeUntil(40);
  for (let round = 0; round < 3; round++) {
    const children = listChildren(server.process.pid ?? 0);
    const victim = children[round % children.length];
    if (victim !== undefined) process.kill(victim, "SIGKILL");
    await writeUntil(kept.length + 30);
  }
  const children = listChildren(server.process.pid ?? 0);
  server.process.kill("SIGKILL");
  for (const child of children) {
    try {
      process.kill(child, "SIGKILL");
    } catch {
      // It was quicker.
    }
  }
  server = await start();
  await writeUntil(kept.length + 30);
  for (const reader of readers) {
    while (!reader.seen.has(kept.at(-1) ?? "")) await new Promise((go) => setTimeout(go, 20));
    reader.close();
    expect(kept.filter((value) => reader.seen.get(value) !== 1)).toEqual([]);
    expect([...reader.seen.values()].filter((times) => times !== 1)).toEqual([]);
    expect(reader.positions).toEqual([...new Set(reader.positions)].toSorted((a, b) => a - b));
    expect(reader.connections).toBeGreaterThan(1);
  }
  await Promise.all(running);
}, 60_000);

test("a position that the log has left behind is gone; the oldest that is kept is not", async () => {
  const server = await startServer({
    dataDir: makeFolder(),
    flags: ["--no-sample", "--workers", "1", "--store", "log-bytes=20000"],
  });
  for (let i = 0; i < 30; i++) {
    const facts = `{ set { _:a <name> "${i} ${"x".repeat(2000)}" . } }`;
    await post(`${server.url}/mutate?commitNow=true`, facts, rdf);
  }
  const gone = await get(`${server.url}/changes?from=1`);
  expect(gone.status).toBe(410);
  expect(gone.json["errors"]?.[0]).toMatchObject({
    message: "the log no longer reaches back to 1 (--store log-minutes, log-bytes)",
    extensions: { code: "E_LOG_GONE" },
  });
  const kept = await (await follow(server.url, "/changes?follow=false&from=oldest")).rest();
  expect(kept.length).toBeGreaterThan(1);
  expect(kept.length).toBeLessThan(20);
  expect(String(kept.at(-2)?.["facts"]?.[0]?.["after"])).toMatch(/^29 /);
  expect(kept.at(-1)).toMatchObject({ kind: "end", position: kept.at(-2)?.["position"] });
});
