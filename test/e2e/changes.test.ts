// Goal: who follows the change feed learns of every transaction exactly once, with values before and after, over ends
// of the reader, of a process and of the server; what is not meant for it never reaches it; what it asks for is bounded.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { follow, type FeedReader } from "./feed-reader.ts";
import {
  cleanUp,
  get,
  makeFolder,
  post,
  rdf,
  startServer,
  type Json,
  type TestServer,
} from "./server.ts";

let server: TestServer;

beforeAll(async () => {
  server = await startServer({
    dataDir: makeFolder(),
    flags: [
      "--no-sample",
      "--workers",
      "3",
      "--limit",
      "feeds=40; feed-names=20; keep-alive=200ms",
    ],
  });
}, 60_000);
afterAll(cleanUp);

async function write(facts: string, url = server.url): Promise<Json> {
  const answer = await post(`${url}/mutate?commitNow=true`, `{ ${facts} }`, rdf);
  expect(answer.text).toContain("Success");
  return answer.json;
}

const set = (...facts: readonly string[]): string => `set { ${facts.join(" .\n")} .\n }`;
const remove = (...facts: readonly string[]): string => `delete { ${facts.join(" .\n")} .\n }`;

const alter = async (body: string | object): Promise<void> => {
  expect((await post(`${server.url}/alter`, body)).text).toContain("Done");
};

const factsOf = (event: Json | undefined): Json[] => [...(event?.["facts"] ?? [])];

/** By predicate, in the order in which tests write them. */
const sorted = (facts: readonly Json[]): Json[] =>
  facts.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));

async function nextOf(reader: FeedReader, kind: string): Promise<Json> {
  for (;;) {
    const event = await reader.next();
    if (event === undefined) throw new Error("the feed has ended");
    if (String(event["kind"]) === kind) return event;
  }
}

describe("what a transaction tells", () => {
  let reader: FeedReader;
  beforeAll(async () => {
    await alter(`title: string @index(term) @lang .
      pages: int .
      words: [string] .
      knows: [uid] @reverse @count .
      best: uid .
      word: password .
      price: bigfloat .
      score: float .
      at: dateTime .
      isNew: bool .
      loc: geo .
      vec: float32vector .`);
    reader = await follow(server.url, "/changes");
    expect([reader.status, reader.contentType]).toEqual([
      200,
      "application/x-ndjson; charset=utf-8",
    ]);
  });
  afterAll(() => reader.close());
  const tell = async (facts: string): Promise<Json[]> => {
    await write(facts);
    return sorted(factsOf(await nextOf(reader, "transaction")));
  };

  test("of scalars: each type, nothing before; then both values; then nothing after", async () => {
    const first = await write(
      set(
        '<0x1> <title> "A \\"quoted\\" <title>"',
        '<0x1> <pages> "9007199254740993"',
        '<0x1> <score> "0.5"',
        '<0x1> <price> "1.25"',
        '<0x1> <at> "2020-02-29T12:00:00+02:00"',
        '<0x1> <isNew> "true"',
        "<0x1> <loc> \"{'type':'Point','coordinates':[1.5,2]}\"^^<geo:geojson>",
        '<0x1> <vec> "[1, 0.5]"',
        '<0x1> <anything> "plain"',
      ),
    );
    const schema = await nextOf(reader, "schema");
    expect(schema).toMatchObject({ schema: "<anything>: default .\n", namespace: 0 });
    const event = await nextOf(reader, "transaction");
    expect(event).toMatchObject({
      namespace: 0,
      commitTs: first["extensions"]?.["txn"]?.["commit_ts"],
    });
    expect(Date.parse(String(event["time"]))).toBeGreaterThan(Date.now() - 60_000);
    expect(event["more"]).toBeUndefined();
    const plain = (predicate: string, type: string, after: unknown) => ({
      operation: "set",
      uid: "0x1",
      predicate,
      type,
      after,
    });
    expect(sorted(factsOf(event))).toEqual([
      plain("anything", "default", "plain"),
      plain("at", "datetime", "2020-02-29T12:00:00+02:00"),
      plain("isNew", "bool", true),
      plain("loc", "geo", { type: "Point", coordinates: [1.5, 2] }),
      plain("pages", "int", 9007199254740992),
      plain("price", "bigfloat", 1.25),
      plain("score", "float", 0.5),
      plain("title", "string", 'A "quoted" <title>'),
      plain("vec", "float32vector", [1, 0.5]),
    ]);
    expect(await tell(set('<0x1> <pages> "2"'))).toEqual([
      { ...plain("pages", "int", 2), before: 9007199254740992 },
    ]);
    expect(await tell(remove("<0x1> <pages> *"))).toEqual([
      { operation: "delete", uid: "0x1", predicate: "pages", type: "int", before: 2 },
    ]);
  });

  test("all digits of an integer are in the text", async () => {
    await write(set('<0x2> <pages> "9007199254740993"'));
    const { text } = await get(`${server.url}/changes?follow=false&predicate=pages`);
    expect(text).toContain(
      '"uid":"0x2","predicate":"pages","type":"int","after":9007199254740993}',
    );
    await nextOf(reader, "transaction");
  });

  test("of languages, lists, edges and facets", async () => {
    const of = { uid: "0x3" };
    expect(
      await tell(
        set(
          '<0x3> <title> "one"@en',
          '<0x3> <title> "eins"@de (sure=true)',
          '<0x3> <words> "a"',
          '<0x3> <words> "b"',
          "<0x3> <knows> <0x4> (since=2020-01-01T00:00:00Z, w=0.5)",
          "<0x3> <best> <0x4>",
        ),
      ),
    ).toEqual([
      { operation: "set", ...of, predicate: "best", type: "uid", after: "0x4" },
      {
        operation: "set",
        ...of,
        predicate: "knows",
        type: "uid",
        after: "0x4",
        facets: { since: "2020-01-01T00:00:00Z", w: 0.5 },
      },
      {
        operation: "set",
        ...of,
        predicate: "title",
        language: "de",
        type: "string",
        after: "eins",
        facets: { sure: true },
      },
      { operation: "set", ...of, predicate: "title", language: "en", type: "string", after: "one" },
      { operation: "set", ...of, predicate: "words", type: "string", after: "a" },
      { operation: "set", ...of, predicate: "words", type: "string", after: "b" },
    ]);
    const changed = await tell(
      `${remove('<0x3> <words> "a"', "<0x3> <title@de> *")} ${set(
        '<0x3> <title> "two"@en',
        "<0x3> <knows> <0x4> (w=1.0)",
        "<0x3> <best> <0x5>",
      )}`,
    );
    expect(changed).toEqual(
      [
        {
          operation: "delete",
          ...of,
          predicate: "title",
          language: "de",
          type: "string",
          before: "eins",
          facetsBefore: { sure: true },
        },
        { operation: "delete", ...of, predicate: "best", type: "uid", before: "0x4" },
        { operation: "delete", ...of, predicate: "words", type: "string", before: "a" },
        { operation: "set", ...of, predicate: "best", type: "uid", after: "0x5" },
        {
          operation: "set",
          ...of,
          predicate: "knows",
          type: "uid",
          before: "0x4",
          facetsBefore: { since: "2020-01-01T00:00:00Z", w: 0.5 },
          after: "0x4",
          facets: { w: 1 },
        },
        {
          operation: "set",
          ...of,
          predicate: "title",
          language: "en",
          type: "string",
          before: "one",
          after: "two",
        },
      ].toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)),
    );
  });

  test("that a password was set, and never which: not in clear, not as a hash", async () => {
    const secret = "a secret that nobody sees";
    expect(await tell(set(`<0x6> <word> "${secret}"`))).toEqual([
      { operation: "set", uid: "0x6", predicate: "word", type: "password", hidden: true },
    ]);
    expect(await tell(remove("<0x6> <word> *"))).toEqual([
      { operation: "delete", uid: "0x6", predicate: "word", type: "password", hidden: true },
    ]);
    const { text } = await get(`${server.url}/changes?follow=false`);
    expect(text).not.toContain(secret);
    expect(text).not.toContain("$2");
  });

  test("a slot that one transaction writes twice is told once, one that ends as it began not at all", async () => {
    await tell(set('<0x7> <title> "first"', '<0x7> <pages> "1"'));
    const begun = await post(
      `${server.url}/mutate`,
      `{ ${set('<0x7> <title> "second"', '<0x7> <pages> "2"')} }`,
      rdf,
    );
    const startTs = Number(begun.json["extensions"]?.["txn"]?.["start_ts"]);
    const last = set('<0x7> <title> "third"', '<0x7> <pages> "1"', '<0x7> <score> "1"');
    const ended = await post(
      `${server.url}/mutate?commitNow=true&startTs=${startTs}`,
      `{ ${last} }`,
      rdf,
    );
    expect(ended.text).toContain("Success");
    expect(sorted(factsOf(await nextOf(reader, "transaction")))).toEqual([
      { operation: "set", uid: "0x7", predicate: "score", type: "float", after: 1 },
      {
        operation: "set",
        uid: "0x7",
        predicate: "title",
        type: "string",
        before: "first",
        after: "third",
      },
    ]);
  });

  test("of a GraphQL schema that there is another one, and not its text", async () => {
    const sdl = `type Secretive { id: ID! name: String }
      # Dgraph.Authorization {"VerificationKey":"the key of the tokens","Header":"X","Namespace":"n","Algo":"HS256"}`;
    expect((await post(`${server.url}/admin/schema`, sdl)).text).toContain("Success");
    const { text } = await get(`${server.url}/changes?follow=false`);
    expect(text).toContain('"kind":"schema"');
    expect(text).toContain('"graphql":true');
    expect(text).not.toContain("the key of the tokens");
    expect(text).not.toContain("dgraph.graphql");
  });

  test("a large transaction comes in parts, whose last completes the position", async () => {
    const facts = Array.from({ length: 2500 }, (_, i) => `_:n${i} <pages> "${i}"`);
    const events = await follow(server.url, "/changes?predicate=pages", {
      accept: "text/event-stream",
    });
    await write(set(...facts));
    const parts: Json[] = [];
    while (parts.at(-1)?.["more"] !== undefined || parts.length === 0) {
      parts.push(await nextOf(events, "transaction"));
    }
    expect(parts.length).toBeGreaterThan(2);
    expect(parts.map((one) => one["part"])).toEqual(parts.map((_, i) => i));
    expect(parts.flatMap((part) => factsOf(part).map((fact) => fact["after"]))).toEqual(
      facts.map((_, i) => i),
    );
    const [position, ...others] = new Set(parts.map((part) => String(part["position"])));
    expect(others).toEqual([]);
    expect(events.ids.filter((id) => id === position).length).toBeGreaterThan(0);
    expect(events.ids.at(-1)).toBe(position);
    events.close();
  });
});

describe("what is dropped or defined", () => {
  test("is told as events of their own kind, in their order", async () => {
    const reader = await follow(server.url, "/changes");
    const shown = async (): Promise<Json> => {
      for (;;) {
        const event = await reader.next();
        if (event === undefined) throw new Error("the feed has ended");
        const { kind, operation, predicate, type, schema } = event as unknown as Record<
          string,
          Json
        >;
        if (String(kind) !== "transaction") {
          return { kind, operation, predicate, type, schema } as unknown as Json;
        }
      }
    };
    await alter("dropped: int @index(int) .\ntype Dropped {\n dropped\n}");
    expect(await shown()).toEqual({
      kind: "schema",
      schema: "<dropped>: int @index(int) .\ntype <Dropped> {\n  <dropped>\n}\n",
    });
    await write(set('<0x20> <dropped> "1"'));
    await alter({ drop_op: "TYPE", drop_value: "Dropped" });
    expect(await shown()).toEqual({ kind: "drop", operation: "type", type: "Dropped" });
    await alter({ drop_attr: "dropped" });
    expect(await shown()).toEqual({ kind: "drop", operation: "predicate", predicate: "dropped" });
    await alter({ drop_op: "DATA" });
    expect(await shown()).toEqual({ kind: "drop", operation: "data" });
    await alter({ drop_all: true });
    expect(await shown()).toEqual({ kind: "drop", operation: "all" });
    reader.close();
    // Whoever comes later reads the same: names of predicates that are gone by now.
    const again = await (await follow(server.url, "/changes?follow=false&from=oldest")).rest();
    const facts = again.flatMap((event) => factsOf(event));
    expect(facts).toContainEqual({
      operation: "set",
      uid: "0x20",
      predicate: "dropped",
      type: "int",
      after: 1,
    });
  });
});

describe("what a reader asks for", () => {
  beforeAll(async () => {
    await alter("name: string .\nage: int .\nowns: [uid] .\ntype Dog {\n name\n age\n}");
    await write(set('<0x30> <name> "Ann"', '<0x30> <dgraph.type> "Person"', '<0x30> <age> "3"'));
    await write(set('<0x31> <name> "Rex"', '<0x31> <dgraph.type> "Dog"', "<0x30> <owns> <0x31>"));
    await write(set('<0x32> <name> "Thing"'));
    await write(set('<0x30> <age> "4"', '<0x31> <age> "5"'));
    await write(remove("<0x31> * *"));
    await write(set('<0x31> <name> "another"'));
    await write(set('<0x32> <dgraph.type> "Dog"'));
  });

  const told = async (search: string): Promise<string[]> => {
    const reader = await follow(server.url, `/changes?follow=false&from=oldest&${search}`);
    return (await reader.rest())
      .flatMap((event) => factsOf(event))
      .filter((fact) => Number(fact["uid"]) >= 0x30 && Number(fact["uid"]) <= 0x32)
      .map((one) => `${String(one["uid"])} ${String(one["predicate"])} ${String(one["after"])}`);
  };

  test("predicates", async () => {
    expect(await told("predicate=age")).toEqual([
      "0x30 age 3",
      "0x30 age 4",
      "0x31 age 5",
      "0x31 age undefined",
    ]);
    expect(await told("predicate=owns&predicate=dgraph.type")).toHaveLength(5);
    expect(await told("predicate=nosuch")).toEqual([]);
  });

  test("types: of nodes that have them before or after, a deletion too", async () => {
    const dogs = await told("type=Dog");
    expect(dogs.toSorted()).toEqual(
      [
        "0x31 name Rex",
        "0x31 dgraph.type Dog",
        "0x31 age 5",
        "0x31 name undefined",
        "0x31 age undefined",
        "0x31 dgraph.type undefined",
        "0x32 dgraph.type Dog",
      ].toSorted(),
    );
    const people = await told("type=Person");
    expect(people).toContain("0x30 owns 0x31");
    expect(people.every((one) => one.startsWith("0x30"))).toBe(true);
    expect(await told("type=Person&type=Dog&predicate=name")).toEqual([
      "0x30 name Ann",
      "0x31 name Rex",
      "0x31 name undefined",
    ]);
  });

  test("types, of one who follows what is written now", async () => {
    const reader = await follow(server.url, "/changes?type=Cat");
    const made = await write(set('_:c <name> "Tom"', '_:c <dgraph.type> "Cat"', '_:d <name> "x"'));
    const uid = String(made["data"]?.["uids"]?.["c"]);
    expect(factsOf(await nextOf(reader, "transaction"))).toHaveLength(2);
    await write(set('<0x32> <name> "not a cat"'));
    await write(set(`<${uid}> <name> "Tim"`));
    expect(factsOf(await nextOf(reader, "transaction"))).toMatchObject([
      { uid, before: "Tom", after: "Tim" },
    ]);
    await write(remove(`<${uid}> <dgraph.type> "Cat"`));
    expect(factsOf(await nextOf(reader, "transaction"))).toHaveLength(1);
    await write(set(`<${uid}> <name> "no cat any more"`));
    await write(set('_:c <dgraph.type> "Cat"'));
    expect(factsOf(await nextOf(reader, "transaction"))).toMatchObject([{ after: "Cat" }]);
    reader.close();
  });

  test.each([
    ["from=-1", 400, "E_PARAMETER", 'not \\"-1'],
    ["from=1e9", 400, "E_PARAMETER", "while parsing from"],
    [`from=${"9".repeat(400)}`, 400, "E_PARAMETER", "while parsing from"],
    ["from=99999999999", 400, "E_PARAMETER", "there is no commit 99999999999 yet"],
    ["from=00000000-1", 410, "E_LOG_GONE", "of another store"],
    ["follow=perhaps", 400, "E_PARAMETER", "while parsing follow as bool"],
    ["namespace=x", 400, "E_PARAMETER", 'a number or all, not \\"x'],
    ["predicates=name", 400, "E_PARAMETER", 'there is no parameter \\"predicates'],
    [
      Array.from({ length: 21 }, (_, i) => `predicate=p${i}`).join("&"),
      400,
      "E_LIMIT",
      "feed-names",
    ],
  ])("is refused: %s", async (search, status, code, words) => {
    const answer = await get(`${server.url}/changes?${search}`);
    expect(answer.status).toBe(status);
    expect(answer.text).toContain(`"code":"${code}"`);
    expect(answer.text).toContain(words);
  });

  test("is a GET", async () => {
    expect((await post(`${server.url}/changes`, "")).status).toBe(405);
  });
});

describe("who resumes", () => {
  test("by a position, a commit's number or Last-Event-ID goes on behind it", async () => {
    const reader = await follow(server.url, "/changes", { accept: "text/event-stream" });
    expect(reader.contentType).toBe("text/event-stream; charset=utf-8");
    for (const name of ["r1", "r2", "r3"]) await write(set(`_:a <name> "${name}"`));
    const events = [await reader.next(), await reader.next(), await reader.next()];
    reader.close();
    const names = (all: readonly (Json | undefined)[]): unknown[] =>
      all.flatMap((event) => factsOf(event).map((fact) => fact["after"]));
    expect(names(events)).toEqual(["r1", "r2", "r3"]);
    const position = String(events[0]?.["position"]);
    const commit = String(events[1]?.["commit"]);
    const ended = "/changes?follow=false";
    const rest = async (path: string, headers = {}): Promise<unknown[]> =>
      names(await (await follow(server.url, path, headers)).rest());
    expect(await rest(`${ended}&from=${position}`)).toEqual(["r2", "r3"]);
    expect(await rest(`${ended}&from=${commit}`)).toEqual(["r3"]);
    // What the address says was where it began.
    const resumed = { "last-event-id": position, accept: "text/event-stream" };
    expect(await rest(`${ended}&from=oldest`, resumed)).toEqual(["r2", "r3"]);
    const forged = await follow(server.url, "/changes", { "last-event-id": "1; drop" });
    expect([forged.status, JSON.stringify(await forged.next())]).toEqual([
      400,
      expect.stringContaining("E_PARAMETER"),
    ]);
  });

  test("heartbeats move the position past what is not for the reader", async () => {
    const reader = await follow(server.url, "/changes?predicate=nothing");
    const before = reader.position();
    await write(set('_:a <name> "for others"'));
    while (reader.position() === before || reader.position() === "") {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    expect(reader.events).toEqual([]);
    reader.close();
  });
});

describe("load", () => {
  test("more feeds than may be open are refused, with the limit's name; those that end make room", async () => {
    const open: FeedReader[] = [];
    let refused: FeedReader | undefined;
    while (refused === undefined) {
      const reader = await follow(server.url, "/changes");
      if (reader.status === 200) open.push(reader);
      else refused = reader;
    }
    expect(refused.status).toBe(503);
    expect(JSON.stringify(await refused.next())).toContain("--limit feeds");
    await write(set('_:a <name> "to everybody"'));
    const names = await Promise.all(
      open.map(async (one) => factsOf(await nextOf(one, "transaction"))[0]?.["after"]),
    );
    expect(new Set(names)).toEqual(new Set(["to everybody"]));
    for (const one of open) one.close();
    for (;;) {
      const reader = await follow(server.url, "/changes");
      reader.close();
      if (reader.status === 200) break;
    }
  });

  test("a reader that is slower than the writes is told all of them", async () => {
    const reader = await follow(server.url, "/changes?predicate=name");
    reader.pause();
    const text = "x".repeat(2000);
    for (let i = 0; i < 30; i++) {
      await write(
        set(...Array.from({ length: 200 }, (_, k) => `_:n${k} <name> "${i}.${k} ${text}"`)),
      );
    }
    reader.resume();
    const seen = new Set<string>();
    while (seen.size < 6000) {
      for (const fact of factsOf(await nextOf(reader, "transaction"))) {
        const [name = ""] = String(fact["after"]).split(" ");
        expect(seen.has(name)).toBe(false);
        seen.add(name);
      }
    }
    reader.close();
  });
});
