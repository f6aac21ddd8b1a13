import { describe, expect, test } from "vitest";
import { compareValues, equalValues } from "./compare.ts";
import { asFault, attempt, ConversionError, quoteGo } from "./conversion-error.ts";
import { checkPassword, convertValue } from "./convert.ts";
import { Fault } from "./fault.ts";
import { printValueJson, printValuePlainJson, printValueText, quoteJson } from "./print-value.ts";
import { compareText } from "./text-order.ts";
import type { Value, ValueKind } from "./value.ts";

const text = (value: string): Value => ({ kind: "default", text: value });
const int = (value: number): Value => ({ kind: "int", int: value });
const float = (value: number): Value => ({ kind: "float", float: value });
const bool = (value: boolean): Value => ({ kind: "bool", bool: value });
const date = (value: string): Value => convertValue(text(value), "datetime");
const point = convertValue(text("{'type':'Point','coordinates':[1,2.5]}"), "geo");

describe("convertValue", () => {
  test.each<[Value, ValueKind, string]>([
    [text("12"), "int", "12"],
    [text("1e2"), "float", "100"],
    [text("T"), "bool", "true"],
    [text("1910"), "datetime", '"1910-01-01T00:00:00Z"'],
    [text("1e2"), "bigfloat", "100"],
    [text("[1, 0.25]"), "float32vector", "[1E+00,2.5E-01]"],
    [text("<b>"), "string", '"\\u003cb\\u003e"'],
    [int(0), "bool", "false"],
    [int(5), "string", '"5"'],
    [int(86400), "datetime", '"1970-01-02T00:00:00Z"'],
    [int(5), "bigfloat", "5"],
    [int(5), "float32vector", "[5E+00]"],
    [float(6.9), "int", "6"],
    [float(1e7), "string", '"1E+07"'],
    [float(-1.25), "datetime", '"1969-12-31T23:59:58.75Z"'],
    [float(2.5), "bool", "true"],
    [bool(true), "float", "1"],
    [bool(true), "int", "1"],
    [date("2001-09-09T01:46:40Z"), "int", "1000000000"],
    [date("2001-09-09T01:46:40.5Z"), "float", "1.0000000005e+09"],
    [date("2001-09-09T01:46:40+01:00"), "string", '"2001-09-09T01:46:40+01:00"'],
    [point, "string", `"{'type':'Point','coordinates':[1,2.5]}"`],
    [point, "geo", '{"type":"Point","coordinates":[1,2.5]}'],
  ])("%j to %s", (value, kind, json) => {
    const converted = convertValue(value, kind);
    expect(converted.kind).toBe(kind);
    expect(printValueJson(converted)).toBe(json);
  });

  test.each<[Value, ValueKind, string]>([
    [text("NaN"), "float", "Got invalid value: NaN"],
    [text("yes"), "bool", 'strconv.ParseBool: parsing "yes": invalid syntax'],
    [text("short"), "password", "Password too short, i.e. should have at least 6 chars"],
    [text("[1, x]"), "float32vector", "cannot convert [1, x] to vfloat"],
    [text("[1, 2,]"), "float32vector", "cannot convert [1, 2,] to vfloat"],
    [text("1, 2"), "float32vector", "cannot convert 1, 2 to vfloat"],
    [float(1e300), "int", "Float out of int64 range"],
    [bool(true), "datetime", "Cannot convert bool to type datetime"],
    [date("2001"), "bool", "Cannot convert datetime to type bool"],
    [int(5), "geo", "Cannot convert int to type geo"],
    [int(5), "password", "Cannot convert int to type password"],
  ])("%j to %s is refused", (value, kind, message) => {
    expect(() => convertValue(value, kind)).toThrow(new ConversionError(message));
  });

  test.each([
    ["{'type':'Circle','coordinates':[0,0]}", "geojson: unsupported type: Circle"],
    ["{}", "geojson: unsupported type: "],
    ["somewhere", "invalid character 's' looking for beginning of value"],
    ["1.0,2.0", "invalid character ',' after top-level value"],
    ["[1, 2]", "json: cannot unmarshal array into Go value of type geojson.Geometry"],
    ["null", "geojson: unsupported type: "],
    [
      "{'type':5}",
      "json: cannot unmarshal number into Go struct field Geometry.type of type string",
    ],
    [
      "{'type':'Point','coordinates':['a','b']}",
      "json: cannot unmarshal string into Go value of type float64",
    ],
  ])("geometry %s is refused", (json, reason) => {
    const message = `Error while unmarshalling: [${json}] as geojson: ${reason}`;
    expect(() => convertValue(text(json), "geo")).toThrow(new ConversionError(message));
  });

  test.each([
    { kind: "float", float: Infinity },
    { kind: "float", float: NaN },
    { kind: "float", float: 1e300 },
    { kind: "float", float: -62_167_219_201 },
    { kind: "int", int: 253_402_300_800 },
    { kind: "int", int: 9_223_372_036_854_775_807n },
  ] as const)("no date for %o seconds", (value) => {
    expect(() => convertValue(value, "datetime")).toThrow(
      "Time.MarshalJSON: year outside of range [0,9999]",
    );
  });

  test("a point without coordinates", () => {
    expect(() => convertValue(text("{'type':'Point'}"), "geo")).toThrow(
      "geom: unsupported layout NoLayout",
    );
  });
});

test("vectors become texts without exponents, and take brackets too many at their end", () => {
  const vector = Float32Array.of(1, -0.25, 1e-7, 1e21, 123456.5, 0);
  expect(convertValue({ kind: "float32vector", vector }, "string")).toEqual({
    kind: "string",
    text: "[1,-0.25,0.0000001,1000000000000000000000,123456.5,0]",
  });
  expect(convertValue(text("[1,2]]"), "float32vector")).toEqual({
    kind: "float32vector",
    vector: Float32Array.of(1, 2),
  });
});

test("big floats are no vectors", () => {
  const big = convertValue(text("1.5"), "bigfloat");
  expect(() => convertValue(big, "float32vector")).toThrow(
    "Cannot convert bigfloat to type float32vector",
  );
});

test("a password has six to 72 bytes", () => {
  expect(() => {
    checkPassword("é".repeat(36));
  }).not.toThrow();
  expect(() => {
    checkPassword("é".repeat(37));
  }).toThrow("bcrypt: password length exceeds 72 bytes");
  expect(() => {
    checkPassword("12345");
  }).toThrow("Password too short, i.e. should have at least 6 chars");
});

test("a conversion error takes the caller's code, or counts as no value", () => {
  const convert = (): Value => convertValue(text("x"), "int");
  const fault = ((): unknown => {
    try {
      return asFault("E_QUERY", convert, "Got error: ");
    } catch (error) {
      return error;
    }
  })();
  expect(fault).toBeInstanceOf(Fault);
  expect((fault as Fault).message).toBe('Got error: strconv.ParseInt: parsing "x": invalid syntax');
  expect(attempt(convert)).toBeUndefined();
});

test("comparing: numbers mix, dates go by instant, texts by bytes, other kinds by rank", () => {
  expect(compareValues(int(2), float(1.5))).toBeGreaterThan(0);
  expect(equalValues(int(2), float(2))).toBe(true);
  expect(equalValues(date("2000-01-01T01:00:00+01:00"), date("2000"))).toBe(true);
  expect(equalValues(text("a"), { kind: "string", text: "a" })).toBe(true);
  expect(compareValues(int(9), { kind: "string", text: "1" })).toBeLessThan(0);
  const big: Value = { kind: "int", int: 2n ** 62n };
  expect(compareValues(big, { kind: "int", int: 2n ** 62n + 1n })).toBeLessThan(0);
});

test("texts compare as their UTF-8 bytes do", () => {
  const words = ["", "a", "ab", "b", "é", "\uffff", "😀", "\ue000", "a\ud800"];
  for (const a of words) {
    for (const b of words) {
      const bytes = Buffer.compare(Buffer.from(a), Buffer.from(b));
      expect([a, b, Math.sign(compareText(a, b))]).toEqual([a, b, bytes]);
    }
  }
});

test("strings are escaped as the reference does it", () => {
  expect(quoteJson('a"b\\c\n\t\u0001é😀')).toBe('"a\\"b\\\\c\\n\\t\\u0001é😀"');
  expect(quoteJson("<&>\u2028")).toBe('"\\u003c\\u0026\\u003e\\u2028"');
  expect(quoteJson("x\ud800y")).toBe('"x\\ufffdy"');
});

test("special values print nothing", () => {
  const values = ["Inf"].map((word) => convertValue(text(word), "float"));
  expect(values.map(printValueJson)).toEqual([""]);
  expect(printValueJson({ kind: "password", hash: "h" })).toBe("");
  expect(printValueJson({ kind: "float32vector", vector: new Float32Array(0) })).toBe("");
  expect(printValueText(values[0] ?? int(0))).toBe("+Inf");
  expect(printValuePlainJson(float(1e6))).toBe("1000000");
  const vector = convertValue(text("[0.1, 2]"), "float32vector");
  expect(printValuePlainJson(vector)).toBe("[0.1,2]");
});

test("texts in messages are quoted as Go quotes them", () => {
  expect(quoteGo('é"\n\u0001\u00a0😀')).toBe('"é\\"\\n\\x01\\u00a0😀"');
});
