// Goal: an index over data that is there survives the death of any process in the middle of its build.
import { afterAll, describe, expect, test } from "vitest";
import {
  cleanUp,
  get,
  listChildren,
  makeFolder,
  post,
  rdf,
  runWeft,
  sleep,
  startServer,
  type TestServer,
  waitUntil,
} from "./server.ts";

afterAll(cleanUp);

const nodes = 4000;

/** Twelve words of a few thousand: an index over them takes a while. */
function makeText(i: number): string {
  const words = Array.from({ length: 12 }, (_, k) => `w${(i * 31 + k * 977) % 3001}`);
  return `common ${words.join(" ")}`;
}

async function load(server: TestServer): Promise<void> {
  await post(`${server.url}/alter`, "text: string .\nname: string @index(hash) .");
  for (let from = 1; from <= nodes; from += 1000) {
    const facts = Array.from({ length: 1000 }, (_, k) => {
      const uid = `<${from + k}>`;
      return `${uid} <text> "${makeText(from + k)}" .\n${uid} <name> "n${from + k}" .`;
    });
    const body = `{ set { ${facts.join("\n")}\n } }`;
    const told = await post(`${server.url}/mutate?commitNow=true`, body, rdf);
    expect(told.json["data"]?.["code"]).toBe("Success");
  }
}

async function isIndexing(server: TestServer): Promise<boolean> {
  const told = await get(`${server.url}/health`);
  return told.status === 200 && told.json[0]?.["indexing"] !== undefined;
}

async function countCommon(server: TestServer): Promise<unknown> {
  const told = await post(
    `${server.url}/query`,
    `{ q(func: anyofterms(text, "common")) { count(uid) } }`,
  );
  return told.json["data"]?.["q"]?.[0]?.["count"];
}

/** Ends the child at this place, and waits for its successor. */
async function killChild(server: TestServer, place: number): Promise<void> {
  const pid = server.childPids()[place]!;
  process.kill(pid, "SIGKILL");
  await waitUntil(() => !listChildren(server.process.pid!).includes(pid), 30_000);
}

describe.each([
  ["a writer that answers, too", "2", 0],
  ["the writer", "3", 0],
  ["the worker that builds", "3", 1],
  ["everything", "2", -1],
])("%s is killed in the middle of a build", (_name, workers, place) => {
  test("and the index is whole in the end", { timeout: 180_000 }, async () => {
    const dataDir = makeFolder();
    const flags = ["--workers", workers];
    let server = await startServer({ dataDir, flags });
    await load(server);
    await post(`${server.url}/alter?runInBackground=true`, "text: string @index(term) .");
    if (place >= 0) await killChild(server, place);
    else {
      const children = server.childPids();
      for (const pid of [server.process.pid!, ...children]) process.kill(pid, "SIGKILL");
      await waitUntil(() => children.every((pid) => !isAlive(pid)), 30_000);
      server = await startServer({ dataDir, flags });
    }
    await waitUntil(async () => !(await isIndexing(server).catch(() => true)), 120_000);
    await waitUntil(async () => (await countCommon(server).catch(() => 0)) === nodes, 60_000);
    await server.stop();
    const checked = await runWeft(["check", "--data", dataDir]);
    expect(checked.stdout).toMatch(/, 0 problems/);
    expect(checked.code).toBe(0);
  });
});

test(
  "small reads and writes go on beside a build, and health tells of it",
  { timeout: 120_000 },
  async () => {
    const server = await startServer({ dataDir: makeFolder() });
    await load(server);
    const building = post(`${server.url}/alter`, "text: string @index(term) .");
    let isBuilt = false;
    void building.then(() => (isBuilt = true));
    let rounds = 0;
    while (!isBuilt) {
      rounds++;
      const name = `n${1 + (rounds % nodes)}`;
      const found = await post(`${server.url}/query`, `{ q(func: eq(name, "${name}")) { name } }`);
      expect(found.json["data"]?.["q"]).toEqual([{ name }]);
      const body = `{ set { _:x <text> "common new" . } }`;
      const told = await post(`${server.url}/mutate?commitNow=true`, body, rdf);
      expect(told.json["data"]?.["code"]).toBe("Success");
      const health = await get(`${server.url}/health`);
      const progress = health.json[0]?.["indexing_progress"]?.[0];
      if (progress !== undefined) {
        expect(health.json[0]).toMatchObject({ indexing: ["0-text"], ongoing: ["opIndexing"] });
        expect(progress).toMatchObject({ predicate: "0-text", index: "term" });
      }
      await sleep(1);
    }
    expect((await building).json["data"]?.["code"]).toBe("Success");
    expect(await countCommon(server)).toBe(nodes + rounds);
    await server.stop();
  },
);

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
