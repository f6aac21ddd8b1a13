// Goal: a text read in steps of any length is what JSON.parse makes of it, or is refused where that refuses it.
import fc from "fast-check";
import { expect, test } from "vitest";
import { runs } from "../../test/support/runs.ts";
import { findJsonSyntaxFault } from "./json-syntax.ts";
import { JsonMalformed, type JsonMaker, type JsonSpan, JsonWalk } from "./json-walk.ts";

const plain: JsonMaker<unknown, Record<string, unknown>> = {
  makeObject: () => Object.create(null) as Record<string, unknown>,
  setMember: (object, key, value) => void (object[key] = value),
  makeNumber: Number,
  makeList: (items) => items,
  makePlain: (value) => value,
  enter: () => {},
};

function readBy(text: string, length: number, spans?: Map<string, JsonSpan>): unknown {
  const walk = new JsonWalk(text, plain, spans);
  for (let until = length; !walk.step(until); until = walk.position + length);
  return walk.value;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** What is wrong, found by the place alone. */
function faultByPlace(text: string, length: number): unknown {
  const walk = new JsonWalk(text, plain);
  try {
    for (let until = length; !walk.step(until); until = walk.position + length);
    return undefined;
  } catch (error) {
    if (!(error instanceof JsonMalformed)) throw error;
    const { prefix, from } = walk.fault;
    const fault = findJsonSyntaxFault(prefix + text.slice(from));
    const before = Buffer.byteLength(text.slice(0, from)) - prefix.length;
    return fault === undefined ? fault : { ...fault, offset: before + fault.offset };
  }
}

const steps = fc.integer({ min: 1, max: 40 });

test("any JSON, in steps of any length", () => {
  fc.assert(
    fc.property(fc.json(), steps, (text, length) => {
      expect(JSON.stringify(readBy(text, length))).toBe(JSON.stringify(JSON.parse(text)));
    }),
    { numRuns: runs(200) },
  );
});

test("what is broken is refused, and told by its place as by the whole text", () => {
  const noise = fc.constantFrom("]", "}", ",", ":", '"', "\\", "1", ".", "e", "t", " ", "\n", "é");
  const broken = fc
    .tuple(fc.json(), fc.nat(), noise, fc.boolean())
    .map(([text, at, what, isCut]) => {
      const place = at % (text.length + 1);
      return isCut ? text.slice(0, place) : text.slice(0, place) + what + text.slice(place);
    });
  fc.assert(
    fc.property(broken, steps, (text, length) => {
      if (!isJson(text)) expect(faultByPlace(text, length)).toEqual(findJsonSyntaxFault(text));
      else expect(JSON.stringify(readBy(text, length))).toBe(JSON.stringify(JSON.parse(text)));
    }),
    { numRuns: runs(500) },
  );
});

test("long escaped texts are unquoted piece by piece, pairs and all", () => {
  const text = JSON.stringify("\u{1f600}\n".repeat(100_000)).replaceAll(
    "\u{1f600}",
    "\\ud83d\\ude00",
  );
  expect(readBy(text, 1000)).toBe(JSON.parse(text));
  expect(readBy(text, 65_537)).toBe(JSON.parse(text));
});

test("members of the outermost object are found in the text", () => {
  const text = '{ "a" : [1, {"a": 2}] , "b":"x\\n" }';
  const spans = new Map<string, JsonSpan>();
  readBy(text, 3, spans);
  const texts = [...spans].map(([key, { start, end }]) => [key, text.slice(start, end)]);
  expect(texts).toEqual([
    ["a", '[1, {"a": 2}]'],
    ["b", '"x\\n"'],
  ]);
});
