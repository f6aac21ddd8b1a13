import { placeCells } from "../src/exec/index-column.ts";
import type { Cell } from "../src/graph/reader.ts";
import { makeCell } from "../src/exec/cells.ts";
import type { BenchFile } from "./harness.ts";

/** Half of the nodes are asked for; the index has five values. */
export const benches: BenchFile = (size) => {
  const uids = Float64Array.from({ length: size }, (_, i) => i * 2 + 1);
  const members = Array.from({ length: 5 }, (_, value) =>
    Float64Array.from({ length: Math.ceil((size * 2) / 5) }, (__, i) => i * 5 + value + 1),
  );
  const shared = members.map((_, value) => makeCell({ kind: "int", int: value }, "", undefined));
  return [
    {
      name: "a column of five values",
      count: size,
      run: () => {
        const cells = Array.from<unknown, Cell | undefined>(uids, () => undefined);
        members.forEach((set, value) => {
          const cell = shared[value];
          if (cell !== undefined) placeCells(cells, uids, set, cell);
        });
        return cells.length;
      },
    },
  ];
};
