import { describe, expect, test } from "vitest";
import { Fault } from "../model/fault.ts";
import {
  parseBoolParameter,
  parseDurationNs,
  parseMediaType,
  parseUint,
  quoteParameter,
  readDurationNs,
} from "./parameters.ts";

const params = (text: string): URLSearchParams => new URLSearchParams(text);
const failure = (work: () => unknown): string => {
  try {
    work();
  } catch (error) {
    if (error instanceof Fault) return error.message;
    throw error;
  }
  return "no failure";
};

describe("booleans", () => {
  test.each(["1", "t", "T", "TRUE", "true", "True"])("%s is true", (word) =>
    expect(parseBoolParameter(params(`x=${word}`), "x")).toBe(true),
  );
  test.each(["", "0", "f", "F", "FALSE", "false", "False"])("%j is false", (word) =>
    expect(parseBoolParameter(params(`x=${word}`), "x")).toBe(false),
  );
  test("the first value counts, an absent one is false, a strange one is refused", () => {
    expect(parseBoolParameter(params("x=false&x=true"), "x")).toBe(false);
    expect(parseBoolParameter(params(""), "x")).toBe(false);
    expect(failure(() => parseBoolParameter(params("debug=TrUe"), "debug"))).toBe(
      'while parsing debug as bool: strconv.ParseBool: parsing "TrUe": invalid syntax',
    );
  });
});

describe("unsigned numbers", () => {
  test.each([
    ["7", 7],
    ["0x1F", 31],
    ["010", 8],
    ["0b101", 5],
    ["1_000", 1000],
    ["0", 0],
    ["18446744073709551615", Number.MAX_SAFE_INTEGER],
  ])("%s", (text, value) => expect(parseUint(params(`startTs=${text}`), "startTs")).toBe(value));
  test.each([
    ["abc", "invalid syntax"],
    ["-5", "invalid syntax"],
    ["1.5", "invalid syntax"],
    ["09", "invalid syntax"],
    ["18446744073709551616", "value out of range"],
  ])("%s is refused", (text, why) =>
    expect(failure(() => parseUint(params(`startTs=${text}`), "startTs"))).toBe(
      `while parsing startTs as uint64: strconv.ParseUint: parsing "${text}": ${why}`,
    ),
  );
});

describe("durations", () => {
  test.each([
    ["20s", 20e9],
    ["1m1.5s", 61.5e9],
    ["-5s", -5e9],
    ["1ns", 1],
    [".5ms", 5e5],
    ["0", 0],
    ["soon", 'invalid duration "soon"'],
    ["20", 'missing unit in duration "20"'],
    ["1d", 'unknown unit "d" in duration "1d"'],
  ])("%s", (text, value) => expect(readDurationNs(text)).toBe(value));
  test("zero and nothing are none", () => {
    expect(parseDurationNs(params("timeout=0"), "timeout")).toBeUndefined();
    expect(parseDurationNs(params("timeout="), "timeout")).toBeUndefined();
  });
});

describe("media types", () => {
  test.each([
    ["application/dql", "application/dql", undefined, undefined],
    ["Application/DQL; charset=UTF-8", "application/dql", "UTF-8", undefined],
    ['application/json;charset="utf-16"', "application/json", "utf-16", undefined],
    ["application/graphql+-", "application/graphql+-", undefined, undefined],
    [undefined, "", undefined, "mime: no media type"],
    ["application/json; charset", "application/json", undefined, "mime: invalid media parameter"],
    ["application/json;a=1;A=2", "", undefined, "mime: duplicate parameter name"],
    ["application/", "", undefined, "mime: expected token after slash"],
  ])("%s", (header, type, charset, fault) =>
    expect(parseMediaType(header)).toEqual({ type, charset, fault }),
  );
});

test("texts are quoted as in the reference's messages", () =>
  expect(quoteParameter('a"b\\c\nd\x01é')).toBe('"a\\"b\\\\c\\nd\\x01é"'));
