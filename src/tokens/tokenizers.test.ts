import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { compareBytes } from "../base/bytes.ts";
import { multiplyBig, parseBigFloat } from "../model/bigfloat.ts";
import { compareValues } from "../model/compare.ts";
import { compareText } from "../model/text-order.ts";
import { makeInt, type Value } from "../model/value.ts";
import { decodeNumberToken, decodeNumberTokenToFloat } from "./number-tokens.ts";
import {
  exactLanguage,
  exactPrefix,
  exactToken,
  isCutToken,
  nextExactLanguage,
  textToken,
} from "./text-tokens.ts";
import {
  checkIndexable,
  checkTokenLength,
  tokenizers,
  tokensOf,
  tokensOfQuery,
} from "./tokenizers.ts";
import { runs } from "../../test/support/runs.ts";

const text = (value: string): Value => ({ kind: "string", text: value });

function words(tokenizer: string, value: string, language = ""): string[] {
  return tokensOf(tokenizer, text(value), language).map((token) => new TextDecoder().decode(token));
}

function queryWords(tokenizer: string, value: string, language = ""): string[] {
  const tokens = tokensOfQuery(tokenizer, text(value), language);
  return tokens.map((token) => new TextDecoder().decode(token));
}

const values: Record<string, fc.Arbitrary<Value>> = {
  int: fc
    .oneof(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), fc.integer().map(BigInt))
    .map((int) => makeInt(int)),
  float: fc.double({ noNaN: true }).map((float): Value => ({ kind: "float", float: float + 0 })),
  bool: fc.boolean().map((bool): Value => ({ kind: "bool", bool })),
  day: fc
    .record({
      seconds: fc.integer({ min: -62135596800, max: 253402300799 }),
      nanos: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 999_999_999 })),
      offsetMinutes: fc.constant(0),
    })
    .map((time): Value => ({ kind: "datetime", time })),
  bigfloat: fc
    .tuple(fc.bigInt({ min: -(2n ** 200n), max: 2n ** 200n }), fc.integer({ min: -400, max: 400 }))
    .map(([mantissa, power]): Value => ({
      kind: "bigfloat",
      big: multiplyBig(
        parseBigFloat(String(mantissa)),
        parseBigFloat(`0x1p${String(mantissa % 3n === 0n ? 0 : power)}`),
      ),
    })),
};

describe("tokens of numbers and dates", () => {
  test.each(Object.keys(values))("%s: tokens order as the values and decode to them", (name) => {
    const arbitrary = values[name] ?? fc.constant(makeInt(0));
    const tokenOf = (value: Value): Uint8Array => tokensOf(name, value, "")[0] ?? new Uint8Array(0);
    fc.assert(
      fc.property(arbitrary, arbitrary, (a, b) => {
        const bytes = Math.sign(compareBytes(tokenOf(a), tokenOf(b)));
        expect(bytes).toBe(Math.sign(compareValues(a, b)));
        expect(decodeNumberToken(a.kind, tokenOf(a))).toEqual(a);
      }),
      { numRuns: runs(300) },
    );
  });

  test("zero has one token, and sums read doubles", () => {
    const [plus, minus] = [0, -0].map((float) => tokensOf("float", { kind: "float", float }, ""));
    expect(minus).toEqual(plus);
    for (const int of [0, -5, 2 ** 40, -(2 ** 40) - 1]) {
      const token = tokensOf("int", makeInt(int), "")[0] ?? new Uint8Array(8);
      expect(decodeNumberTokenToFloat("int", token)).toBe(int);
    }
  });

  test("infinite big floats stand at the ends", () => {
    const tokens = ["-Inf", "-1e300", "-1", "-1e-300", "0", "1e-300", "1", "1e300", "Inf"].map(
      (word) => tokensOf("bigfloat", { kind: "bigfloat", big: parseBigFloat(word) }, "")[0],
    );
    const sorted = [...tokens].sort((a, b) =>
      compareBytes(a ?? new Uint8Array(), b ?? new Uint8Array()),
    );
    expect(sorted).toEqual(tokens);
  });

  test("a value is converted to the tokenizer's kind", () => {
    expect(tokensOf("int", text("7"), "")).toEqual(tokensOf("int", makeInt(7), ""));
    expect(() => tokensOf("int", text("x"), "")).toThrow("strconv.ParseInt");
  });
});

describe("exact", () => {
  test("tokens order as bytes within a language, untagged first", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.string({ unit: "binary" }), (a, b) => {
        const bytes = compareBytes(exactToken(a, "de"), exactToken(b, "de"));
        expect(Math.sign(bytes)).toBe(Math.sign(compareText(a, b)));
        expect(compareBytes(exactToken(a, ""), exactToken(b, "de"))).toBeLessThan(0);
      }),
    );
  });

  test("languages are found by seeking", () => {
    const token = exactToken("x", "de-AT");
    expect(exactLanguage(token)).toBe("de-AT");
    expect(exactLanguage(exactToken("x", ""))).toBe("");
    expect(compareBytes(nextExactLanguage(token), exactToken("\uffff\uffff", "de-AT"))).toBe(1);
    expect(compareBytes(nextExactLanguage(token), exactPrefix("en"))).toBeLessThan(0);
    expect(compareBytes(nextExactLanguage(exactToken("z", "")), exactPrefix("a"))).toBeLessThan(0);
  });

  test("a long text is cut, marked, and still distinct and in order", () => {
    const long = "x".repeat(2000);
    const token = exactToken(long, "");
    expect(token.length).toBeLessThan(1100);
    expect(isCutToken(token)).toBe(true);
    expect(isCutToken(exactToken("x".repeat(1000), ""))).toBe(false);
    expect(isCutToken(textToken("\0".repeat(600)))).toBe(true);
    expect(exactToken(long + "a", "")).not.toEqual(exactToken(long + "b", ""));
    expect(compareBytes(token, exactToken("y", ""))).toBeLessThan(0);
    expect(compareBytes(token, exactToken("x".repeat(999), ""))).toBeGreaterThan(0);
  });
});

describe("term", () => {
  test.each([
    ["Ana-María O'Neill", "", ["ana", "maría", "o'neill"]],
    ["łukasz   Żółw", "", ["łukasz", "żółw"]],
    ["ＦＵＬＬ Ｗｉｄｔｈ", "", ["full", "width"]],
    [
      "under_score dot.dot it's 3.14 e-mail@host.example",
      "",
      ["under_score", "dot.dot", "it's", "3.14", "e", "mail", "host.example"],
    ],
    ["Glass, Glass; and more GLASS!", "", ["glass", "and", "more"]],
    ["C++ & C#: A Field Guide (2nd ed.)", "", ["c", "a", "field", "guide", "2nd", "ed"]],
    ["1,000.5 2;3 a,b 1.a", "", ["1,000.5", "2;3", "a", "b", "1"]],
    ["雪国の ランプ", "", ["雪", "国", "の", "ランプ"]],
    ["雪国の灯台 ランプ", "ja", ["雪国の灯台", "ランプ"]],
    ["İstanbul'da", "tr", ["istanbul'da"]],
    ["ΟΔΥΣΣΕΥΣ", "el", ["οδυσσευσ"]],
    ["", "", [""]],
    ["__ ... !", "", []],
  ])("%j in %j", (value, language, terms) => {
    expect(words("term", value, language).sort()).toEqual([...terms].sort());
  });

  test("a query has the words of its value", () => {
    expect(queryWords("term", "Οδυσσεύς ISTANBUL")).toEqual(["οδυσσεύσ", "istanbul"]);
  });
});

describe("fulltext", () => {
  test.each([
    [
      "A harbour pilot keeps running between two lighthouses",
      "",
      "harbour pilot keep run two lighthous",
    ],
    ["Die Häuser am Hafen wurden von den Kindern", "de", "haus haf wurd kind"],
    ["niño niños puertos canciones", "es", "niño niñ puert cancion"],
    ["gatto gatti canzoni", "it", "gatto gatti canzon"],
    ["Les pilotes chantaient nationalisation chevaux", "fr", "pilot chantaient national cheval"],
    ["as canções dos leões rapidamente", "pt", "canca leao rapid"],
    ["雪国の灯台", "ja", "雪国 国の の灯 灯台"],
    ["雪", "ja", "雪"],
    ["한국어 단어", "ko", "한국어 단어"],
    ["running cats", "zz", "run cat"],
    ["running cats", "pl", "running cats"],
    ["the was", "", ""],
  ])("%j in %j", (value, language, stems) => {
    const expected = stems === "" ? [] : stems.split(" ");
    expect(words("fulltext", value, language)).toEqual(expected);
  });

  test("the tag's region plays no part", () => {
    expect(words("fulltext", "Häuser", "de-AT")).toEqual(["haus"]);
  });
});

describe("ngram", () => {
  test("values give runs of one to four stems", () => {
    expect(words("ngram", "the quick brown foxes jumped high")).toContain("quick brown fox jump");
    expect(words("ngram", "brown fox jumps").sort()).toEqual(
      ["brown", "brown fox", "brown fox jump", "fox", "fox jump", "jump"].sort(),
    );
  });

  test("queries give runs of three, or one shorter run", () => {
    expect(queryWords("ngram", "small brown fox jumping")).toEqual([
      "small brown fox",
      "brown fox jump",
    ]);
    expect(queryWords("ngram", "brown foxes")).toEqual(["brown fox"]);
    expect(queryWords("ngram", "the were")).toEqual([]);
  });
});

test("trigrams are three bytes, each once", () => {
  expect(words("trigram", "aaaaab")).toEqual(["aaa", "aab"]);
  expect(tokensOf("trigram", text("на"), "").length).toBe(2);
  expect(tokensOf("trigram", text("ab"), "")).toEqual([]);
});

test("hashes of one text share a prefix over its languages", () => {
  const [untagged] = tokensOf("hash", text("x"), "");
  const [german] = tokensOf("hash", text("x"), "de");
  expect(german?.subarray(0, 16)).toEqual(untagged);
  expect(german?.length).toBe(18);
});

test("geometries in a plane that are points or areas have tokens", () => {
  const geo = (json: string): Value => ({ kind: "string", text: json });
  const point = tokensOf("geo", geo("{'type':'Point','coordinates':[10,50]}"), "");
  expect(point.length).toBe(13);
  const refused = [
    [
      "{'type':'LineString','coordinates':[[0,0],[1,1]]}",
      "Cannot index geometry of type *geom.LineString",
    ],
    ["{'type':'Point','coordinates':[1,2,3]}", "Covering only available for 2D co-ordinates."],
    ["{'type':'Polygon','coordinates':[[[0,0],[4,0]]]}", "Can't convert ring with less than 4 pts"],
    [
      "{'type':'Polygon','coordinates':[[[0,0],[4,0],[4,4],[0,4]]]}",
      "Last coordinate not same as first for polygon: &{geom2:{geom1:{geom0:{layout:1 stride:2 flatCoords:[0 0 4 0 4 4 0 4] srid:0}} ends:[8]}}\n",
    ],
  ];
  for (const [json = "", message = ""] of refused) {
    expect(() => tokensOf("geo", geo(json), "")).toThrow(message);
  }
});

test("texts too large for an index are refused by their longest token", () => {
  const message = "value in the mutation is too large for the index";
  const long = text("x".repeat(70_000));
  expect(() => checkIndexable("exact", long, "p")).toThrow(message);
  expect(() => checkIndexable("term", long, "p")).toThrow(message);
  expect(() => checkTokenLength("exact", text("a".repeat(65_000)), "p")).toThrow(message);
  checkTokenLength("exact", text("a".repeat(64_999)), "p");
  checkIndexable("hash", long, "p");
  checkIndexable("trigram", long, "p");
  checkIndexable("term", text("word ".repeat(20_000)), "p");
});

test("the table has every tokenizer once", () => {
  expect([...tokenizers.keys()].length).toBe(16);
  expect(tokenizers.get("exact")).toMatchObject({ sortable: true, kind: "string" });
});
