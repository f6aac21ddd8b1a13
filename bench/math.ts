import { computeNumbers, makeMathColumn, type MathColumn } from "../src/exec/math-column.ts";
import type { Value } from "../src/model/value.ts";
import type { BenchFile } from "./harness.ts";

/** Arithmetic on columns of numbers. */
export const benches: BenchFile = (size) => {
  const uids = Float64Array.from({ length: size }, (_, i) => i + 1);
  const ints: Value[] = Array.from(uids, (uid) => ({ kind: "int", int: uid % 1000 }));
  const column: MathColumn = makeMathColumn({ uids, values: ints });
  return [
    {
      name: "a column of values becomes numbers",
      count: size,
      run: () => makeMathColumn({ uids, values: ints }),
    },
    { name: "column + column", count: size, run: () => computeNumbers("+", column, column) },
    {
      name: "column / constant",
      count: size,
      run: () => computeNumbers("/", column, { kind: "int", int: 7 }),
    },
  ];
};
