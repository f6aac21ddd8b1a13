import { Buffer } from "node:buffer";
import { describe, expect, it } from "vitest";
import type { ApiFacet, ApiNQuad, ApiValue } from "./api.ts";
import { printNQuads } from "./nquads.ts";

const noValue = {} as ApiValue;

function fact(value: Partial<ApiValue> | null, facets: readonly ApiFacet[] = []): ApiNQuad {
  return {
    subject: "0x1",
    predicate: "p",
    objectId: value === null ? "0x2" : "",
    objectValue: value === null ? null : { ...noValue, ...value },
    lang: "",
    facets,
  };
}

const printValue = (value: Partial<ApiValue>): string => printNQuads([fact(value)]).trim();
const printFacet = (valType: number, value: Buffer): string =>
  printNQuads([fact(null, [{ key: "since", value, valType }])]).trim();

/** 2018-03-04T05:06:07.5Z: version, seconds of the year 1, nanoseconds, no zone. */
const time = Buffer.from("010000000ed22d75bf1dcd6500ffff", "hex");

function double(value: number, isLittle = true): Buffer {
  const bytes = Buffer.alloc(8);
  if (isLittle) bytes.writeDoubleLE(value);
  else bytes.writeDoubleBE(value);
  return bytes;
}

describe("facets of messages", () => {
  it("are read in the form of their type", () => {
    const int = Buffer.alloc(8);
    int.writeBigInt64LE(-5n);
    expect(printFacet(1, int)).toBe("<0x1> <p> <0x2> (since=-5) .");
    expect(printFacet(2, double(2))).toBe("<0x1> <p> <0x2> (since=2.0) .");
    expect(printFacet(3, Buffer.from([1]))).toBe("<0x1> <p> <0x2> (since=true) .");
    expect(printFacet(4, time)).toBe("<0x1> <p> <0x2> (since=2018-03-04T05:06:07.500000000Z) .");
    expect(printFacet(0, Buffer.from('a "b"'))).toBe(
      String.raw`<0x1> <p> <0x2> (since="a \"b\"") .`,
    );
  });

  it("are read as text where they have not that form", () => {
    expect(printFacet(4, Buffer.from("2018-01"))).toBe("<0x1> <p> <0x2> (since=2018-01) .");
    expect(printFacet(1, Buffer.from("41"))).toBe("<0x1> <p> <0x2> (since=41) .");
    expect(printFacet(4, Buffer.from("a) . <0x3> <p> <0x4> ("))).toBe(
      '<0x1> <p> <0x2> (since="a) . <0x3> <p> <0x4> (") .',
    );
    expect(printFacet(0, Buffer.from("41"))).toBe('<0x1> <p> <0x2> (since="41") .');
  });
});

describe("shapes of messages", () => {
  const geo = (hex: string): string =>
    printValue({ val: "geoVal", geoVal: Buffer.from(hex, "hex") });
  const pairs = (numbers: readonly number[], isLittle = true): string =>
    numbers.map((number) => double(number, isLittle).toString("hex")).join("");
  const square = `0100000004000000${pairs([0, 0, 4, 0, 4, 4, 0, 0])}`;

  it("become GeoJSON, whatever the order of their bytes", () => {
    const point = String.raw`<0x1> <p> "{\"type\":\"Point\",\"coordinates\":[1,2.5]}"^^<geo:geojson> .`;
    expect(geo(`0101000000${pairs([1, 2.5])}`)).toBe(point);
    expect(geo(`0000000001${pairs([1, 2.5], false)}`)).toBe(point);
    expect(geo(`0103000000${square}`)).toContain(
      String.raw`\"Polygon\",\"coordinates\":[[[0,0],[4,0],[4,4],[0,0]]]`,
    );
    expect(geo(`0106000000010000000103000000${square}`)).toContain(
      String.raw`\"MultiPolygon\",\"coordinates\":[[[[0,0],[4,0],[4,4],[0,0]]]]`,
    );
  });

  it("are refused where they are none", () => {
    expect(() => geo("7b22")).toThrow("unknown byte order: 123");
    expect(() => geo("0101000000")).toThrow("it is cut short");
    expect(() => geo("0102000000")).toThrow("type 2 is not stored");
    expect(() => geo("0103000000ffffffff")).toThrow("it is cut short");
    expect(() => geo(`0101000000${pairs([1, 2])}00`)).toThrow("there are bytes behind it");
  });
});

describe("big decimals of messages", () => {
  const big = (hex: string): string =>
    printValue({ val: "bigfloatVal", bigfloatVal: Buffer.from(hex, "hex") });

  it("keep every digit", () => {
    // 1.5 and -0.1 at 53 bits, 2^70 at 64, and 0, as big.Float writes them.
    expect(big("010a0000003500000001c000000000000000")).toBe('<0x1> <p> "1.5"^^<xs:decimal> .');
    expect(big("010b00000035fffffffdccccccccccccd000")).toBe(
      '<0x1> <p> "-0.1000000000000000055511151231257827021181583404541015625"^^<xs:decimal> .',
    );
    expect(big("010a00000040000000478000000000000000")).toBe(
      '<0x1> <p> "1180591620717411303424"^^<xs:decimal> .',
    );
    expect(big("010800000035")).toBe('<0x1> <p> "0"^^<xs:decimal> .');
  });

  it("are refused without end, cut short, or of more digits than anybody means", () => {
    expect(() => big("010c00000035")).toThrow("it has no end");
    expect(() => big("010a0000003500000001")).toThrow("it is cut short");
    expect(() => big("010a000000357fffffff80")).toThrow("more than 16384 binary digits");
    expect(() => big("02")).toThrow("it is not of version 1");
  });
});
