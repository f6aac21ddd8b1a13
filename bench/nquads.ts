import { parseJsonMutation } from "../src/intake/json-mutation.ts";
import { parseNQuads, parseRdfMutation } from "../src/intake/nquad-parser.ts";
import type { BenchFile } from "./harness.ts";

/** Facts of both forms, as loads send them. */
export const benches: BenchFile = (size) => {
  const lines: string[] = [];
  const objects: object[] = [];
  for (let i = 0; i < size; i += 4) {
    lines.push(
      `<0x${(i + 1).toString(16)}> <name> "Person number ${i}"@en .`,
      `_:person${i} <age> "${i % 90}"^^<xs:int> .`,
      `_:person${i} <friend> _:person${(i * 7) % size} (since=2006-01-02, close=true) .`,
      `<0x${(i + 1).toString(16)}> <dgraph.type> "Person" .`,
    );
    objects.push({ uid: `_:p${i}`, name: `Person number ${i}`, age: i % 90, alive: true });
  }
  const text = lines.join("\n");
  const json = JSON.stringify({ set: objects });
  return [
    { name: "N-Quads", count: lines.length, run: () => parseNQuads(text) },
    {
      name: "N-Quads of a mutation",
      count: lines.length,
      run: () => parseRdfMutation({ set: text, delete: "" }),
    },
    { name: "facts in JSON", count: objects.length * 3, run: () => parseJsonMutation(json) },
  ];
};
