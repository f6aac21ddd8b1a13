import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodeUtf8, encodeUtf8 } from "../base/bytes.ts";
import type { Facets } from "../model/facet.ts";
import { printValueJson, printValueText } from "../model/print-value.ts";
import { makeInt, type Value } from "../model/value.ts";
import { decodeCell, encodeCell } from "./cell.ts";
import { decodeFacets, encodeFacets } from "./facets.ts";
import { decodeLogEntry, encodeLogEntry } from "./log-entry.ts";
import { runs } from "../../test/support/runs.ts";

const time = fc.record({
  seconds: fc.integer({ min: -60_000_000_000, max: 200_000_000_000 }),
  nanos: fc.nat(999_999_999),
  offsetMinutes: fc.integer({ min: -1440, max: 1440 }),
});
const int = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(makeInt);
const text = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.string({ unit: fc.constantFrom("<", "&", '"', "\\", "\n", "\u2028", "é", "a", "😀") }),
);

const value: fc.Arbitrary<Value> = fc.oneof(
  text.map((held): Value => ({ kind: "string", text: held })),
  text.map((held): Value => ({ kind: "default", text: held })),
  int,
  fc.maxSafeInteger().map(makeInt),
  fc.integer({ min: -20, max: 1_000_000_020 }).map(makeInt),
  fc.constantFrom(9, 10, 99, 100, 255, 256, 999_999_999, 1_000_000_000).map(makeInt),
  fc.double().map((float): Value => ({ kind: "float", float })),
  fc.boolean().map((bool): Value => ({ kind: "bool", bool })),
  time.map((held): Value => ({ kind: "datetime", time: held })),
  fc.string().map((hash): Value => ({ kind: "password", hash })),
  fc
    .array(fc.float({ noNaN: true }), { maxLength: 5 })
    .map((list): Value => ({ kind: "float32vector", vector: Float32Array.from(list) })),
  fc.uint8Array().map((bytes): Value => ({ kind: "binary", bytes })),
  fc
    .bigInt({ min: 1n, max: 2n ** 80n })
    .map((n): Value => ({ kind: "bigfloat", big: { mantissa: -(2n * n + 1n), exponent: -7 } })),
  fc
    .tuple(fc.integer({ min: -180, max: 180 }), fc.double({ min: -90, max: 90, noNaN: true }))
    .map(([long, lat]): Value => ({
      kind: "geo",
      // Without a negative zero, which JSON does not know.
      geometry: { type: "Point", coordinates: [long, lat + 0] },
    })),
);

const facets: fc.Arbitrary<Facets> = fc.uniqueArray(
  fc.record({
    key: fc.string({ minLength: 1 }),
    value: fc.oneof(
      fc.string().map((held): Value => ({ kind: "string", text: held })),
      int,
      fc.double({ noNaN: true }).map((float): Value => ({ kind: "float", float })),
      fc.boolean().map((bool): Value => ({ kind: "bool", bool })),
      time.map((held): Value => ({ kind: "datetime", time: held })),
    ),
  }),
  { selector: ({ key }) => key, minLength: 1, maxLength: 4 },
);

function sorted(held: Facets): Facets {
  return held.toSorted((a, b) => (a.key < b.key ? -1 : 1));
}

describe("cells", () => {
  it("give back value, text and printed form, with language and facets", () => {
    fc.assert(
      fc.property(
        value,
        fc.constantFrom("", "en", "zh-Hans"),
        fc.option(facets, { nil: undefined }),
        (wanted, language, held) => {
          const cell = decodeCell(encodeCell(wanted, language, held));
          expect(cell.value).toEqual(wellFormed(wanted));
          expect(cell.kind).toBe(wanted.kind);
          expect(cell.language).toBe(language);
          const json = new Uint8Array(cell.jsonLength + 2);
          cell.copyJson(json, 1);
          expect([json[0], json[json.length - 1]]).toEqual([0, 0]);
          expect(decodeUtf8(json.subarray(1, -1))).toBe(printValueJson(wanted));
          expect(cell.text).toBe(printValueText(wellFormed(wanted)));
          expect(cell.facets).toEqual(held === undefined ? undefined : sorted(held));
        },
      ),
      { numRuns: runs(1000) },
    );
  });

  it("have a number to filter and sort by", () => {
    const numberOf = (held: Value): number => decodeCell(encodeCell(held)).number;
    expect(numberOf(makeInt(2n ** 63n - 1n))).toBe(2 ** 63);
    expect(numberOf(makeInt(-5))).toBe(-5);
    expect(numberOf({ kind: "float", float: -0.5 })).toBe(-0.5);
    expect(numberOf({ kind: "bool", bool: true })).toBe(1);
    const held = { seconds: -2, nanos: 500_000_000, offsetMinutes: 60 };
    expect(numberOf({ kind: "datetime", time: held })).toBe(-1500);
    expect(numberOf({ kind: "string", text: "1" })).toBeNaN();
  });

  it("are never a single byte, which stands for a wide one", () => {
    for (const empty of [
      { kind: "binary", bytes: new Uint8Array(0) },
      { kind: "password", hash: "" },
      { kind: "string", text: "" },
    ] as const satisfies Value[]) {
      expect(encodeCell(empty).length).toBeGreaterThan(1);
    }
  });
});

function wellFormed(held: Value): Value {
  if (held.kind === "string" || held.kind === "default") {
    return { kind: held.kind, text: decodeUtf8(encodeUtf8(held.text)) };
  }
  return held;
}

describe("facets and log entries", () => {
  it("decode to what was encoded", () => {
    fc.assert(
      fc.property(facets, (held) => {
        expect(decodeFacets(encodeFacets(held))).toEqual(sorted(held));
      }),
    );
    expect(decodeFacets(encodeFacets(undefined))).toBeUndefined();
    const cell = encodeCell({ kind: "string", text: "x" });
    const entry = {
      namespace: 3,
      storageId: 9,
      schemaVersion: 12,
      author: "alice",
      committedMs: 1.5e12,
      facts: [
        {
          kind: "value",
          subject: 2 ** 52,
          predicate: 4,
          language: "de",
          before: undefined,
          after: cell,
        },
        {
          kind: "edge",
          subject: 1,
          predicate: 5,
          object: 2,
          before: new Uint8Array(0),
          after: undefined,
        },
      ],
    } as const;
    expect(decodeLogEntry(encodeLogEntry(entry))).toEqual(entry);
    expect(decodeLogEntry(new Uint8Array(0))).toBeUndefined();
  });
});
