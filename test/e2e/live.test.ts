// Goal: weft live loads what it is given, whole or up to the fault, and one label is one node over all files.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { findFreePort } from "../support/free-port.ts";
import { cleanUp, makeFolder, post, runWeft, startServer, type TestServer } from "./server.ts";

let server: TestServer;
let folder: string;

beforeAll(async () => {
  folder = makeFolder();
  server = await startServer({ dataDir: makeFolder() });
});
afterAll(cleanUp);

function put(name: string, text: string): string {
  const file = join(folder, name);
  writeFileSync(file, name.endsWith(".gz") ? gzipSync(text) : text);
  return file;
}

const live = (...args: string[]): ReturnType<typeof runWeft> =>
  runWeft(["live", "--to", server.url, ...args]);

async function ask(query: string): Promise<unknown> {
  return (await post(`${server.url}/query`, query)).json["data"];
}

describe("a load", () => {
  test("RDF and JSON, plain and packed, with schemas; labels mean one node everywhere", async () => {
    const people = Array.from(
      { length: 2500 },
      (_, i) =>
        `_:p${i} <live.name> "person ${i}" .\n<_:p${i}> <live.knows> _:p${(i + 1) % 2500} .`,
    );
    const files = [
      put("people.rdf.gz", `# people\n\n${people.join("\n")}\n`),
      put("more.rdf", '_:p7 <live.nick> "lucky" .\n<http://x.example/me> <live.knows> _:p7 .'),
      put(
        "ages.json",
        `[{"uid":"_:p7","live.age":9007199254740991},\n{"live.name":"nested","live.knows":[{"uid":"_:p8"}]}]`,
      ),
    ];
    const schema = put(
      "live.schema",
      "live.name: string @index(exact) .\nlive.age: int .\nlive.knows: [uid] @reverse @count .",
    );
    const ended = await live("--files", files.join(","), "--schema", schema);
    expect([ended.code, ended.stderr]).toEqual([0, ""]);
    expect(ended.stdout).toContain("5,004 facts");
    expect(await ask("{ q(func: has(live.name)) { count(uid) } }")).toEqual({
      q: [{ count: 2501 }],
    });
    expect(
      await ask(
        '{ q(func: eq(live.name, "person 7")) { live.nick a: live.age live.knows { live.name } c: count(~live.knows) } }',
      ),
    ).toEqual({
      q: [
        {
          "live.nick": "lucky",
          a: 9007199254740991,
          "live.knows": [{ "live.name": "person 8" }],
          c: 2,
        },
      ],
    });
  });

  test("a bad line ends it with file and line, and nothing of its batch is stored", async () => {
    const lines = Array.from({ length: 50 }, (_, i) => `_:b${i} <bad.name> "n${i}" .`);
    lines[33] = '_:b33 <bad.name> "no end .';
    const file = put("bad.rdf", lines.join("\n"));
    const ended = await live("--files", file, "--batch", "20");
    expect(ended.code).toBe(1);
    expect(ended.stderr.trim().split("\n")).toHaveLength(1);
    expect(ended.stderr).toContain(`${file}:34: `);
    const { q } = (await ask("{ q(func: has(bad.name)) { bad.name } }")) as {
      q: Record<string, string>[];
    };
    const stored = new Set(q.map((node) => Number(node["bad.name"]?.slice(1))));
    for (let i = 20; i < 40; i++) expect(stored.has(i)).toBe(false);
  });

  test("a value that does not fit its predicate is found among its neighbours", async () => {
    const schema = put("typed.schema", "typed.age: int .");
    const lines = Array.from(
      { length: 30 },
      (_, i) => `_:t${i} <typed.age> "${i === 17 ? "old" : i}" .`,
    );
    const file = put("typed.rdf", lines.join("\n"));
    const ended = await live("--files", file, "--schema", schema);
    expect(ended.code).toBe(1);
    expect(ended.stderr).toContain(`${file}:18: strconv.ParseInt: parsing "old": invalid syntax`);
    expect(await ask("{ q(func: has(typed.age)) { count(uid) } }")).toEqual({ q: [{ count: 0 }] });
  });

  test("files that are not there, have another kind or are torn are named", async () => {
    const missing = await live("--files", "/nowhere/x.rdf");
    expect([missing.code, missing.stderr]).toEqual([1, "weft: there is no file /nowhere/x.rdf\n"]);
    const other = await live("--files", put("x.csv", "a,b"));
    expect(other.stderr).toContain("x.csv: its name ends neither in .rdf nor in .json");
    const torn = join(folder, "torn.rdf.gz");
    writeFileSync(torn, gzipSync('_:a <torn> "x" .\n'.repeat(1000)).subarray(0, 40));
    const cut = await live("--files", torn);
    expect([cut.code, cut.stderr]).toEqual([
      1,
      expect.stringContaining(`${torn}: cannot be read to its end`),
    ]);
    const fine = put("fine.rdf", '_:a <fine> "x" .');
    const nobody = await runWeft([
      "live",
      "--files",
      fine,
      "--to",
      `http://127.0.0.1:${await findFreePort()}`,
    ]);
    expect([nobody.code, nobody.stderr]).toEqual([
      1,
      expect.stringContaining("nothing listens there"),
    ]);
  });
});

describe("the sample", () => {
  test("a project's packages, with ranges as facets; loaded twice it is the same", async () => {
    const counts = [];
    for (let round = 0; round < 2; round++) {
      const ended = await runWeft(["sample", "--npm", ".", "--to", server.url]);
      expect([ended.code, ended.stderr]).toEqual([0, ""]);
      counts.push(
        await ask(
          "{ q(func: type(Package)) { count(uid) } k(func: type(Keyword)) { count(uid) } }",
        ),
      );
    }
    expect(counts[1]).toEqual(counts[0]);
    const query =
      '{ q(func: eq(Package.name, "fastify")) { Package.version Package.dependencies @facets(range) @filter(eq(Package.name, "avvio")) { Package.name } } }';
    expect(await ask(query)).toMatchObject({
      q: [
        {
          "Package.dependencies": [
            {
              "Package.name": "avvio",
              "Package.dependencies|range": expect.stringMatching(/^\^/) as unknown,
            },
          ],
        },
      ],
    });
    const graphql = await post(`${server.url}/graphql`, {
      query:
        '{ queryPackage(filter: {name: {eq: "avvio"}}) { name license { name } dependents { name } } }',
    });
    expect(graphql.json["data"]).toMatchObject({
      queryPackage: [
        { name: "avvio", license: { name: "MIT" }, dependents: [{ name: "fastify" }] },
      ],
    });
  });

  test("a folder without packages is refused", async () => {
    const ended = await runWeft(["sample", "--npm", folder, "--to", server.url]);
    expect([ended.code, ended.stderr]).toEqual([1, `weft: ${folder} has no node_modules\n`]);
  });
});
