import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { findJsonSyntaxFault, locateOffset } from "./json-syntax.ts";

describe("what is wrong with a JSON text", () => {
  test.each([
    ["", 0, "unexpected end of JSON input"],
    ['{"a"', 4, "unexpected end of JSON input"],
    ["{ q }", 3, "invalid character 'q' looking for beginning of object key string"],
    ["hello", 1, "invalid character 'h' looking for beginning of value"],
    ["[1,]", 4, "invalid character ']' looking for beginning of value"],
    ['{"a":1,}', 8, "invalid character '}' looking for beginning of object key string"],
    ['{"a" 1}', 6, "invalid character '1' after object key"],
    ['{"a":1 "b"}', 8, "invalid character '\"' after object key:value pair"],
    ["[1 2]", 4, "invalid character '2' after array element"],
    ["{} x", 4, "invalid character 'x' after top-level value"],
    ['"a\nb"', 3, "invalid character '\\n' in string literal"],
    ['"\\x"', 3, "invalid character 'x' in string escape code"],
    ['"\\u12g4"', 6, "invalid character 'g' in \\u hexadecimal character escape"],
    ["trve", 3, "invalid character 'v' in literal true (expecting 'u')"],
    ["-x", 2, "invalid character 'x' in numeric literal"],
    ["1.x", 3, "invalid character 'x' after decimal point in numeric literal"],
    ["1e+x", 4, "invalid character 'x' in exponent of numeric literal"],
    ["'a'", 1, "invalid character '\\'' looking for beginning of value"],
    ["é", 1, "invalid character 'Ã' looking for beginning of value"],
  ])("%j", (text, offset, detail) => expect(findJsonSyntaxFault(text)).toEqual({ offset, detail }));

  test("it finds a fault exactly where JSON.parse refuses", () => {
    const pieces = fc.constantFrom(..."{}[]:,\"\\ \n01-.eEtrufalsn'aé");
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 12 }), fc.json(), (noise, json) => {
        for (const text of [noise.join(""), json + noise.slice(0, 2).join("")]) {
          let refused = false;
          try {
            JSON.parse(text);
          } catch {
            refused = true;
          }
          expect(findJsonSyntaxFault(text) !== undefined).toBe(refused);
        }
      }),
    );
  });

  test("places count lines and characters, not bytes", () => {
    expect(locateOffset("{ q(func", 3)).toEqual({ line: 1, character: 4 });
    expect(locateOffset('{\n"é" x', 7)).toEqual({ line: 2, character: 6 });
  });
});
