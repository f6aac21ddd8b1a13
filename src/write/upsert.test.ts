// Goal: which plain facts become of one with variables, and how many a request may have.
import { describe, expect, test } from "vitest";
import type { NodeRef, NQuad, ObjectRef } from "../model/nquad.ts";
import type { Value } from "../model/value.ts";
import { expandVariables, usedVariables, type UpsertVariable } from "./upsert.ts";

const int = (value: number): Value => ({ kind: "int", int: value });
const nodes = (...uids: readonly number[]): UpsertVariable => ({
  uids: Float64Array.from(uids),
  values: undefined,
  valueUids: new Float64Array(0),
  constant: undefined,
});
const values = (of: Readonly<Record<number, number>>): UpsertVariable => ({
  ...nodes(),
  values: Object.values(of).map(int),
  valueUids: Float64Array.from(Object.keys(of), Number),
});

const variables = new Map<string, UpsertVariable>([
  ["none", nodes()],
  ["two", nodes(1, 2)],
  ["three", nodes(7, 8, 9)],
  ["ages", values({ 1: 30, 8: 40 })],
  ["total", { ...nodes(), constant: int(70) }],
]);

/** `uid(v)`, `val(v)`, `_:label`, a uid; anything else is a text. */
function nodeOf(text: string): NodeRef | undefined {
  const name = /^uid\((\w+)\)$/.exec(text)?.[1];
  if (name !== undefined) return { kind: "variable", name };
  if (text.startsWith("_:")) return { kind: "blank", label: text.slice(2) };
  return /^\d+$/.test(text) ? { kind: "uid", uid: Number(text) } : undefined;
}

function factOf(text: string): NQuad {
  const [subject = "", predicate = "", object = ""] = text.split(" ");
  const name = /^val\((\w+)\)$/.exec(object)?.[1];
  const node = nodeOf(object);
  const value: Value = { kind: "string", text: object };
  const ref: ObjectRef =
    name !== undefined
      ? { kind: "val", name }
      : node === undefined
        ? { kind: "value", value }
        : { kind: "node", node };
  const from = nodeOf(subject) ?? { kind: "blank", label: subject };
  return { subject: from, predicate, language: "", object: ref, facets: undefined };
}

function printNode(node: NodeRef): string {
  if (node.kind === "uid") return String(node.uid);
  return node.kind === "blank" ? `_:${node.label}` : `uid(${node.name})`;
}

function print({ subject, predicate, object }: NQuad): string {
  const text =
    object.kind === "node"
      ? printNode(object.node)
      : object.kind === "value" && object.value.kind === "string"
        ? object.value.text
        : JSON.stringify(object.kind === "value" ? object.value : object);
  return `${printNode(subject)} ${predicate} ${text}`;
}

const roomy = { nquadMax: 100, edgeMax: 100 };
const expand = (sets: readonly string[], deletes: readonly string[], bounds = roomy) => {
  const mutation = { set: sets.map(factOf), delete: deletes.map(factOf) };
  const [expanded] = expandVariables([mutation], variables, bounds);
  return { set: expanded?.set.map(print), delete: expanded?.delete.map(print) };
};

describe("a fact becomes one for each node of its variables", () => {
  test.each<[string, readonly string[], readonly string[]]>([
    ["uid(two) name Ann", ["1 name Ann", "2 name Ann"], ["1 name Ann", "2 name Ann"]],
    ["5 friend uid(two)", ["5 friend 1", "5 friend 2"], ["5 friend 1", "5 friend 2"]],
    [
      "uid(two) friend uid(three)",
      ["1 friend 7", "1 friend 8", "1 friend 9", "2 friend 7", "2 friend 8", "2 friend 9"],
      ["1 friend 7", "1 friend 8", "1 friend 9", "2 friend 7", "2 friend 8", "2 friend 9"],
    ],
    // Where there is none a set makes a node, named after the variable; a delete does nothing.
    ["uid(none) name Ann", ["_:uid(none) name Ann"], []],
    ["5 friend uid(none)", ["5 friend _:uid(none)"], []],
    // Values go to the nodes that have one; an aggregate to all.
    [
      "uid(two) age val(ages)",
      ['1 age {"kind":"int","int":30}'],
      ['1 age {"kind":"int","int":30}'],
    ],
    ["8 age val(ages)", ['8 age {"kind":"int","int":40}'], ['8 age {"kind":"int","int":40}']],
    ["5 age val(ages)", [], []],
    ["5 sum val(total)", ['5 sum {"kind":"int","int":70}'], ['5 sum {"kind":"int","int":70}']],
    ["_:new sum val(total)", ['_:new sum {"kind":"int","int":70}'], []],
    ["_:new age val(ages)", [], []],
    ["5 name Ann", ["5 name Ann"], ["5 name Ann"]],
  ])("%s", (fact, set, deleted) => {
    expect(expand([fact], [fact])).toEqual({ set, delete: deleted });
  });
});

test("facts without variables stay where they stood", () => {
  expect(expand(["5 name Ann", "uid(two) name Bo", "6 name Cy"], []).set).toEqual([
    "5 name Ann",
    "1 name Bo",
    "2 name Bo",
    "6 name Cy",
  ]);
});

describe("facts are counted as what becomes of them, before they are made", () => {
  const bounds = (nquadMax: number, edgeMax = 100) => ({ nquadMax, edgeMax });
  const six = "uid(two) friend uid(three)";
  test.each<[string, readonly string[], readonly string[], typeof roomy, string | undefined]>([
    ["as many as may be", [six], [], bounds(6), undefined],
    ["one more", [six], [], bounds(5), "count in the request: 6, is more that threshold: 5"],
    ["with plain ones before", ["5 name Ann", six], [], bounds(6), "request: 7,"],
    ["with plain ones behind", [six, "5 name Ann"], [], bounds(6), "request: 7,"],
    ["plain ones alone", ["5 name Ann", "6 name Bo"], [], bounds(1), "request: 2,"],
    ["sets and deletes together", [six], [six], bounds(11), "request: 12,"],
    ["edges of a set", [six], [], bounds(100, 5), "request: 6, is more that threshold: 5"],
    ["edges of a set, as many as may be", [six], [], bounds(100, 6), undefined],
    ["edges are not bounded in a delete", [], [six], bounds(100, 5), undefined],
    ["a node for none, for several", ["uid(none) friend uid(three)"], [], bounds(2), "request: 3,"],
  ])("%s", (_, sets, deletes, bound, refusal) => {
    const run = () => expand(sets, deletes, bound);
    if (refusal === undefined) expect(run).not.toThrow();
    else expect(run).toThrow(refusal);
  });
});

test("variables that the query does not define, or that hold too many nodes, are refused", () => {
  expect(() => expand(["uid(nobody) name Ann"], [])).toThrow("variables [nobody] not defined");
  expect(() => expand(["5 age val(nobody)"], [])).toThrow("variables [nobody] not defined");
  const many = { ...nodes(), uids: new Float64Array(1_000_001) };
  const mutation = { set: [factOf("5 friend uid(many)")], delete: [] };
  const most = { nquadMax: 2_000_000, edgeMax: 2_000_000 };
  expect(() => expandVariables([mutation], new Map([["many", many]]), most)).toThrow(
    "var [many] has over million UIDs",
  );
});

test("the variables that facts use are found in subjects, objects and values, of sets and deletes", () => {
  const mutation = {
    set: ["uid(a) name Ann", "5 friend uid(b)", "5 age val(c)", "5 friend 6", "_:x name Bo"],
    delete: ["uid(d) name Ann"],
  };
  const facts = { set: mutation.set.map(factOf), delete: mutation.delete.map(factOf) };
  expect([...usedVariables([facts])].sort()).toEqual(["a", "b", "c", "d"]);
});
