import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { convertValue } from "../model/convert.ts";
import { printValueJson } from "../model/print-value.ts";
import type { Value } from "../model/value.ts";
import type { MathPlan } from "../plan/plan.ts";
import { makeMathColumn } from "./math-column.ts";
import { evaluateMath, type MathResult } from "./math.ts";
import type { Run } from "./run.ts";
import { runs } from "../../test/support/runs.ts";

const nowMs = 1_000_000_000_000;

type Columns = Record<string, Record<number, Value>>;

/** `[operator, operand, …]`; a text is a variable, a number or quoted constant a literal. */
type Tree = string | number | readonly [string, ...Tree[]];

interface Setup {
  readonly columns: Columns;
  readonly constants?: Record<string, Value>;
  readonly uids?: readonly number[];
}

function evaluate(tree: Tree, setup: Setup): MathResult {
  const texts: string[] = [];
  const names = [...Object.keys(setup.columns), ...Object.keys(setup.constants ?? {})];
  const toPlan = (node: Tree): MathPlan => {
    if (typeof node === "number" || (typeof node === "string" && node.startsWith("#"))) {
      texts.push(String(node).replace("#", ""));
      return { kind: "constant", slot: texts.length - 1 };
    }
    if (typeof node === "string") return { kind: "variable", variable: names.indexOf(node) };
    const [operator, ...operands] = node;
    return { kind: "apply", operator, operands: operands.map(toPlan) };
  };
  const plan = toPlan(tree);
  const run = { texts, plan: { slots: [] }, clock: { nowMs: () => nowMs } } as unknown as Run;
  return evaluateMath(run, plan, {
    uids: Float64Array.from(setup.uids ?? []),
    column: (variable) => {
      const column = setup.columns[names[variable] ?? ""] ?? {};
      const uids = Object.keys(column).map(Number);
      return { uids: Float64Array.from(uids), values: uids.map((uid) => column[uid] as Value) };
    },
    constant: (variable) => setup.constants?.[names[variable] ?? ""],
  });
}

function shown(tree: Tree, columns: Columns): Record<number, string> {
  const { uids, values } = evaluate(tree, { columns }).values;
  return Object.fromEntries(values.map((value, i) => [uids[i], printValueJson(value)]));
}

const int = (value: number | bigint): Value => ({ kind: "int", int: value });
const float = (value: number): Value => ({ kind: "float", float: value });
const text = (value: string): Value => ({ kind: "string", text: value });
const as = (value: string, kind: Value["kind"]): Value => convertValue(text(value), kind);

const c = { c: { 1: int(3), 2: int(-2), 3: int(0) } };
const m = { m: { 1: float(2), 2: float(0.5), 3: float(0) } };

describe("operators", () => {
  test.each<[Tree, Columns, Record<number, string>]>([
    [["+", "c", 7], c, { 1: "10", 2: "5", 3: "7" }],
    [["-", "c", 60], c, { 1: "-57", 2: "-62", 3: "-60" }],
    [["/", "c", 2], c, { 1: "1", 2: "-1", 3: "0" }],
    [["%", ["-", "c", 5], 4], c, { 1: "-2", 2: "-3", 3: "-1" }],
    [["/", 12, "c"], c, { 1: "4", 2: "-6" }],
    [["%", 10, "c"], c, { 1: "1", 2: "0" }],
    [["/", "c", ["-", 2, 2]], c, {}],
    [["*", "c", "#0.5"], c, { 1: "1.5", 2: "-1", 3: "0" }],
    [["+", "c", "m"], { ...c, ...m }, { 1: "5", 2: "-1.5", 3: "0" }],
    [["u-", "c"], c, { 1: "-3", 2: "2", 3: "0" }],
    [["min", "c", 1], c, { 1: "1", 2: "-2", 3: "0" }],
    [["max", "c", "#2.5"], c, { 1: "3", 2: "2.5", 3: "2.5" }],
    [["pow", "c", 2], c, { 1: "9", 2: "4", 3: "0" }],
    [["pow", "c", "#0.5"], { c: { 2: int(-2) } }, {}],
    [["pow", "c", -1], { c: { 3: int(0) } }, { 3: "1.7976931348623157e+308" }],
    [["sqrt", "c"], c, { 1: "1.7320508075688772", 3: "0" }],
    [["ln", "c"], c, { 1: "1.0986122886681096", 3: "-1.7976931348623157e+308" }],
    [["logbase", ["*", "c", 27], 3], { c: { 1: int(3) } }, { 1: "4.000000000000001" }],
    [["logbase", "c", 1], c, {}],
    [["floor", "m"], m, { 1: "2", 2: "0", 3: "0" }],
    [["ceil", "c"], c, { 1: "3", 2: "-2", 3: "0" }],
    [["exp", ["ln", "m"]], { m: { 1: float(2) } }, { 1: "2" }],
  ])("%j", (tree, columns, results) => {
    expect(shown(tree, columns)).toEqual(results);
  });

  test("a missing operand counts as 0, and ints beside floats become floats", () => {
    const columns = { c: { 1: int(50), 2: int(400) }, m: { 2: float(120.5), 3: float(6) } };
    expect(shown(["+", "c", "m"], columns)).toEqual({ 1: "50", 2: "520.5", 3: "6" });
    const sum = evaluate(["+", "c", "m"], { columns });
    expect(sum.values.values.map((value) => value.kind)).toEqual(["float", "float", "float"]);
    expect(shown(["*", "c", "m"], columns)).toEqual({ 1: "0", 2: "48200", 3: "0" });
  });

  test("large ints stay exact and overflow leaves the node out", () => {
    const columns = { b: { 1: int(1500), 4: int(9000000000000000000n) } };
    expect(shown(["/", "b", 2], columns)).toEqual({ 1: "750", 4: "4500000000000000000" });
    expect(shown(["*", "b", 2], columns)).toEqual({ 1: "3000" });
    expect(shown(["+", "b", "#1000000000000000000"], columns)).toEqual({
      1: "1000000000000001500",
    });
  });

  test("texts and dates are not added, but compared", () => {
    const columns = {
      n: { 1: text("Ada") },
      t: { 1: text("captain") },
      b: { 1: as("1964", "datetime") },
    };
    expect(shown(["+", "n", "n"], columns)).toEqual({});
    expect(shown(["max", "n", "t"], columns)).toEqual({ 1: '"captain"' });
    expect(shown([">", "b", 5], columns)).toEqual({});
    expect(shown(["since", "b"], columns)).toEqual({ 1: "1.1893888e+09" });
  });
});

describe("comparisons and cond", () => {
  test("compare at the left side's nodes", () => {
    expect(shown([">", "c", 1], c)).toEqual({ 1: "true", 2: "false", 3: "false" });
    expect(shown(["<", 2, "c"], c)).toEqual({});
    const both = { c: { 1: int(1), 2: int(2) }, m: { 2: float(2), 3: float(3) } };
    expect(shown(["==", "c", "m"], both)).toEqual({ 2: "true" });
  });

  test("cond chooses per node and leaves out what the chosen side lacks", () => {
    const columns = {
      g: { 1: int(61), 3: int(34) },
      n: { 1: text("Ada") },
      r: { 3: text("cook") },
    };
    expect(shown(["cond", [">", "g", 40], "n", "r"], columns)).toEqual({ 1: '"Ada"', 3: '"cook"' });
    expect(shown(["cond", [">", "g", 10], "n", "r"], columns)).toEqual({ 1: '"Ada"' });
    expect(shown(["cond", "g", 1, 2], columns)).toEqual({});
  });
});

describe("constants", () => {
  test("stand at every node", () => {
    const result = evaluate(["/", 7, "#2.0"], { columns: {}, uids: [5, 6] });
    expect(result.constant).toEqual(float(3.5));
    expect([...result.values.uids]).toEqual([5, 6]);
  });

  test("literals that fail are an error, values of variables are not", () => {
    expect(() => evaluate(["ln", -1], { columns: {} })).toThrow("Log of negative number");
    const constants = { s: int(0) };
    expect(evaluate(["/", 1, "s"], { columns: {}, constants, uids: [1] }).values.values).toEqual(
      [],
    );
  });

  test("an aggregate of another block holds for all nodes", () => {
    const constants = { s: int(556) };
    const columns = { c: { 1: int(400), 2: int(90) } };
    const { values } = evaluate(["/", ["*", "c", 100], "s"], { columns, constants });
    expect(values.values).toEqual([int(71), int(16)]);
    const chosen = evaluate(["cond", [">", "s", 5], 1, 2], { columns: {}, constants });
    expect(chosen.constant).toEqual(int(1));
  });
});

test("bigfloats mix with numbers", () => {
  const columns = {
    f: { 1: as("123456789012345678901234567890.5", "bigfloat"), 2: as("0.1", "bigfloat") },
  };
  expect(shown(["+", "f", 1], columns)).toEqual({
    1: "1.234567890123456789012345678915e+29",
    2: "1.1",
  });
  expect(shown(["+", 1, "f"], columns)[2]).toBe("1.1");
  expect(shown(["floor", "f"], columns)[2]).toBe("0");
  expect(shown([">", "f", "f"], columns)).toEqual({ 1: "false", 2: "false" });
  expect(shown(["max", "f", 1], columns)[2]).toBe("1");
  expect(shown([">", "f", 1], columns)).toEqual({});
  expect(shown(["pow", "f", 2], columns)).toEqual({});
});

test("vectors are added, scaled and multiplied into numbers", () => {
  const columns = { v: { 1: as("[1, 2]", "float32vector"), 2: as("[3]", "float32vector") } };
  const difference: Tree = ["-", "v", "#[0, 1]"];
  expect(shown(difference, columns)).toEqual({ 1: "[1E+00,1E+00]" });
  expect(shown(["sqrt", ["dot", difference, difference]], columns)).toEqual({
    1: "1.4142135623730951",
  });
  expect(shown(["*", 2, "v"], columns)).toEqual({ 1: "[2E+00,4E+00]", 2: "[6E+00]" });
  expect(shown(["/", "v", 2], columns)).toEqual({ 1: "[5E-01,1E+00]", 2: "[1.5E+00]" });
  expect(shown(["/", 2, "v"], columns)).toEqual({});
  expect(shown(["u-", "v"], columns)[2]).toBe("[-3E+00]");
});

test("typed columns compute what single values compute", () => {
  const number = fc.oneof(
    fc.integer({ min: -20, max: 20 }).map((n) => int(n)),
    fc.integer({ min: -20, max: 20 }).map((n) => float(n / 4)),
    fc.constantFrom(int(Number.MAX_SAFE_INTEGER), int(-Number.MAX_SAFE_INTEGER), float(1e308)),
  );
  const operator = fc.constantFrom("+", "-", "*", "/", "%", "max");
  const uniform = fc.oneof(
    fc.array(
      number.filter((value) => value.kind === "int"),
      { minLength: 3, maxLength: 3 },
    ),
    fc.array(
      number.filter((value) => value.kind === "float"),
      { minLength: 3, maxLength: 3 },
    ),
  );
  fc.assert(
    fc.property(operator, uniform, uniform, (name, left, right) => {
      const toColumn = (values: readonly Value[]): Record<number, Value> =>
        Object.fromEntries(values.map((value, i) => [i + 1, value]));
      expect(makeMathColumn({ uids: new Float64Array(3), values: left }).kind).toBe("numbers");
      const quick = shown([name, "a", "b"], { a: toColumn(left), b: toColumn(right) });
      const slow: Record<number, string> = {};
      for (const uid of [1, 2, 3]) {
        const a = { [uid]: toColumn(left)[uid] as Value, 9: text("keeps the column untyped") };
        const one = shown([name, "a", "b"], { a, b: { [uid]: toColumn(right)[uid] as Value } });
        if (one[uid] !== undefined) slow[uid] = one[uid];
      }
      expect(quick).toEqual(slow);
    }),
    { numRuns: runs(500) },
  );
});
