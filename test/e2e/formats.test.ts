/** Stores of each earlier format (test/stores) open as they are, answer from their indexes, take writes, and come back. */
import * as fs from "node:fs";
import { join } from "node:path";
import { brotliDecompressSync } from "node:zlib";
import { afterAll, expect, test } from "vitest";
import { cleanUp, makeFolder, post, rdf, root, runWeft, startServer } from "./server.ts";

afterAll(cleanUp);

const packed = join(root, "test", "stores");
const stores = fs.readdirSync(packed).filter((name) => name.startsWith("format-"));
const dql = { "content-type": "application/dql" };

function unpack(name: string): string {
  const dir = join(makeFolder(), "data");
  fs.mkdirSync(dir);
  for (const file of fs.readdirSync(join(packed, name))) {
    const bytes = brotliDecompressSync(fs.readFileSync(join(packed, name, file)));
    fs.writeFileSync(join(dir, file.replace(/\.br$/, "")), bytes);
  }
  return dir;
}

async function checkOf(dir: string): Promise<string> {
  const { code, stdout, stderr } = await runWeft(["check", "--data", dir]);
  expect([code, stderr]).toEqual([0, ""]);
  return stdout;
}

const query = `{
  all(func: has(word)) { count(uid) }
  terms(func: anyofterms(word, "7")) { count(uid) }
  exact(func: eq(word, "word 7 of 20")) { uid number }
  text(func: regexp(word, /of 39\\d/)) { count(uid) }
  number(func: between(number, 1000, 1100)) { count(uid) }
  weight(func: ge(weight, 49.0)) { weight }
  since(func: eq(since, "2011-03-06T00:00:00Z")) { count(uid) }
  place(func: near(place, [10.0, 5.0], 1000)) { uid place }
  labels(func: eq(labels, "a1")) { count(uid) }
  german(func: eq(word, "word 3 of 3")) { word@de }
  back(func: uid(0x6)) { ~link @facets { uid } count(~link) }
  counted(func: eq(count(link), 1)) { count(uid) }
  secret(func: uid(0x32)) { right: checkpwd(secret, "pass50") wrong: checkpwd(secret, "pass51") }
  gone(func: has(is_open)) { uid }
  last(func: uid(0x1)) { number }
}`;
const answer = {
  all: [{ count: 399 }],
  exact: [{ uid: "0x14", number: 140 }],
  text: [{ count: 10 }],
  weight: [{ weight: 49.375 }, { weight: 50 }],
  place: [{ uid: "0x64", place: { type: "Point", coordinates: [10, 5] } }],
  german: [{ "word@de": "Wort 3" }],
  back: [
    {
      "~link": [1, 81, 161, 241, 321].map((from) => ({
        uid: `0x${from.toString(16)}`,
        "~link|weight": from,
      })),
      "count(~link)": 5,
    },
  ],
  secret: [{ right: true, wrong: false }],
  gone: [],
  last: [{ number: 1019 }],
};

const people = {
  query: '{ queryPerson(filter: { name: { anyofterms: "ada" } }) { email friends { name } } }',
};

test.each(stores)(
  "%s",
  async (name) => {
    const dir = unpack(name);
    const [, format = ""] = /format-(\d+)/.exec(name) ?? [];
    const before = await runWeft(["check", "--data", dir]);
    expect(before.stdout).toContain(`weft: format ${format}, `);
    let server = await startServer({ dataDir: dir, flags: ["--no-sample", "--workers", "1"] });
    const ask = async (): Promise<unknown> => {
      const { json } = await post(`${server.url}/query`, query, dql);
      expect(json["errors"]).toBeUndefined();
      return json["data"];
    };
    const found = await ask();
    expect(found).toMatchObject(answer);
    const { json } = await post(`${server.url}/graphql`, people);
    expect(json["data"]).toEqual({
      queryPerson: [{ email: "a@x.org", friends: [{ name: "Charles Babbage" }] }],
    });
    await post(
      `${server.url}/mutate?commitNow=true`,
      '{ set { _:n <word> "written now" . } }',
      rdf,
    );
    await server.stop();
    expect(await checkOf(dir)).toMatch(/closed in order[^]* 0 problems/);
    server = await startServer({ dataDir: dir, flags: ["--no-sample", "--workers", "1"] });
    expect(await ask()).toEqual({ ...(found as object), all: [{ count: 400 }] });
    await server.stop();
  },
  60_000,
);
