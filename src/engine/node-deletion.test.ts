/** A node that is deleted while others write to it or link to it; the oldest transactions make room. */
import { beforeEach, expect, test } from "vitest";
import { defaultLimits } from "../model/limits.ts";
import { parseNQuads } from "../intake/nquad-parser.ts";
import { openMemoryStore } from "../stores/open.ts";
import { deriveFill } from "../write/fill.ts";
import { queryDefaults } from "./engine.ts";
import type { MutateAnswer } from "./engine.ts";
import { openEngine } from "./open.ts";
import type { OpenEngine } from "./open.ts";

let engine: OpenEngine;

const schema = `
name: string @index(exact) .
books: [uid] @reverse .
tags: [uid] @reverse .
words: [string] .
owner: uid .
type Book {
  name
  tags
  words
  owner
}
type Tag {
  name
  books
}
`;

beforeEach(async () => {
  const limits = { ...defaultLimits, txnOpenMax: 3 };
  engine = await openEngine({ store: openMemoryStore({ derive: deriveFill }), limits });
  await engine.alter({ kind: "schema", text: schema, runInBackground: false }, 0);
  await set(`<0x1> <dgraph.type> "Book" . <0x1> <name> "b" . <0x2> <dgraph.type> "Tag" .`, true);
});

function mutate(text: string, commitNow: boolean, startTs = 0): Promise<MutateAnswer> {
  return engine.mutate({
    namespace: 0,
    body: { kind: "rdf", text: text.replaceAll(" . ", " .\n") },
    startTs,
    commitNow,
    timeoutMs: 0,
  });
}

function set(facts: string, commitNow = false): Promise<MutateAnswer> {
  return mutate(`{ set { ${facts} } }`, commitNow);
}

function remove(facts: string, commitNow = false): Promise<MutateAnswer> {
  return mutate(`{ delete { ${facts} } }`, commitNow);
}

function commit({ startTs, keys = [] }: MutateAnswer): Promise<unknown> {
  return engine.commit({ namespace: 0, startTs, abort: false, keys });
}

async function query(text: string): Promise<unknown> {
  const { data } = await engine.query({ ...queryDefaults, namespace: 0, text });
  return JSON.parse(new TextDecoder().decode(data));
}

const isAborted = { code: "E_TXN_ABORTED" };
const writes = [
  ["an edge to it", `<0x2> <books> <0x1> .`],
  ["an edge of a list of its own", `<0x1> <tags> <0x2> .`],
  ["an element of a list of its own", `<0x1> <words> "w" .`],
  ["its single edge", `<0x1> <owner> <0x2> .`],
  ["a single edge to it", `<0x2> <owner> <0x1> .`],
] as const;

for (const [what, facts] of writes) {
  test(`a transaction that writes ${what} is aborted when the node was deleted meanwhile`, async () => {
    const link = await set(facts);
    await remove(`<0x1> * * .`, true);
    await expect(commit(link)).rejects.toMatchObject(isAborted);
    expect(await query(`{ q(func: has(books)) { uid } w(func: has(words)) { uid } }`)).toEqual({
      q: [],
      w: [],
    });
  });

  test(`a transaction that deletes a node is aborted when ${what} was written meanwhile`, async () => {
    const deletion = await remove(`<0x1> * * .`);
    await set(facts, true);
    await expect(commit(deletion)).rejects.toMatchObject(isAborted);
    expect(await query(`{ q(func: type(Book)) { name } }`)).toEqual({ q: [{ name: "b" }] });
  });
}

test("links to one node do not conflict with each other", async () => {
  const links = await Promise.all([3, 4, 5].map((uid) => set(`<0x${uid}> <books> <0x1> .`)));
  for (const link of links) await commit(link);
  expect(await query(`{ q(func: uid(0x1)) { count(~books) } }`)).toEqual({
    q: [{ "count(~books)": 3 }],
  });
});

test("a node that does not exist may be linked, also behind its deletion", async () => {
  await remove(`<0x1> * * .`, true);
  await set(`<0x2> <books> <0x1> . <0x2> <books> <0x77> .`, true);
  expect(await query(`{ q(func: uid(0x2)) { books { uid } } }`)).toEqual({
    q: [{ books: [{ uid: "0x1" }, { uid: "0x77" }] }],
  });
});

test("what is composed by the server is composed again when the node was deleted, or linked, meanwhile", async () => {
  const types: unknown[] = [];
  let isFirst = true;
  await engine.transact(0, async (txn) => {
    types.push(await query(`{ q(func: type(Book)) { uid } }`));
    if (isFirst) await remove(`<0x1> * * .`, true);
    isFirst = false;
    await txn.apply({ set: parseNQuads(`<0x2> <books> <0x1> .`), delete: [] });
  });
  expect(types).toEqual([{ q: [{ uid: "0x1" }] }, { q: [] }]);
});

test("the oldest idle transaction makes room for a new one", async () => {
  const open = [];
  for (let i = 10; i < 13; i++) open.push(await set(`<0x${i}> <name> "x" .`));
  // Used again: the second is the oldest now.
  await mutate(`{ set { <0x20> <name> "y" . } }`, false, open[0]!.startTs);
  const fourth = await set(`<0x30> <name> "z" .`);
  await expect(commit(open[1]!)).rejects.toMatchObject(isAborted);
  for (const one of [open[0]!, open[2]!, fourth]) await commit(one);
});
