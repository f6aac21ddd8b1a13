// Goal: weft bulk makes the store that weft live makes of the same files, and one that is sound.
import { existsSync, readdirSync, writeFileSync, mkdirSync, renameSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { cleanUp, makeFolder, post, runWeft, startServer, type TestServer } from "./server.ts";

const folder = makeFolder();
let live: TestServer;
let files: string;
let schema: string;

afterAll(cleanUp);

function put(name: string, text: string): string {
  const file = join(folder, name);
  writeFileSync(file, name.endsWith(".gz") ? gzipSync(text) : text);
  return file;
}

const schemaText = `
name: string @index(exact, term, fulltext, trigram) @lang .
plain: string .
nick: [string] @index(hash) @count .
age: int @index(int) .
score: float @index(float) .
born: datetime @index(hour) .
at: geo @index(geo) .
pin: password .
big: bigfloat @index(bigfloat) .
vec: float32vector @index(hnsw(metric: "euclidean")) .
text: string .
boss: uid @reverse @count .
knows: [uid] @reverse @count .
single: uid .
type Person {
  name
  age
}`;

/** All kinds of values; values that come twice; long texts; a node with many edges. */
function makeLines(count: number): string[] {
  const lines: string[] = [];
  for (let i = 0; i < count; i++) {
    const node = i % 9 === 4 ? `<http://n.example/${i}>` : `_:n${i}`;
    lines.push(
      `${node} <dgraph.type> "Person" .`,
      `${node} <name> "person ${i} runs & jumps" .`,
      `${node} <plain> "plain ${i}" (since=2020-01-0${(i % 9) + 1}T00:00:00Z) .`,
      `${node} <name> "Persön ${i}"@de .`,
      `${node} <nick> "n${i % 13}" .`,
      `${node} <nick> "m${i % 7}" .`,
      `${node} <age> "${i % 90}"^^<xs:int> .`,
      `${node} <age> "${i % 91}" .`,
      `${node} <score> "${i / 4}" .`,
      `${node} <born> "20${10 + (i % 10)}-05-0${(i % 9) + 1}T10:00:00Z" .`,
      `${node} <boss> _:n${(i * 7) % count} .`,
      `${node} <boss> _:n${(i * 3) % count} (rank=${i}) .`,
      `${node} <knows> _:n${(i * 11) % count} (w=0.5, how="met") .`,
      `${node} <knows> _:n${(i + 1) % count} .`,
      `${node} <knows> _:n${(i * 11) % count} (w=0.75) .`,
      `_:hub <knows> ${node} .`,
    );
    if (i % 10 === 0) {
      lines.push(
        `${node} <at> "{'type':'Point','coordinates':[${i % 90},${i % 80}]}"^^<geo:geojson> .`,
        `${node} <big> "${i}.123456789012345678901" .`,
        `${node} <vec> "[${i}, 0.5]" .`,
        `${node} <text> "${"long ".repeat(300)}${i}\\n\\"q\\"" .`,
        `# a comment`,
        ``,
      );
    }
  }
  lines.push(
    '_:n0 <pin> "$2a$10$abcdefghijklmnopqrstuv"^^<xs:password> .',
    "_:n1 <new.one> _:n2 .",
  );
  lines.push(
    '_:n3 <new.text> "first" .',
    '_:n3 <new.text> "second" .',
    '_:n4 <new.int> "4"^^<xs:int> .',
  );
  return lines;
}

async function exportOf(dataDir: string): Promise<string[]> {
  const ended = await runWeft(["export", "--data", dataDir, "--to", "-"]);
  expect([ended.code, ended.stderr]).toEqual([0, ""]);
  return ended.stdout.split("\n").sort();
}

const bulk = (dir: string, ...args: string[]): ReturnType<typeof runWeft> =>
  runWeft(["bulk", "--data", dir, "--schema", schema, ...args]);

async function makeBulk(...args: string[]): Promise<string> {
  const dir = join(makeFolder(), "store");
  const ended = await bulk(dir, ...args);
  expect([ended.code, ended.stderr]).toEqual([0, ""]);
  return dir;
}

beforeAll(async () => {
  schema = put("all.schema", schemaText);
  const lines = makeLines(240);
  files = [
    put("one.rdf.gz", lines.slice(0, 2000).join("\n")),
    put("two.rdf", lines.slice(2000).join("\n")),
  ].join(",");
  live = await startServer({ dataDir: makeFolder() });
  const ended = await runWeft([
    "live",
    "--to",
    live.url,
    "--files",
    files,
    "--schema",
    schema,
    // One request after the other: of values that come twice the last one stays.
    "--in-flight",
    "1",
    "--batch",
    "20000",
  ]);
  expect([ended.code, ended.stderr]).toEqual([0, ""]);
});

describe("weft bulk", () => {
  test("makes what live makes, fact by fact, and the store is sound", async () => {
    const dir = await makeBulk("--files", files);
    const checked = await runWeft(["check", "--data", dir]);
    expect([checked.code, checked.stdout]).toEqual([0, expect.stringContaining(" 0 problems")]);
    expect(await exportOf(dir)).toEqual(await exportOf(live.dataDir));
    const served = await startServer({ dataDir: dir });
    const queries = [
      "{ q(func: type(Person), orderasc: age, first: 20) { name age nick born score boss { name } } }",
      '{ q(func: eq(name, "person 11 runs & jumps")) { uid name name@de age knows @facets { name } boss @facets { name } } }',
      '{ q(func: anyofterms(name, "person"), first: 5, orderdesc: score) { name score } }',
      '{ q(func: alloftext(name, "running 21")) { name } }',
      "{ q(func: regexp(name, /son 3[12] /)) { name } }",
      "{ q(func: has(text)) { count(uid) } a(func: ge(count(knows), 3)) { count(uid) } }",
      '{ q(func: eq(count(~knows), 4)) { count(uid) } b(func: eq(nick, "m3")) { count(uid) } }',
      "{ q(func: near(at, [20,20], 1000000), orderasc: name) { name at } }",
      '{ q(func: similar_to(vec, 3, "[51, 0.5]"), orderasc: name) { name } }',
      "{ q(func: eq(age, 40), orderasc: name) { name c: count(~boss) ~boss(orderasc: name) { name } } }",
      '{ q(func: has(pin)) { checkpwd(pin, "x") } n(func: has(new.text)) { new.text } i(func: has(new.int)) { new.int } }',
      "schema(pred: [name, nick, new.one, new.text, new.int]) { type index tokenizer list lang count }",
    ];
    for (const query of queries) {
      const [made, expected] = await Promise.all(
        [served, live].map(async ({ url }) => (await post(`${url}/query`, query)).json["data"]),
      );
      expect(made).toEqual(expected);
    }
    const rdf = { "content-type": "application/rdf" };
    const added = await post(
      `${served.url}/mutate?commitNow=true`,
      '{ set { _:x <name> "added" .\n_:x <knows> <0x1> . } }',
      rdf,
    );
    expect(added.json["errors"]).toBeUndefined();
    expect(await served.stop()).toBe(0);
    expect((await runWeft(["check", "--data", dir])).code).toBe(0);
  });

  test("with little memory, one thread, or none beside: the same store", async () => {
    const [first, ...others] = await Promise.all([
      exportOf(await makeBulk("--files", files)),
      exportOf(await makeBulk("--files", files, "--memory", "100KB", "--threads", "0")),
    ]);
    for (const other of others) expect(other).toEqual(first);
  });

  test.each(["rdf", "json"])("an export as %s, loaded again, is the same store", async (format) => {
    const dir = join(makeFolder(), "out");
    await runWeft(["export", "--data", live.dataDir, "--to", dir, "--format", format]);
    const made = await makeBulk(
      "--files",
      dir,
      "--schema",
      join(dir, "g01.schema.gz"),
      "--graphql-schema",
      join(dir, "g01.gql_schema.gz"),
    );
    // JSON has no texts without a type: they come back as strings.
    const untyped = (lines: readonly string[]): readonly string[] =>
      lines.map((line) => line.replace("^^<xs:string>", ""));
    expect(untyped(await exportOf(made))).toEqual(untyped(await exportOf(live.dataDir)));
  });

  test("uids that the files name stay, and labels are numbered behind them", async () => {
    const mixed = put(
      "mixed.rdf",
      '_:a <name> "a" .\n<0x20> <name> "b" .\n<0x1> <knows> _:a .\n_:b <knows> <0x20> .',
    );
    const lines = await exportOf(await makeBulk("--files", mixed));
    expect(lines).toEqual([
      "",
      "<0x1> <knows> <0x21> <0x0> .",
      '<0x20> <name> "b"^^<xs:string> <0x0> .',
      '<0x21> <name> "a"^^<xs:string> <0x0> .',
      "<0x22> <knows> <0x20> <0x0> .",
    ]);
    const renamed = await exportOf(await makeBulk("--files", mixed, "--new-uids"));
    expect(renamed).toContain('<0x1> <name> "a"^^<xs:string> <0x0> .');
  });

  test("a faulty line ends it with its place, and leaves nothing behind", async () => {
    const bad = put("bad.rdf", `_:a <name> "a" .\n_:b <age> "old" .\n`);
    const dir = join(makeFolder(), "store");
    const ended = await bulk(dir, "--files", bad);
    expect([ended.code, ended.stderr]).toEqual([
      1,
      `weft: ${bad}:2: strconv.ParseInt: parsing "old": invalid syntax\n`,
    ]);
    expect(existsSync(join(dir, "weft.store"))).toBe(false);
    const other = put("other.rdf", `_:a <name> "a" <0x7> .\n`);
    expect((await bulk(dir, "--files", other)).stderr).toContain("a fact of namespace 7");
    const again = await bulk(dir, "--files", put("good.rdf", '_:a <name> "a" .'));
    expect([again.code, again.stderr, readdirSync(dir).sort()]).toEqual([
      0,
      "",
      ["data.mdb", "weft.store"],
    ]);
    const full = await bulk(dir, "--files", bad);
    expect(full.stderr).toContain("holds a store already");
  });

  test("what was ended between its renames is done again; of two at once one goes on", async () => {
    const dir = join(makeFolder(), "store");
    const good = put("once.rdf", '_:a <name> "a" .');
    expect((await bulk(dir, "--files", good)).code).toBe(0);
    mkdirSync(join(dir, "bulk.new"));
    renameSync(join(dir, "weft.store"), join(dir, "bulk.new", "weft.store"));
    const both = await Promise.all([bulk(dir, "--files", good), bulk(dir, "--files", good)]);
    expect(both.filter(({ code }) => code === 0)).toHaveLength(1);
    expect(readdirSync(dir).sort()).toEqual(["data.mdb", "weft.store"]);
    expect((await runWeft(["check", "--data", dir])).stdout).toContain(" 0 problems");
  });

  test("values of @id that two nodes have are refused; with a GraphQL schema it serves", async () => {
    const sdl = put("film.graphql", "type Film { title: String! @id  year: Int @search }");
    const dir = join(makeFolder(), "store");
    const facts = (second: string): string =>
      put(
        "films.rdf",
        `_:a <Film.title> "Heat" .\n_:b <Film.title> "${second}" .\n_:a <dgraph.type> "Film" .`,
      );
    const load = (file: string): ReturnType<typeof runWeft> =>
      runWeft(["bulk", "--data", dir, "--files", file, "--graphql-schema", sdl]);
    const refused = await load(facts("Heat"));
    expect([refused.code, refused.stderr]).toEqual([
      1,
      expect.stringContaining("1 values of keys are on several nodes: Film.title of 0x1 and 0x2"),
    ]);
    expect((await load(facts("Ronin"))).code).toBe(0);
    const served = await startServer({ dataDir: dir });
    const answer = await post(`${served.url}/graphql`, {
      query: '{ getFilm(title: "Heat") { title } }',
    });
    expect(answer.json["data"]).toEqual({ getFilm: { title: "Heat" } });
  });
});
