/** What a server does over damage: one row is told to who asks for it, and the store is refused where it must be. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { reachedPages } from "../crash/data-pages.ts";
import { viewJournal } from "../crash/history.ts";
import { cleanUp, makeFolder, runWeft, sleep, startServer } from "./server.ts";

afterAll(cleanUp);

const timeout = 60_000;

function placesOf(data: Buffer, text: string): number[] {
  const places: number[] = [];
  for (let at = data.indexOf(text); at >= 0; at = data.indexOf(text, at + 1)) places.push(at);
  return places;
}

it(
  "a child that dies of the store ends the server, with a line that says so",
  { timeout },
  async () => {
    const server = await startServer({ dataDir: makeFolder() });
    const ended = new Promise<number | null>((resolve) => server.process.once("close", resolve));
    process.kill(server.childPids()[0]!, "SIGSEGV");
    expect(await ended).toBe(1);
    expect(server.output()).toContain("the data directory is damaged");
    expect(server.output()).toContain("Nothing more is served");
  },
);

it(
  "a damaged value is an error, /health tells of it, and a repair saves the rest",
  { timeout },
  async () => {
    const dataDir = makeFolder();
    const first = await startServer({ dataDir });
    const post = async (url: string, path: string, type: string, body: string): Promise<string> => {
      const response = await fetch(url + path, {
        method: "POST",
        headers: { "content-type": type },
        body,
      });
      return await response.text();
    };
    const marks = ["first of the two", "second of the two"];
    await post(first.url, "/alter", "application/dql", "name: string .");
    const facts = marks.map((mark, i) => `<0x${i + 1}00> <name> "${mark}" .`).join("\n");
    await post(first.url, "/mutate?commitNow=true", "application/rdf", `{ set { ${facts} } }`);
    expect(await first.stop()).toBe(0);
    const path = join(dataDir, "data.mdb");
    const data = readFileSync(path);
    // In the record, whose page lies behind those of older states; the log has its own copies.
    for (const at of placesOf(data, marks[1]!)) {
      const isLog = data.subarray(at - 200, at).includes(Buffer.from([0, 0, 0, 0, 9, 0, 0]));
      if (!isLog) data[at] = data[at]! ^ 1;
    }
    writeFileSync(path, data);

    const second = await startServer({ dataDir });
    const query = "{ q(func: uid(0x100)) { name } }";
    const ask = (text: string): Promise<string> =>
      post(second.url, "/query", "application/dql", text);
    expect(await ask(query)).toContain(marks[0]);
    expect(await ask(query.replace("0x100", "0x200"))).toMatch(
      /the stored row [0-9a-f]+ is damaged/,
    );
    expect(await (await fetch(`${second.url}/health`)).text()).toContain('"status":"damaged"');
    expect(second.output()).toContain("the store is damaged");
    expect(await second.stop()).toBe(0);

    const repaired = await runWeft(["check", "--data", dataDir, "--repair"]);
    expect(repaired.stdout + repaired.stderr).toMatch(/lost: the row [0-9a-f]+ is damaged/);
    expect(repaired.stdout).toContain("the old files are in");
    const third = await startServer({ dataDir });
    expect(await post(third.url, "/query", "application/dql", query)).toContain(marks[0]);
    expect(await third.stop()).toBe(0);
  },
);

/** Of which all processes were killed: the files lie where they lay, and no one has looked at them since. */
async function makeKilled(): Promise<string> {
  const dataDir = makeFolder();
  const server = await startServer({ dataDir });
  const headers = { "content-type": "application/rdf" };
  for (let i = 0; i < 12; i++) {
    const body = `{ set { ${Array.from({ length: 40 }, (_, k) => `_:a${k} <name> "${i} ${k}" .`).join("\n")} } }`;
    await fetch(`${server.url}/mutate?commitNow=true`, { method: "POST", headers, body });
  }
  const pids = [server.process.pid!, ...server.childPids()];
  for (const pid of pids) process.kill(pid, "SIGKILL");
  while (pids.some(isAlive)) await sleep(20);
  return dataDir;
}

const names = ["journal.0", "journal.1"];
const viewOf = (dataDir: string): ReturnType<typeof viewJournal> =>
  viewJournal(names.map((name) => readFileSync(join(dataDir, name))));

function countRecords(dataDir: string): number {
  const { sound, records } = viewOf(dataDir);
  return records[sound]?.length ?? 0;
}

function isAlive(pid: number): boolean {
  try {
    return !/\) Z/.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
}

it("a check of a store whose processes were killed finds damage", { timeout }, async () => {
  // The journal begins anew every other second: on a slow machine with few records behind it.
  let dataDir = await makeKilled();
  for (let tries = 1; tries < 5 && countRecords(dataDir) < 6; tries++) dataDir = await makeKilled();
  const check = async (): Promise<string> => {
    const { code, stdout, stderr } = await runWeft(["check", "--data", dataDir]);
    return `${code} ${stdout}${stderr}`;
  };
  expect(await check()).toMatch(/^0 [^]*, 0 problems/);
  const spoil = async (name: string, at: number): Promise<string> => {
    const path = join(dataDir, name);
    const sound = readFileSync(path);
    const data = Buffer.from(sound);
    data[at] = data[at]! ^ 2;
    writeFileSync(path, data);
    const told = await check();
    writeFileSync(path, sound);
    return told;
  };
  const { sound, records } = viewOf(dataDir);
  const place = records[sound]![2]! + 40;
  expect(await spoil(names[sound]!, place)).toMatch(/^1 [^]*its journal is damaged \(record 3 of/);
  // As if it were torn; but the data file has what it held.
  const last = records[sound]!.at(-2)! + 40;
  expect(await spoil(names[sound]!, last)).toMatch(/^1 [^]*it lacks 1 transactions of the data/);
  const data = readFileSync(join(dataDir, "data.mdb"));
  const { pages } = reachedPages(data, data.subarray(0, 8192));
  const leaf = pages.findIndex(
    (isReached, page) => isReached === 1 && data.readUInt16LE(page * 4096 + 18) === 2,
  );
  // Where the first row of a page is said to lie: LMDB would follow it.
  expect(await spoil("data.mdb", leaf * 4096 + 25)).toMatch(/^1 [^]*page \d+ is damaged/);
});
