// Goal: weft live finds the nodes that are there (by keys, by --xidmap), takes folders and exports, and goes on.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { cleanUp, makeFolder, post, runWeft, startServer, type TestServer } from "./server.ts";

let server: TestServer;
let folder: string;

beforeAll(async () => {
  folder = makeFolder();
  server = await startServer({ dataDir: makeFolder() });
  await post(
    `${server.url}/admin/schema`,
    "type Film { title: String! @id  year: Int  like: [Film] }",
  );
  await post(
    `${server.url}/alter`,
    "code: string @index(exact) @unique @upsert .\nnote: string @index(exact) .",
  );
});
afterAll(cleanUp);

function put(name: string, text: string): string {
  const file = join(folder, name);
  writeFileSync(file, name.endsWith(".gz") ? gzipSync(text) : text);
  return file;
}

async function load(...args: string[]): Promise<string> {
  const ended = await runWeft(["live", "--to", server.url, ...args]);
  expect([ended.code, ended.stderr]).toEqual([0, ""]);
  return ended.stdout;
}

const ask = async (query: string): Promise<unknown> =>
  (await post(`${server.url}/query`, query)).json["data"];

describe("values of keys", () => {
  test("@id: one value twice in the files, and again in a later load, is one node", async () => {
    const first = put(
      "first.rdf",
      '_:x <Film.like> _:b .\n_:x <Film.title> "Other" .\n_:a <Film.title> "Heat" .\n_:a <Film.year> "1995" .\n' +
        '_:b <Film.title> "Heat" .\n_:b <dgraph.type> "Film" .\n',
    );
    await load("--files", first);
    const second = put("second.rdf", '<0x777> <Film.title> "Heat" .\n<0x777> <note> "by number" .');
    expect(await load("--files", second)).toContain(
      "nodes that are there already have 1 value of keys",
    );
    const third = put(
      "third.json",
      '[{"uid":"_:z","Film.title":"Heat","Film.like":[{"uid":"_:z"}]}]',
    );
    expect(await load("--files", third)).toMatch(/loading: 1 object in /);
    const { q } = (await ask(
      '{ q(func: eq(Film.title, "Heat")) { Film.year note Film.like { Film.title } } }',
    )) as { q: object[] };
    expect(q).toEqual([
      { "Film.year": 1995, note: "by number", "Film.like": [{ "Film.title": "Heat" }] },
    ]);
    expect(await ask('{ q(func: eq(Film.title, "Other")) { Film.like { Film.year } } }')).toEqual({
      q: [{ "Film.like": [{ "Film.year": 1995 }] }],
    });
  });

  test("@unique", async () => {
    const file = put("codes.rdf", '_:c <code> "A1" .\n_:c <note> "one" .');
    await load("--files", file);
    await load("--files", put("more.rdf", '_:d <code> "A1" .\n_:d <note> "two" .'));
    expect(await ask('{ q(func: eq(code, "A1")) { note } }')).toEqual({ q: [{ note: "two" }] });
  });
});

describe("--xidmap", () => {
  test("labels keep their nodes from one load to the next; what was stored is not sent again", async () => {
    const map = join(folder, "labels.map");
    const one = put("x1.rdf", '_:m <note> "m" .\n_:n <note> "n" .');
    await load("--files", one, "--xidmap", map);
    expect(existsSync(`${map}.progress`)).toBe(false);
    await load("--files", put("x2.rdf", "_:m <Film.like> _:n ."), "--xidmap", map);
    expect(
      await ask(
        "{ q(func: has(Film.like)) @filter(eq(count(Film.like), 1)) { note Film.like { note } } }",
      ),
    ).toMatchObject({
      q: expect.arrayContaining([{ note: "m", "Film.like": [{ note: "n" }] }]) as unknown,
    });
    const lines = Array.from({ length: 60 }, (_, i) => `_:r${i} <note> "r" .`);
    lines[45] = '_:r45 <note> "no end .';
    const bad = put("x3.rdf", lines.join("\n"));
    const args = ["--files", bad, "--xidmap", map, "--batch", "10", "--in-flight", "1"];
    const ended = await runWeft(["live", "--to", server.url, ...args]);
    expect([ended.code, ended.stderr]).toEqual([1, expect.stringContaining(`${bad}:46: `)]);
    expect(JSON.parse(readFileSync(`${map}.progress`, "utf8"))).toMatchObject({ done: 40 });
    // As long as before: the file is known by its name and size.
    lines[45] = '_:r45 <note> "ended" .';
    put("x3.rdf", lines.join("\n"));
    const again = await load(...args);
    expect(again).toContain("20 facts");
    expect(await ask('{ q(func: eq(note, "r")) { count(uid) } }')).toEqual({ q: [{ count: 59 }] });
    const other = await runWeft(["live", "--to", server.url, "--files", one, "--xidmap", bad]);
    expect(other.stderr).toBe(`weft: --xidmap: ${bad} is no map of labels\n`);
  });
});

describe("files", () => {
  test("folders, a format that names do not say, and the form of the reference's exports", async () => {
    const dir = join(folder, "export");
    mkdirSync(join(dir, "deep"), { recursive: true });
    const rdf =
      '<0x9001> <ref.name> "Änne"@de <0x0> .\n<0x9001> <ref.link> <0x9002> <0x0> (since=2020-01-01T00:00:00Z) .\n';
    writeFileSync(join(dir, "g01.rdf.gz"), gzipSync(rdf));
    const json = '[\n  {"uid":"0x9002","namespace":"0x0","ref.name":"Bert"}\n]\n';
    writeFileSync(join(dir, "deep", "g02.json.gz"), gzipSync(json));
    const schema =
      "[0x0] <ref.name>:string @index(exact) @lang . \n[0x0] <ref.link>:[uid] @reverse . \n[0x0] type <Ref> {\n\tref.name\n\tref.link\n}\n";
    writeFileSync(join(dir, "g01.schema.gz"), gzipSync(schema));
    const sdl = [
      {
        namespace: 0,
        schema: "type Film { title: String! @id  year: Int  like: [Film]  more: Int }",
      },
    ];
    writeFileSync(join(dir, "g01.gql_schema.gz"), gzipSync(JSON.stringify(sdl)));
    await load(
      "--files",
      dir,
      "--schema",
      join(dir, "g01.schema.gz"),
      "--graphql-schema",
      join(dir, "g01.gql_schema.gz"),
    );
    expect(
      await ask("{ q(func: uid(0x9001)) { ref.name@de ref.link @facets { ref.name } } }"),
    ).toEqual({
      q: [
        {
          "ref.name@de": "Änne",
          "ref.link": [{ "ref.name": "Bert", "ref.link|since": "2020-01-01T00:00:00Z" }],
        },
      ],
    });
    const answer = await post(`${server.url}/graphql`, {
      query: '{ __type(name: "Film") { fields { name } } }',
    });
    expect(answer.text).toContain('"more"');
    const odd = put("facts.txt", '_:o <note> "odd" .');
    await load("--files", odd, "--format", "rdf");
    expect((await runWeft(["live", "--to", server.url, "--files", odd])).stderr).toContain(
      "--format says",
    );
  });
});
