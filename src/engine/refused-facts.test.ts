// Goal: which facts are refused, in which order, with which words, and what becomes of the transaction
// (reference/dql 2.3, 2.7, 2.11, 3.3, 3.6).
import { beforeEach, describe, expect, test } from "vitest";
import { askEngine } from "../../test/support/ask-engine.ts";
import type { Clock } from "../base/clock.ts";
import { openMemoryStore } from "../stores/open.ts";
import { deriveFill } from "../write/fill.ts";
import { openEngine } from "./open.ts";
import type { OpenEngine } from "./open.ts";

let engine: OpenEngine;
const clock: Clock = { nowMs: () => 0, tickMs: () => 0 };

const schema = `
age: int .
zeal: int .
friend: [uid] @reverse .
email: string @index(exact) @unique .
code: int @index(int) @unique .
`;

beforeEach(async () => {
  engine = await openEngine({ store: openMemoryStore({ derive: deriveFill }), clock });
  await alter(schema);
});

function alter(text: string) {
  return engine.alter({ kind: "schema", text, runInBackground: false }, 0);
}

function mutate(
  text: string,
  options: { startTs?: number; commitNow?: boolean; kind?: "rdf" | "json" } = {},
) {
  const { startTs = 0, commitNow = true, kind = "rdf" } = options;
  const body = { kind, text };
  return engine.mutate({ namespace: 0, body, startTs, commitNow, timeoutMs: 0 });
}

const set = (facts: string): string => `{ set { ${facts} } }`;
const unset = (facts: string): string => `{ delete { ${facts} } }`;
const aborted = { code: "E_TXN_ABORTED" };

async function refusal(text: string, kind: "rdf" | "json" = "rdf"): Promise<string> {
  return mutate(text, { kind }).then(
    () => "",
    (error: unknown) => (error as Error).message,
  );
}

describe("the first refused fact of a request is told", () => {
  test("in the order in which they were given", async () => {
    expect(await refusal(set(`<0x5> <zeal> "first" .\n<0x1> <age> "second" .`))).toContain("first");
    expect(await refusal(set(`<0x5> <age> "first" .\n<0x1> <age> "second" .`))).toContain("first");
  });

  test("names of nodes of sets before those of deletes", async () => {
    const text = `{ delete { <bob> <age> * . } set { <alice> <age> "1" . } }`;
    expect(await refusal(text)).toBe('strconv.ParseUint: parsing "alice": invalid syntax');
  });
});

describe("deletes", () => {
  test.each([
    [`<alice> <age> * .`, "UID not found/generated for xid alice\n"],
    [`<0x1> <friend> <bob> .`, "UID not found/generated for xid bob\n"],
    [`<0x0> <age> * .`, "UID must to be greater than 0"],
    [
      `<0x1> <friend> "x" .`,
      'Input for predicate "friend" of type uid is scalar. Edge: entity:1 attr:"0-friend" value:"x" op:DEL',
    ],
    [
      `<0x1> <nosuch> <0x2> .`,
      'Input for predicate "nosuch" of type scalar is uid. Edge: entity:1 attr:"0-nosuch" value_type:UID value_id:2 op:DEL',
    ],
    [
      `<0x1> <nosuch> "x"@en .`,
      'Attr: [nosuch] should have @lang directive in schema to mutate edge: [entity:1 attr:"0-nosuch" value:"x" lang:"en" op:DEL]',
    ],
    [
      `<0x1> <dgraph.nosuch> * .`,
      "Can't store predicate `dgraph.nosuch` as it is prefixed with `dgraph.` which is reserved as the namespace for dgraph's internal types/predicates.",
    ],
    [`<0x1> <nosuch> "x" .\n<0x1> <nosuch@en> * .`, ""],
  ])("of %s", async (facts, message) => {
    expect(await refusal(unset(facts))).toBe(message);
  });
});

describe("messages about a fact", () => {
  test.each([
    [
      `<0x1> <friend> "2020-01-01"^^<xs:date> .`,
      String.raw`value:"\x01\x00\x00\x00\x0e՝\xd8\x00\x00\x00\x00\x00\xff\xff" value_type:DATETIME`,
    ],
    [
      `<0x1> <friend> "{'type':'Point','coordinates':[1,2]}"^^<geo:geojson> .`,
      String.raw`value:"\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\xf0?\x00\x00\x00\x00\x00\x00\x00@" value_type:GEO`,
    ],
    [
      `<0x1> <age> <0x2> (on=true, by="Ann") .`,
      String.raw`value_id:2 facets:{key:"by" value:"Ann" tokens:"\x01ann"} facets:{key:"on" value:"\x01" val_type:BOOL}`,
    ],
  ])("show %s as the reference carries it", async (facts, shown) => {
    const message = await refusal(set(facts));
    expect(message.endsWith(shown), message).toBe(true);
  });

  test("show the facets whose keys are wrong", async () => {
    expect(await refusal(set(`<0x1> <age> "1" (a~b=1) .`))).toBe(
      String.raw`key error: subject:"0x1" predicate:"age" object_value:{default_val:"1"} facets:{key:"a~b" value:"\x01\x00\x00\x00\x00\x00\x00\x00" val_type:INT}: Facet "a~b", Has invalid characters`,
    );
  });
});

describe("unique predicates", () => {
  test("give no value to several nodes of one variable", async () => {
    await mutate(set(`<0x1> <age> "1" .\n<0x2> <age> "2" .`));
    const text = `upsert { query { v as var(func: uid(0x1, 0x2)) }
      mutation { set { uid(v) <email> "same" . } } }`;
    expect(await refusal(text)).toBe("unique constraint violated for predicate [email]");
  });

  test("look for a value by its text", async () => {
    const words = `Got error: strconv.ParseInt: parsing "1.5": invalid syntax while running: name:"eq" args:"1.5"`;
    expect(await refusal(set(`<0x1> <code> "1.5" .`))).toBe(words);
    expect(await refusal(`{"set":{"uid":"0x1","code":1.5}}`, "json")).toBe(words);
    expect(await refusal(`{"set":{"uid":"0x1","code":2.0}}`, "json")).toBe("");
  });

  test("are given again with @upsert, and with an index that serves them", async () => {
    await expect(alter("email: string @index(exact) @unique .")).rejects.toThrow(
      "could not drop @upsert from [email] predicate when @unique directive specified",
    );
    await expect(alter("email: string @index(term) @unique @upsert .")).rejects.toThrow(
      "could not drop index [exact] from [email] predicate when @unique directive specified",
    );
    await alter("email: string @index(hash) @unique @upsert .");
    await alter("name: string @index(exact) @upsert .");
    await expect(alter("name: string @index(exact) @unique .")).rejects.toThrow("could not drop");
  });
});

describe("an open transaction", () => {
  test("ends with the refused facts that were to commit it", async () => {
    const { startTs } = await mutate(set(`<0x1> <age> "1" .`), { commitNow: false });
    await expect(mutate(set(`<0x1> <age> "x" .`), { startTs })).rejects.toThrow("ParseInt");
    await expect(
      engine.commit({ namespace: 0, startTs, abort: false, keys: [] }),
    ).rejects.toMatchObject(aborted);
  });

  test("outlives refused facts that were not to commit it, and those that nobody could read", async () => {
    const { startTs } = await mutate(set(`<0x1> <age> "1" .`), { commitNow: false });
    await expect(mutate(set(`<0x1> <age> "x" .`), { startTs, commitNow: false })).rejects.toThrow(
      "ParseInt",
    );
    await expect(mutate(set(`<0x1> <age> .`), { startTs })).rejects.toThrow("invalid end");
    await engine.commit({ namespace: 0, startTs, abort: false, keys: [] });
  });

  test.each(["garbage", "1-0-nosuch", "2-0-age", "x-0-age"])(
    "is aborted for the predicate %s",
    async (pred) => {
      const { startTs, keys, preds } = await mutate(set(`<0x1> <age> "1" .`), { commitNow: false });
      expect(preds).toEqual(["1-0-age"]);
      await expect(
        engine.commit({ namespace: 0, startTs, abort: false, keys, preds: [...preds, pred] }),
      ).rejects.toMatchObject(aborted);
    },
  );
});

describe("what becomes of an unknown predicate", () => {
  const definition = async (name: string): Promise<string> => {
    const { queries } = await mutate(`schema(pred: ${name}) {}`);
    return new TextDecoder().decode(queries);
  };

  test.each([
    [
      "two objects of one node are no list",
      `{"set":[{"uid":"0x1","p":"a"},{"uid":"0x1","p":"b"}]}`,
      '"string"}',
    ],
    [
      "an array is one in any mutation of the request",
      `{"mutations":[{"set":{"uid":"0x1","p":"a"}},{"set":{"uid":"0x2","p":["b"]}}]}`,
      '"string","list":true}',
    ],
    [
      "vectors in one are a list of vectors",
      `{"set":{"uid":"0x1","p":["[1,2]"]}}`,
      '"float32vector","list":true}',
    ],
    [
      "nor does a value after it undo that",
      `{"mutations":[{"set":{"uid":"0x1","p":["a"]}},{"set":{"uid":"0x2","p":"b"}}]}`,
      '"string","list":true}',
    ],
  ])("%s", async (_, body, rest) => {
    await mutate(body, { kind: "json" });
    expect(await definition("p")).toBe(`{"schema":[{"predicate":"p","type":${rest}]}`);
  });

  test("two facts of one subject are a list, unless the subject is written in two ways", async () => {
    await mutate(set(`<0x1> <p> "a" .\n<0x1> <p> "b" .\n<0x1> <q> "a" .\n<1> <q> "b" .`));
    expect(await definition("p")).toContain('"list":true');
    expect(await definition("q")).not.toContain("list");
  });

  test("it is not made where the schema refuses another fact of the request", async () => {
    await refusal(set(`<0x1> <p> "a" .\n<0x1> <age> "x" .`));
    expect(await definition("p")).toBe("{}");
    await refusal(set(`<0x1> <p> "a"@en .`));
    expect(await definition("p")).toContain('"default"');
  });

  test("a request that makes one tells its new nodes", async () => {
    const { uids } = await mutate(set(`_:a <p> "a" .\n_:a <q> _:b .`));
    expect([...(uids?.keys() ?? [])].sort()).toEqual(["a", "b"]);
  });

  test("where none may be made, deletes of unknown ones are refused too", async () => {
    engine = await openEngine({
      store: openMemoryStore({ derive: deriveFill }),
      clock,
      mutations: "strict",
    });
    for (const text of [set(`<0x1> <p> "a" .`), unset(`<0x1> <p> * .`)]) {
      expect(await refusal(text)).toBe("Schema not defined for predicate: 0-p.");
    }
    expect(await refusal(unset(`<0x1> * * .`))).toBe("");
  });

  test("two facts of one node make a list, of truth values too", async () => {
    await mutate(set(`<0x1> <p> "true"^^<xs:boolean> .\n<0x1> <p> "false"^^<xs:boolean> .`));
    expect(await definition("p")).toContain('"bool","list":true}');
    await mutate(unset(`<0x1> <p> "true"^^<xs:boolean> .`));
    expect(await askEngine(engine, "{ q(func: uid(0x1)) { p } }")).toBe('{"q":[{"p":[false]}]}');
  });

  test("names of parts of vector indexes are refused", async () => {
    expect(await refusal(set(`<0x1> <p__vector_x> "a" .`))).toBe(
      'Not allowed to insert mutations in vector index keys, edge: [entity:1 attr:"0-p__vector_x" value:"a"]',
    );
  });
});

test("a query for the schema is answered beside no mutation", async () => {
  const { queries } = await mutate("schema(pred: age) { type }");
  expect(new TextDecoder().decode(queries)).toBe('{"schema":[{"predicate":"age","type":"int"}]}');
  await expect(mutate('{"query":"  "}', { kind: "json" })).rejects.toThrow("empty request");
});
