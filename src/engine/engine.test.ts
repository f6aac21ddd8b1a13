/**
 * The engine over a memory store: transactions over several requests, start times, races, alters
 * (reference/transactions 2, 4, 5).
 */
import { queryDefaults } from "./engine.ts";
import { beforeEach, describe, expect, test } from "vitest";
import type { Clock } from "../base/clock.ts";
import { defaultLimits } from "../model/limits.ts";
import type { NQuad } from "../model/nquad.ts";
import { openMemoryStore } from "../stores/open.ts";
import type { Store } from "../store/store.ts";
import { deriveFill } from "../write/fill.ts";
import { openEngine } from "./open.ts";
import type { OpenEngine } from "./open.ts";
import { packStartTime, unpackStartTime } from "./start-time.ts";

let store: Store;
let engine: OpenEngine;
let nowMs = 0;
const clock: Clock = { nowMs: () => nowMs, tickMs: () => nowMs };

const schema = `
name: string @index(exact, term) .
email: string @index(hash) @upsert .
balance: int @index(int) .
free: string @noconflict .
tags: [string] @index(exact) @count .
friend: [uid] @reverse @count .
crew: [uid] @reverse .
words: [string] @index(term) .
boss: uid @reverse .
`;

beforeEach(async () => {
  nowMs = 1000;
  store = openMemoryStore({ derive: deriveFill });
  engine = await openEngine({ store, clock });
  await engine.alter({ kind: "schema", text: schema, runInBackground: false }, 0);
});

async function query(text: string, startTs = 0): Promise<unknown> {
  return JSON.parse(new TextDecoder().decode((await ask(text, startTs)).data));
}

function ask(text: string, startTs = 0, readOnly = false) {
  return engine.query({ ...queryDefaults, namespace: 0, text, startTs, readOnly });
}

function mutate(text: string, options: { startTs?: number; commitNow?: boolean } = {}) {
  return engine.mutate({
    namespace: 0,
    body: { kind: "rdf", text },
    startTs: options.startTs ?? 0,
    commitNow: options.commitNow ?? false,
    timeoutMs: 0,
  });
}

const set = (facts: string): string => `{ set { ${facts} } }`;
const now = { commitNow: true };

function commit(startTs: number, keys: readonly string[] = []) {
  return engine.commit({ namespace: 0, startTs, abort: false, keys });
}

const isAborted = { code: "E_TXN_ABORTED" };

describe("two transactions", () => {
  test("that write the same value: the first to commit wins", async () => {
    const a = await mutate(set(`<0x1> <name> "a" .`));
    const b = await mutate(set(`<0x1> <name> "b" .`));
    await commit(a.startTs, a.keys);
    await expect(commit(b.startTs, b.keys)).rejects.toMatchObject(isAborted);
    expect(await query(`{ q(func: uid(0x1)) { name } }`)).toEqual({ q: [{ name: "a" }] });
  });

  test("conflict even when the client sends no keys", async () => {
    const a = await mutate(set(`<0x1> <name> "a" .`));
    const b = await mutate(set(`<0x1> <name> "b" .`));
    await commit(a.startTs);
    await expect(commit(b.startTs)).rejects.toMatchObject(isAborted);
  });

  test("that add different edges to one node both commit, with mirrors right", async () => {
    const a = await mutate(set(`<0x1> <crew> <0x2> .`));
    const b = await mutate(set(`<0x1> <crew> <0x3> .`));
    await commit(a.startTs, a.keys);
    await commit(b.startTs, b.keys);
    expect(
      await query(`{ q(func: has(crew)) { crew { uid } } r(func: uid(0x3)) { ~crew { uid } } }`),
    ).toEqual({
      q: [{ crew: [{ uid: "0x2" }, { uid: "0x3" }] }],
      r: [{ "~crew": [{ uid: "0x1" }] }],
    });
  });

  test.each([
    ["a count of edges", `<0x1> <friend> <0x2> .`, `<0x1> <friend> <0x3> .`],
    ["a count of reverse edges", `<0x1> <friend> <0x3> .`, `<0x2> <friend> <0x3> .`],
    ["a count of values", `<0x1> <tags> "x" .`, `<0x1> <tags> "y" .`],
    ["a word of a list", `<0x1> <words> "red sea" .`, `<0x1> <words> "dead sea" .`],
  ])("that change %s conflict", async (_, first, second) => {
    const a = await mutate(set(first));
    const b = await mutate(set(second));
    await commit(a.startTs, a.keys);
    await expect(commit(b.startTs, b.keys)).rejects.toMatchObject(isAborted);
  });

  test("that add different words or values to one list both commit, and so do writes at once", async () => {
    const a = await mutate(set(`<0x1> <words> "red" .`));
    const b = await mutate(set(`<0x1> <words> "blue" .`));
    await mutate(set(`<0x1> <friend> <0x2> .`), now);
    await commit(a.startTs, a.keys);
    await commit(b.startTs, b.keys);
    expect(await query(`{ q(func: anyofterms(words, "red blue")) { count(words) } }`)).toEqual({
      q: [{ "count(words)": 2 }],
    });
  });

  test("that give two nodes the same upsert value conflict", async () => {
    const a = await mutate(set(`<0x1> <email> "x@y" .`));
    const b = await mutate(set(`<0x2> <email> "x@y" .`));
    await commit(a.startTs, a.keys);
    await expect(commit(b.startTs, b.keys)).rejects.toMatchObject(isAborted);
  });

  test("never conflict on @noconflict", async () => {
    const a = await mutate(set(`<0x1> <free> "a" .`));
    const b = await mutate(set(`<0x1> <free> "b" .`));
    await commit(a.startTs, a.keys);
    await commit(b.startTs, b.keys);
    expect(await query(`{ q(func: uid(0x1)) { free } }`)).toEqual({ q: [{ free: "b" }] });
  });
});

describe("a transaction", () => {
  test("reads its own writes and the state of its start, in every kind of read", async () => {
    await mutate(set(`<0x1> <name> "Ada" .\n<0x1> <balance> "10" .\n<0x2> <name> "Ben" .`), now);
    const { startTs } = await ask(`{ q(func: has(name)) { name } }`);
    await mutate(set(`<0x2> <name> "Other" .\n<0x3> <name> "Cid" .\n<0x3> <friend> <0x1> .`), now);
    await mutate(set(`<0x1> <balance> "20" .\n<0x4> <name> "Dee" .\n<0x4> <friend> <0x1> .`), {
      startTs,
    });
    const text = `{
      h(func: has(name)) { uid name balance }
      e(func: eq(balance, [10, 20])) { balance }
      t(func: anyofterms(name, "ben other cid dee")) { name }
      r(func: uid(0x1)) { ~friend { uid } count(~friend) }
      o(func: ge(balance, 0), orderdesc: balance) { balance }
      c(func: eq(count(friend), 1)) { uid }
    }`;
    expect(await query(text, startTs)).toEqual({
      h: [
        { uid: "0x1", name: "Ada", balance: 20 },
        { uid: "0x2", name: "Ben" },
        { uid: "0x4", name: "Dee" },
      ],
      e: [{ balance: 20 }],
      t: [{ name: "Ben" }, { name: "Dee" }],
      r: [{ "~friend": [{ uid: "0x4" }], "count(~friend)": 1 }],
      o: [{ balance: 20 }],
      c: [{ uid: "0x4" }],
    });
    await commit(startTs);
    expect(await query(`{ q(func: has(name)) { name } }`)).toEqual({
      q: [{ name: "Ada" }, { name: "Other" }, { name: "Cid" }, { name: "Dee" }],
    });
  });

  test("ends with its commit, its abort, and after idling", async () => {
    const a = await mutate(set(`<0x1> <name> "a" .`));
    await commit(a.startTs);
    await expect(commit(a.startTs)).rejects.toMatchObject(isAborted);
    await expect(mutate(set(`<0x1> <name> "x" .`), { startTs: a.startTs })).rejects.toMatchObject(
      isAborted,
    );
    const b = await mutate(set(`<0x2> <name> "b" .`));
    await engine.commit({ namespace: 0, startTs: b.startTs, abort: true, keys: undefined });
    await expect(commit(b.startTs)).rejects.toMatchObject(isAborted);
    const c = await mutate(set(`<0x3> <name> "c" .`));
    nowMs += defaultLimits.txnAbortAfterMs + 1;
    await expect(commit(c.startTs)).rejects.toMatchObject(isAborted);
    expect(await query(`{ q(func: has(name)) { name } }`)).toEqual({ q: [{ name: "a" }] });
  });

  test("is aborted when the schema changed under it, but not by an addition", async () => {
    const a = await mutate(set(`<0x1> <name> "a" .`));
    await mutate(set(`<0x9> <brandnew> "x" .`), now);
    await mutate(set(`<0x1> <balance> "1" .`), { startTs: a.startTs });
    await commit(a.startTs);
    const b = await mutate(set(`<0x2> <name> "b" .`));
    const text = "name: string @index(exact) .";
    await engine.alter({ kind: "schema", text, runInBackground: false }, 0);
    await expect(commit(b.startTs)).rejects.toMatchObject(isAborted);
    expect(await query(`{ q(func: has(name)) { name balance } }`)).toEqual({
      q: [{ name: "a", balance: 1 }],
    });
  });

  test("that failed in between keeps its earlier writes", async () => {
    const a = await mutate(set(`<0x1> <name> "kept" .`));
    await expect(
      mutate(set(`<0x1> <balance> "many" .`), { startTs: a.startTs }),
    ).rejects.toMatchObject({ code: "E_MUTATION_FACTS" });
    await mutate(set(`<0x1> <balance> "3" .`), { startTs: a.startTs, commitNow: true });
    expect(await query(`{ q(func: has(name)) { name balance } }`)).toEqual({
      q: [{ name: "kept", balance: 3 }],
    });
  });

  test("deletes at its commit what is there then, and leaves no trace in the indexes", async () => {
    await mutate(set(`<0x1> <tags> "a" .`), now);
    const a = await mutate(`{ delete { <0x1> <tags> * . } }`);
    await mutate(set(`<0x1> <tags> "b" .`), now);
    await commit(a.startTs);
    expect(await query(`{ q(func: has(tags)) { tags } b(func: eq(tags, "b")) { uid } }`)).toEqual({
      q: [],
      b: [],
    });
  });
});

describe("start times", () => {
  test("of other slots, of read-only answers, and never given ones are refused for writing", async () => {
    const given = (await ask(`{ q(func: has(name)) { name } }`)).startTs;
    const time = unpackStartTime(given);
    const readOnly = (await ask(`{ q(func: has(name)) { name } }`, 0, true)).startTs;
    const forged = [
      packStartTime({ ...time, slot: time.slot + 1 }),
      packStartTime({ ...time, serial: time.serial + 100 }),
      readOnly,
      1,
    ];
    for (const startTs of forged) {
      await expect(mutate(set(`<0x1> <name> "x" .`), { startTs })).rejects.toMatchObject(isAborted);
      await expect(commit(startTs)).rejects.toMatchObject(isAborted);
    }
    await mutate(set(`<0x1> <name> "x" .`), { startTs: given, commitNow: true });
  });

  test("stay unique when the serials of a commit number run out", async () => {
    const seen = new Set<number>();
    for (let i = 0; i < 2500; i++) seen.add((await ask(`{ q(func: uid(0x1)) { name } }`)).startTs);
    expect(seen.size).toBe(2500);
  });
});

describe("requests that the server composes", () => {
  test("are tried again until they fit: no increment is lost", async () => {
    await mutate(set(`<0x1> <balance> "0" .`), now);
    const step = `upsert {
      query { v as var(func: uid(0x1)) { b as balance n as math(b + 1) } }
      mutation { set { uid(v) <balance> val(n) . } }
    }`;
    await Promise.all(Array.from({ length: 20 }, () => mutate(step, now)));
    expect(
      await query(
        `{ q(func: uid(0x1)) { balance } i(func: eq(balance, 20)) { uid } o(func: eq(balance, 7)) { uid } }`,
      ),
    ).toEqual({
      q: [{ balance: 20 }],
      i: [{ uid: "0x1" }],
      o: [],
    });
  });

  test("that bring up the same new predicate agree on it", async () => {
    await Promise.all(
      Array.from({ length: 8 }, (_, i) => mutate(set(`<0x${i + 1}> <fresh> "v${i}" .`), now)),
    );
    expect(await query(`{ q(func: has(fresh)) { count(uid) } }`)).toEqual({ q: [{ count: 8 }] });
  });
});

describe("upserts of one shape", () => {
  const upsert = (name: string, condition: string, value: number): string => `upsert {
    query { v as var(func: eq(name, "${name}")) @filter(gt(balance, 5)) q(func: uid(v)) { name } }
    mutation ${condition} { set { uid(v) <balance> "${value}" . } }
  }`;

  test("each work with their own literals, conditions among them", async () => {
    await mutate(
      set(`<0x1> <name> "a" .
        <0x1> <balance> "10" .
        <0x2> <name> "b" .
        <0x2> <balance> "10" .`),
      now,
    );
    const queries: unknown[] = [];
    for (const [name, condition, value] of [
      ["a", "@if(eq(len(v), 1))", 20],
      ["b", "@if(eq(len(v), 1))", 30],
      ["b", "@if(eq(len(v), 2))", 40],
      ["a", "@if(eq(balance, 20))", 7],
      ["b", "", 8],
    ] as const) {
      const answer = await mutate(upsert(name, condition, value), now);
      queries.push(JSON.parse(new TextDecoder().decode(answer.queries)));
    }
    expect(queries).toEqual(["a", "b", "b", "a", "b"].map((name) => ({ q: [{ name }] })));
    expect(await query(`{ q(func: has(name)) { balance } }`)).toEqual({
      q: [{ balance: 20 }, { balance: 8 }],
    });
  });

  test("are planned anew after the schema changed", async () => {
    await mutate(set(`<0x1> <name> "a" .\n<0x1> <balance> "10" .`), now);
    await mutate(upsert("a", "", 20), now);
    await engine.alter({ kind: "schema", text: "name: string .", runInBackground: false }, 0);
    await expect(mutate(upsert("a", "", 30), now)).rejects.toThrow(/not indexed/);
  });
});

describe("alter", () => {
  test("drop_data keeps the schema and the GraphQL schema, drop_all only that there was one", async () => {
    await engine.transact(0, (txn) =>
      txn.apply({
        set: [
          {
            subject: { kind: "blank", label: "s" },
            predicate: "dgraph.graphql.schema",
            language: "",
            object: { kind: "value", value: { kind: "string", text: "type A { b: Int }" } },
            facets: undefined,
          },
        ],
        delete: [],
      }),
    );
    await mutate(set(`<0x1> <name> "a" .`), now);
    await engine.alter({ kind: "dropData" }, 0);
    const text = `{ n(func: has(name)) { name } g(func: has(dgraph.graphql.schema)) { dgraph.graphql.schema } }`;
    expect(await query(text)).toEqual({
      n: [],
      g: [{ "dgraph.graphql.schema": "type A { b: Int }" }],
    });
    expect((await engine.schema(0)).predicate("name")).toBeDefined();
    await engine.alter({ kind: "dropAll" }, 0);
    expect(await query(text)).toEqual({ n: [], g: [{ "dgraph.graphql.schema": "" }] });
    expect((await engine.schema(0)).predicate("name")).toBeUndefined();
  });

  test("of a node that a client has made its own, too, only what makes it the GraphQL schema's is kept", async () => {
    const fact = (predicate: string, text: string): NQuad => ({
      subject: { kind: "uid", uid: 5 },
      predicate,
      language: "",
      object: { kind: "value", value: { kind: "string", text } },
      facets: undefined,
    });
    await engine.transact(0, (txn) =>
      txn.apply({
        set: [
          fact("dgraph.graphql.schema", "type A { b: Int }"),
          fact("dgraph.type", "dgraph.graphql"),
        ],
        delete: [],
      }),
    );
    await mutate(set(`<0x5> <dgraph.type> "Boat" .\n<0x5> <name> "a" .`), now);
    const text = `{ q(func: uid(0x5)) { name dgraph.type } }`;
    for (const kind of ["dropData", "dropAll"] as const) {
      await engine.alter({ kind }, 0);
      expect(await query(text)).toEqual({ q: [{ "dgraph.type": ["dgraph.graphql"] }] });
    }
  });

  test("tells listeners of this and of another process", async () => {
    const other = await openEngine({ store, clock, resumes: false });
    const heard: number[] = [];
    other.onSchemaChange((namespace) => heard.push(namespace));
    await new Promise((resolve) => setTimeout(resolve, 60));
    await engine.alter({ kind: "schema", text: "more: int .", runInBackground: false }, 0);
    await new Promise((resolve) => setTimeout(resolve, 60));
    expect(heard).toContain(0);
    expect((await other.schema(0)).predicate("more")).toBeDefined();
    await other.close();
  });

  test("refuses what would lose data, with the reference's words", async () => {
    await mutate(set(`<0x1> <tags> "a" .\n<0x1> <friend> <0x2> .`), now);
    const refused: [string, string][] = [
      [
        "tags: string .",
        "Schema change not allowed from [string] => string without deleting pred: tags",
      ],
      [
        "friend: string .",
        "Schema change not allowed from scalar to uid or vice versa while there is data for pred: friend",
      ],
      [
        "friend: uid .",
        "Schema change not allowed from [uid] => uid without deleting pred: friend",
      ],
      [
        "balance: float @unique @index(float) .",
        "@unique directive not supported on [FLOAT] type predicate",
      ],
      [
        "email: string @upsert .",
        "Index tokenizer is mandatory for: [email] when specifying @upsert directive",
      ],
    ];
    for (const [text, message] of refused) {
      await expect(
        engine.alter({ kind: "schema", text, runInBackground: false }, 0),
      ).rejects.toThrow(message);
    }
  });
});

describe("@unique", () => {
  beforeEach(async () => {
    const text = "code: string @index(hash) @unique .\nnr: int @index(int) @unique .";
    await engine.alter({ kind: "schema", text, runInBackground: false }, 0);
    await mutate(set(`<0x1> <code> "A" .\n<0x2> <code> "B" .\n<0x1> <nr> "1" .`), now);
  });

  test("refuses a second holder, allows the same node and a swap", async () => {
    const taken = "could not insert duplicate value [A] for predicate [code]";
    await expect(mutate(set(`<0x3> <code> "A" .`), now)).rejects.toThrow(taken);
    await expect(mutate(set(`<0x4> <code> "N" .\n<0x5> <code> "N" .`), now)).rejects.toThrow(
      "could not insert duplicate value [N] for predicate [code]",
    );
    await mutate(set(`<0x1> <code> "A" .`), now);
    await mutate(set(`<0x1> <code> "B" .\n<0x2> <code> "A" .`), now);
    expect(await query(`{ q(func: eq(code, "A")) { uid } }`)).toEqual({ q: [{ uid: "0x2" }] });
    await expect(mutate(set(`<0x9> <nr> "1" .`), now)).rejects.toThrow(
      "could not insert duplicate value [1] for predicate [nr]",
    );
  });

  test("lets one of two open transactions through", async () => {
    const a = await mutate(set(`<0x7> <code> "Z" .`));
    const b = await mutate(set(`<0x8> <code> "Z" .`));
    await commit(a.startTs, a.keys);
    await expect(commit(b.startTs, b.keys)).rejects.toMatchObject(isAborted);
  });
});
