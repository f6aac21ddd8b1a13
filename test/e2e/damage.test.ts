/** What a server does over damage: one row is told to who asks for it, and the store is refused where it must be. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { cleanUp, makeFolder, runWeft, startServer } from "./server.ts";

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
