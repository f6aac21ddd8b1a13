/**
 * Goal: records, indexes, overlay and undo agree with a plain list of facts, whatever is written in whatever order.
 * Method: random batches over a schema with every kind of index, in stores with tiny chunks and parts; after each step
 * every read is compared with the plain twin, the check finds nothing, and older states read as they were.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { checkGraph } from "../graph/check.ts";
import type { Reader } from "../graph/reader.ts";
import { parseNQuads } from "../intake/nquad-parser.ts";
import { systemClock } from "../base/clock.ts";
import { silentLogger } from "../base/log.ts";
import type { Store } from "../store/store.ts";
import { openWriter, openMemoryStore } from "../stores/open.ts";
import { deriveFill } from "../write/fill.ts";
import {
  findByToken,
  getPredicate,
  openEngineContext,
  readCounted,
  readEdges,
  readPresence,
  readReverse,
  readValues,
} from "../../test/support/engine-context.ts";
import type { EngineContext } from "../../test/support/engine-context.ts";
import { runs } from "../../test/support/runs.ts";

const schema = `
name: string @index(exact, term) .
note: string .
tags: [string] @index(term) @count .
age: int @index(int) .
title: string @lang @index(exact) .
friend: [uid] @reverse @count .
boss: uid @reverse .
type T {
 name
 note
 friend
 boss
}
`;

const nodes = [1, 2, 3, 4, 5, 6];
const words = ["ada", "ben cid", "cid", "ada ben"];
const languages = ["", "en", "de"];
const values = ["name", "note", "tags", "age", "title"];
const edges = ["friend", "boss"];
const lists = new Set(["tags", "friend"]);

/** Node → predicate → slot → text; edges have the target as slot. */
type Model = Map<number, Map<string, Map<string, string>>>;

interface Change {
  readonly kind: "set" | "delete" | "clear" | "clearNode";
  readonly uid: number;
  readonly predicate: string;
  readonly word: number;
  readonly language: number;
  readonly target: number;
}

const change: fc.Arbitrary<Change> = fc.record({
  kind: fc.constantFrom("set", "set", "set", "set", "delete", "clear", "clearNode"),
  uid: fc.constantFrom(...nodes),
  predicate: fc.constantFrom(...values, ...edges, "friend", "dgraph.type"),
  word: fc.nat(3),
  language: fc.nat(2),
  target: fc.constantFrom(...nodes, 7, 8, 9, 10, 11, 12),
});

/** Requests of one transaction; each request's deletes come before its sets. */
const steps = fc.array(
  fc.array(fc.array(change, { minLength: 1, maxLength: 6 }), { minLength: 1, maxLength: 3 }),
  { minLength: 1, maxLength: 8 },
);

function isEdge(predicate: string): boolean {
  return edges.includes(predicate);
}

function wordOf({ predicate, word }: Change): string {
  if (predicate === "age") return String(word * 7);
  return predicate === "dgraph.type" ? "T" : words[word]!;
}

function languageOf({ predicate, language }: Change): string {
  return predicate === "title" ? languages[language]! : "";
}

function printFact(given: Change): string {
  const subject = `<0x${given.uid.toString(16)}>`;
  if (given.kind === "clearNode") return `${subject} * * .`;
  if (given.kind === "clear") {
    const tag = languageOf(given);
    return `${subject} <${given.predicate}${tag === "" ? "" : `@${tag}`}> * .`;
  }
  if (isEdge(given.predicate)) {
    return `${subject} <${given.predicate}> <0x${given.target.toString(16)}> .`;
  }
  const tag = languageOf(given);
  return `${subject} <${given.predicate}> "${wordOf(given)}"${tag === "" ? "" : `@${tag}`} .`;
}

function slotsOf(model: Model, uid: number, predicate: string): Map<string, string> {
  let node = model.get(uid);
  if (node === undefined) model.set(uid, (node = new Map()));
  let slots = node.get(predicate);
  if (slots === undefined) node.set(predicate, (slots = new Map()));
  return slots;
}

function applyToModel(model: Model, request: readonly Change[]): void {
  const types = new Map(
    nodes.map((uid) => [uid, slotsOf(model, uid, "dgraph.type").size > 0] as const),
  );
  const deletes = request.filter(({ kind }) => kind !== "set");
  const sets = request.filter(({ kind }) => kind === "set");
  for (const given of [...deletes, ...sets]) {
    const { uid, predicate } = given;
    const slots = slotsOf(model, uid, predicate);
    const isList = lists.has(predicate) || predicate === "dgraph.type";
    const text = isEdge(predicate) ? String(given.target) : wordOf(given);
    const slot = isEdge(predicate) || isList ? text : languageOf(given);
    switch (given.kind) {
      case "set":
        if (predicate === "boss") slots.clear();
        slots.set(slot, text);
        break;
      case "delete":
        if (slots.get(slot) === text) slots.delete(slot);
        break;
      case "clear":
        if (languageOf(given) === "") slots.clear();
        else slots.delete(slot);
        break;
      case "clearNode":
        if (!types.get(uid)) break;
        for (const name of ["name", "note", "friend", "boss", "dgraph.type"]) {
          slotsOf(model, uid, name).clear();
        }
        break;
    }
  }
}

function copyModel(model: Model): Model {
  return new Map(
    [...model].map(([uid, node]) => [
      uid,
      new Map([...node].map(([predicate, slots]) => [predicate, new Map(slots)])),
    ]),
  );
}

function holders(model: Model, test: (slots: Map<string, string>) => boolean, predicate: string) {
  return nodes.filter((uid) => test(slotsOf(model, uid, predicate)));
}

async function compare(reader: Reader, model: Model): Promise<void> {
  for (const uid of nodes) {
    for (const predicate of values) {
      const wanted = [...slotsOf(model, uid, predicate)].map(([slot, text]) =>
        predicate === "title" && slot !== "" ? `${text}@${slot}` : text,
      );
      const found = await readValues(reader, uid, predicate);
      expect(found.toSorted(), `${predicate} of ${uid}`).toEqual(wanted.toSorted());
    }
    for (const predicate of edges) {
      const wanted = [...slotsOf(model, uid, predicate).keys()].map(Number);
      expect(await readEdges(reader, uid, predicate)).toEqual(wanted.toSorted((a, b) => a - b));
    }
  }
  for (const target of [...nodes, 7, 8, 9, 10, 11, 12]) {
    for (const predicate of edges) {
      const wanted = holders(model, (slots) => slots.has(String(target)), predicate);
      expect(await readReverse(reader, target, predicate), `~${predicate}`).toEqual(wanted);
    }
  }
  for (const predicate of [...values, ...edges]) {
    const wanted = holders(model, (slots) => slots.size > 0, predicate);
    expect(await readPresence(reader, predicate), `presence of ${predicate}`).toEqual(wanted);
  }
  for (const predicate of ["tags", "friend"]) {
    for (let count = 1; count < 6; count++) {
      const wanted = holders(model, (slots) => slots.size === count, predicate);
      expect(await readCounted(reader, predicate, count), `${count} ${predicate}`).toEqual(wanted);
    }
  }
  await compareTokens(reader, model);
}

async function compareTokens(reader: Reader, model: Model): Promise<void> {
  for (const word of ["ada", "ben", "cid"]) {
    for (const name of ["name", "tags"]) {
      const value = { kind: "string", text: word } as const;
      const wanted = holders(
        model,
        (slots) => [...slots.values()].some((text) => text.split(" ").includes(word)),
        name,
      );
      const found = await findByToken(reader, { name, tokenizer: "term", value });
      expect(found, `term ${word} of ${name}`).toEqual(wanted);
    }
  }
  const index = getPredicate(reader, "age").indexes[0]!.id;
  const ages: number[][] = [];
  const counts: number[] = [];
  await reader.scanTokens(index, { from: undefined, to: undefined }, (_, uids) => {
    ages.push([...uids]);
    return true;
  });
  await reader.countTokens(index, { from: undefined, to: undefined, reverse: true }, (_, count) => {
    counts.push(count);
    return true;
  });
  const wanted = [0, 7, 14, 21]
    .map((age) => holders(model, (slots) => slots.get("") === String(age), "age"))
    .filter((uids) => uids.length > 0);
  expect(ages).toEqual(wanted);
  expect(counts).toEqual(wanted.map((uids) => uids.length).toReversed());
  await compareCounts(reader, model);
}

async function compareCounts(reader: Reader, model: Model): Promise<void> {
  const index = getPredicate(reader, "friend").countIndex!.id;
  const found: [number, number[]][] = [];
  await reader.scanCounts(index, { from: 1, to: 20 }, (count, uids) => {
    const last = found[found.length - 1];
    if (last?.[0] === count) last[1].push(...uids);
    else found.push([count, [...uids]]);
    return true;
  });
  const wanted: [number, number[]][] = [];
  for (let count = 1; count <= 20; count++) {
    const uids = holders(model, (slots) => slots.size === count, "friend");
    if (uids.length > 0) wanted.push([count, uids]);
  }
  expect(found).toEqual(wanted);
}

async function expectClean(context: EngineContext): Promise<void> {
  const problems: string[] = [];
  await checkGraph({
    open: () => context.store.snapshot(),
    report: (problem) => problems.push(problem),
    sliceSize: 3,
  });
  expect(problems).toEqual([]);
}

const tiny = {
  chunkBytesAim: 30,
  chunkBytesMax: 40,
  openBytesMax: 30,
  partBytesMax: 120,
  cellBytesMax: 24,
  shortEdgesMax: 3,
  shortEdgeBytesMax: 64,
  shortEdgesBack: 2,
  shortEdgeBytesBack: 32,
};

/** Runs the transactions of a case and compares after each step; then reads every older state again. */
async function runCase(
  store: Store,
  transactions: readonly (readonly Change[])[][],
): Promise<void> {
  const context = await openEngineContext(schema, store);
  const model: Model = new Map();
  const past: { readonly ts: number; readonly model: Model }[] = [];
  for (const requests of transactions) {
    await context.managed.transact(0, async (txn) => {
      for (const request of requests) {
        const print = (given: readonly Change[]): string => given.map(printFact).join("\n");
        await txn.apply({
          set: parseNQuads(print(request.filter(({ kind }) => kind === "set"))),
          delete: parseNQuads(print(request.filter(({ kind }) => kind !== "set")), "delete"),
        });
        applyToModel(model, request);
        await compare(txn.reader, model);
      }
    });
    await context.read(async (reader) => {
      await compare(reader, model);
      past.push({ ts: reader.ts, model: copyModel(model) });
    });
    await expectClean(context);
  }
  for (const state of past) {
    const { reader } = await context.readers.openAt(0, state.ts);
    await compare(reader, state.model);
    reader.close();
  }
}

test("every read agrees with a plain list of facts, now, inside, and back then", async () => {
  await fc.assert(
    fc.asyncProperty(steps, fc.boolean(), async (transactions, isTiny) => {
      const derive = deriveFill;
      await runCase(openMemoryStore(isTiny ? { derive, tuning: tiny } : { derive }), transactions);
    }),
    { numRuns: runs(40) },
  );
});

test("the same on LMDB", async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (transactions) => {
      const dir = await mkdtemp(join(tmpdir(), "weft-model-"));
      const { store } = await openWriter({
        dir,
        logger: silentLogger,
        clock: systemClock,
        derive: deriveFill,
        isLinked: false,
        onFatal: () => {},
      });
      try {
        await runCase(store, transactions);
      } finally {
        await store.close();
        await rm(dir, { recursive: true });
      }
    }),
    { numRuns: runs(6) },
  );
});
