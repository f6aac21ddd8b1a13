import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { JsonSplitter, rewriteJsonLabels } from "./json-objects.ts";

function split(text: string, pieceLength = text.length): { text: string; line: number }[] {
  const splitter = new JsonSplitter("f.json");
  const found: { text: string; line: number }[] = [];
  for (let at = 0; at < text.length; at += pieceLength) {
    for (const { text: object, line } of splitter.push(text.slice(at, at + pieceLength))) {
      found.push({ text: object, line });
    }
  }
  splitter.end();
  return found;
}

describe("cutting a text into objects", () => {
  test("a list, objects in a row, and lines are told with the line on which they begin", () => {
    expect(split('[{"a":1},\n {"b":{"c":[1,2]}}]')).toEqual([
      { text: '{"a":1}', line: 1 },
      { text: '{"b":{"c":[1,2]}}', line: 2 },
    ]);
    expect(split('{"a":"}{"}\n{"b":"\\"}"}\n').map(({ text }) => text)).toEqual([
      '{"a":"}{"}',
      '{"b":"\\"}"}',
    ]);
    expect(split("[]")).toEqual([]);
  });

  test("wherever the pieces are cut, the objects are the same", () => {
    const objects = fc.array(fc.dictionary(fc.string(), fc.jsonValue()), { maxLength: 4 });
    fc.assert(
      fc.property(objects, fc.integer({ min: 1, max: 9 }), fc.boolean(), (list, length, pretty) => {
        const text = JSON.stringify(list, null, pretty ? 1 : 0);
        const found = split(text, length).map((object) => JSON.parse(object.text) as unknown);
        expect(found).toEqual(JSON.parse(text));
      }),
    );
  });

  test("what is no list of objects is refused with file and line", () => {
    expect(() => split('[{"a":1},\n5]')).toThrow("f.json:2: 5 stands where an object should begin");
    expect(() => split('[\n{"a":')).toThrow("f.json:2: the object that begins here has no end");
    expect(() => split('["x"]')).toThrow('f.json:1: " stands where');
  });
});

test("labels become uids, whatever strings say", () => {
  const text =
    '{"uid":"_:a","n":"\\"uid\\":\\"_:b\\"","knows":[{ "uid" : "_:b" },{"uid":"0x7"}],"x":1.0}';
  expect(rewriteJsonLabels(text, (label) => (label === "_:a" ? 1 : 2))).toBe(
    '{"uid":"0x1","n":"\\"uid\\":\\"_:b\\"","knows":[{ "uid":"0x2" },{"uid":"0x7"}],"x":1.0}',
  );
});
