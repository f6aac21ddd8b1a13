import { describe, expect, test } from "vitest";
import { compareBytes } from "../base/bytes.ts";
import { parseGeometry } from "../model/geometry.ts";
import type { Geometry } from "../model/value.ts";
import { geoTokens } from "../tokens/geo-cells.ts";
import { buildGeoQuery, type GeoFunction } from "./geo-match.ts";

const square = (low: number, high: number): number[][] => [
  [low, low],
  [high, low],
  [high, high],
  [low, high],
  [low, low],
];
const polygon = (...rings: number[][][]): string =>
  JSON.stringify({ type: "Polygon", coordinates: rings });
const point = (x: number, y: number): string =>
  JSON.stringify({ type: "Point", coordinates: [x, y] });

/** As a query runs: through the index's tokens, then by the test. */
function finds(name: GeoFunction, argument: string, stored: string, distance?: string): boolean {
  const query = buildGeoQuery(name, argument, distance);
  const geometry: Geometry = parseGeometry(stored);
  const tokens = geoTokens(geometry);
  const isCandidate = query.tokens.some((token) =>
    tokens.some((own) => compareBytes(own, token) === 0),
  );
  const matches = query.matches(geometry);
  if (matches) expect(isCandidate).toBe(true);
  return matches;
}

const holed = polygon(square(0, 10), square(4, 6));

describe("near", () => {
  test.each([
    ["[10, 50]", "200", point(10.001, 50), true],
    ["[10, 50]", "50", point(10.001, 50), false],
    ["[10, 50]", "1", polygon(square(9, 60)), true],
    ["[5, 5]", "1000", holed, false],
    ["[5, 5]", "200000", holed, true],
  ])("%s within %s m of %s: %s", (center, distance, stored, found) => {
    expect(finds("near", center, stored, distance)).toBe(found);
  });
});

describe("within", () => {
  const box = JSON.stringify([square(0, 10)]);
  const holedBox = JSON.stringify([square(0, 10), square(4, 6)]);
  test.each([
    [box, point(5, 5), true],
    [box, point(15, 5), false],
    [holedBox, point(5, 5), false],
    [box, polygon(square(1, 2)), true],
    [box, polygon(square(9, 12)), false],
    [holedBox, polygon(square(3, 7)), false],
    [holedBox, polygon(square(1, 3)), true],
    [JSON.stringify([[square(0, 3)], [square(8, 9)]]), point(8.5, 8.5), true],
    [JSON.stringify([square(0, 10).reverse()]), point(5, 5), true],
  ])("%s holds %s: %s", (area, stored, found) => {
    expect(finds("within", area, stored)).toBe(found);
  });
});

describe("contains", () => {
  test.each([
    ["[1, 1]", holed, true],
    ["[5, 5]", holed, false],
    ["[0, 5]", holed, true],
    ["[11, 5]", holed, false],
    ["[1, 1]", point(1, 1), false],
    [JSON.stringify([square(1, 2)]), holed, true],
    [JSON.stringify([square(3, 7)]), holed, false],
  ])("%s in %s: %s", (argument, stored, found) => {
    expect(finds("contains", argument, stored)).toBe(found);
  });
});

describe("intersects", () => {
  test.each([
    [JSON.stringify([square(9, 12)]), holed, true],
    [JSON.stringify([square(4.5, 5.5)]), holed, false],
    [JSON.stringify([square(3, 7)]), holed, true],
    [JSON.stringify([square(20, 21)]), holed, false],
    [JSON.stringify([square(0, 10)]), point(5, 5), true],
    [polygon(square(0, 10)), polygon(square(2, 3)), true],
  ])("%s and %s: %s", (argument, stored, found) => {
    expect(finds("intersects", argument, stored)).toBe(found);
  });
});

describe("arguments that are refused", () => {
  const box = "[[[1,1],[2,1],[2,2],[1,2],[1,1]]]";
  test.each<[GeoFunction, string, string, string]>([
    ["near", "[10, 50]", "0", "Invalid max distance specified for a near query"],
    ["near", "[10, 50]", "-5", "Distance cannot be negative"],
    [
      "near",
      "[10, 50]",
      "far",
      'Error while converting distance to float: strconv.ParseFloat: parsing "far": invalid syntax',
    ],
    ["near", box, "100", "Require a point for a within query."],
    ["near", "[10]", "5", "Invalid coordinates"],
    ["near", "here", "5", "Invalid coordinates"],
    ["within", "[10, 50]", "", "Require a polygon for within query"],
    ["intersects", "[10, 50]", "", "Require a polygon for intersects query"],
    ["within", "[[[1,1],[2,1],[2,2],[1,2]]]", "", "Last coord not same as first"],
    ["within", "[[[1,1],[2,1],[1,1]]]", "", "Can't convert ring with less than 4 pts"],
  ])("%s %s %s", (name, argument, distance, message) => {
    expect(() => buildGeoQuery(name, argument, distance)).toThrow(
      new RegExp(`^${escape(message)}$`),
    );
  });

  function escape(text: string): string {
    return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  }
});
