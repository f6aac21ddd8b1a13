import * as fc from "fast-check";
import { parse, visit } from "graphql";
import { describe, expect, test } from "vitest";
import { isTooDeep, liftLiterals } from "./lift.ts";

const depthMax = 200;

describe("lifting literals", () => {
  test("strings, integers and floats leave marks of their own", () => {
    const lifted = liftLiterals('{ a(x: "s", y: -3, z: 1.5e2) { b1 } } # 7 "c"', depthMax);
    expect(lifted?.literals).toEqual(["s", "-3", "1.5e2"]);
    const same = liftLiterals('{ a(x: "other", y: 12, z: 0.5) { b1 } } # 7 "c"', depthMax);
    expect(same?.template).toBe(lifted?.template);
    const other = liftLiterals('{ a(x: "other", y: 1.0, z: 0.5) { b1 } } # 7 "c"', depthMax);
    expect(other?.template).not.toBe(lifted?.template);
  });

  test.each(['{ a(x: """b""") }', "{ a(x: 01) }", "{ a(x: 1a) }", '{ a(x: "b', "{ a(x: 1.) }"])(
    "%s is left to the parser",
    (text) => {
      expect(liftLiterals(text, depthMax)).toBe(undefined);
    },
  );

  test("finds what the parser finds", () => {
    const value = fc.oneof(
      fc.string().map((s) => JSON.stringify(s.replace(/[\p{Cc}\p{Cs}]/gu, ""))),
      fc.integer().map(String),
      fc.double({ noNaN: true, noDefaultInfinity: true }).map((n) => JSON.stringify(n)),
      fc.constantFrom("true", "RED", "$v", "null", "[1, 2]", '{f1: "g", h: 3}'),
    );
    fc.assert(
      fc.property(fc.array(value, { minLength: 1, maxLength: 6 }), (values) => {
        const args = values.map((v, i) => `a${i}: ${v}`).join(", ");
        const text = `{ field(${args}) { inner } }`;
        const found: string[] = [];
        const keep = (node: { readonly value: string }): undefined => {
          found.push(node.value);
        };
        visit(parse(text), { IntValue: keep, FloatValue: keep, StringValue: keep });
        expect(liftLiterals(text, depthMax)?.literals).toEqual(found);
      }),
    );
  });

  test("depth is bounded, strings and comments do not count", () => {
    expect(isTooDeep("{a{b{c}}}", 2)).toBe(true);
    expect(isTooDeep('{a(x:"{{{{") # {{{{\n}', 2)).toBe(false);
    expect(liftLiterals("{a{b{c}}}", 2)).toBe(undefined);
  });
});
