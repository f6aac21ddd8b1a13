import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { encodePlainChunk } from "./chunk.ts";
import {
  encodeCells,
  changeEntries,
  edgesFront,
  encodePart,
  entryChunk,
  entryCount,
  entryKind,
  furtherParts,
  kindOfEntry,
  longEntry,
  markEdges,
  partOf,
  predicateCount,
  predicatesOf,
  readEntries,
  readEntry,
  splitEntries,
  visitCellBytes,
  visitCells,
} from "./record.ts";

const cells = fc
  .array(
    fc.tuple(
      fc.string({
        maxLength: 9,
        unit: fc.integer({ max: 255, min: 0 }).map((c) => String.fromCharCode(c)),
      }),
      fc.uint8Array({ minLength: 2, maxLength: 300 }),
    ),
    { minLength: 1, maxLength: 5 },
  )
  .map((pairs) => new Map(pairs));

const entries = fc
  .uniqueArray(fc.tuple(fc.integer({ min: 1, max: 0xffffffff }), cells), {
    selector: ([predicate]) => predicate,
    maxLength: 12,
  })
  .map((pairs) =>
    pairs
      .toSorted(([a], [b]) => a - b)
      .map(([predicate, map]) => ({ predicate, bytes: encodeCells(map), map })),
  );

describe("records", () => {
  it("give each predicate's cells in the order of slots", () => {
    fc.assert(
      fc.property(entries, fc.integer({ min: 1, max: 0xffffffff }), (wanted, other) => {
        const part = encodePart(wanted);
        expect(predicatesOf(part)).toEqual(wanted.map(({ predicate }) => predicate));
        expect(predicateCount(part)).toBe(wanted.length);
        for (const { predicate, map } of wanted) {
          const entry = readEntry(part, predicate)!;
          const found: [string, number[]][] = [];
          visitCells(entry, (slot, cell) => found.push([slot, [...cell]]));
          const sorted = [...map.keys()].sort();
          expect(found).toEqual(sorted.map((slot) => [slot, [...map.get(slot)!]]));
          let count = 0;
          visitCellBytes(entry, () => count++);
          expect([count, entryCount(entry)]).toEqual([map.size, map.size]);
        }
        const isThere = wanted.some(({ predicate }) => predicate === other);
        expect(readEntry(part, other) !== undefined).toBe(isThere);
      }),
    );
  });

  it("split into parts that fit, and the first names the others", () => {
    fc.assert(
      fc.property(entries, (all) => {
        const groups = splitEntries(all, 400);
        expect(groups.flat()).toEqual(all);
        const further = groups.slice(1).map((group) => group[0]!.predicate);
        const parts = groups.map((group, i) => encodePart(group, i === 0 ? further : []));
        expect(furtherParts(parts[0]!)).toEqual(further);
        for (const { predicate, bytes } of all) {
          const first = partOf(parts[0]!, predicate);
          const part = first === 0 ? parts[0]! : parts[1 + further.indexOf(first)]!;
          expect([...readEntry(part, predicate)!]).toEqual([...bytes]);
        }
        for (const group of groups) {
          expect(group.length <= 1 || encodePart(group).length <= 400).toBe(true);
        }
      }),
    );
  });

  it("hold short edges, and say when they are long", () => {
    const edges = encodePlainChunk([3, 9, 2 ** 50], edgesFront);
    const chunk = edges.slice(edgesFront);
    markEdges(edges);
    const part = encodePart([
      { predicate: 4, bytes: edges },
      { predicate: 8, bytes: longEntry },
    ]);
    const [short, long] = readEntries(part);
    expect(kindOfEntry(short!.bytes)).toBe(entryKind.edges);
    expect([...entryChunk(short!.bytes)]).toEqual([...chunk]);
    expect([entryCount(short!.bytes), entryCount(long!.bytes)]).toEqual([3, -1]);
    expect(kindOfEntry(long!.bytes)).toBe(entryKind.long);
  });

  it("change as if they were encoded anew", () => {
    const bytes = fc.uint8Array({ minLength: 1, maxLength: 20 });
    const row = fc.record({ predicate: fc.integer({ min: 1, max: 12 }), bytes });
    const change = fc.record({
      predicate: fc.integer({ min: 1, max: 12 }),
      bytes: fc.option(bytes, { nil: undefined }),
      isCell: fc.boolean(),
    });
    const once = { selector: (one: { predicate: number }) => one.predicate, maxLength: 10 };
    fc.assert(
      fc.property(fc.uniqueArray(row, once), fc.uniqueArray(change, once), (rows, changes) => {
        const byPredicate = (a: { predicate: number }, b: { predicate: number }): number =>
          a.predicate - b.predicate;
        rows.sort(byPredicate);
        changes.sort(byPredicate);
        const twin = new Map<number, Uint8Array>(
          rows.map((entry) => [entry.predicate, entry.bytes]),
        );
        for (const { predicate, bytes, isCell } of changes) {
          if (bytes === undefined) twin.delete(predicate);
          else twin.set(predicate, isCell ? encodeCells(new Map([["", bytes]])) : bytes);
        }
        const all = [...twin].map(([predicate, bytes]) => ({ predicate, bytes })).sort(byPredicate);
        const part = rows.length === 0 ? undefined : encodePart(rows);
        expect(changeEntries(part, changes)).toEqual(
          all.length === 0 ? undefined : encodePart(all),
        );
      }),
    );
  });
});
