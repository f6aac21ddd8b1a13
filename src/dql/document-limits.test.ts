/** Requests that are short and stand for long ones. */
import { parseQuery } from "../exec/dql.ts";
import { describe, expect, test } from "vitest";
import { defaultLimits } from "../model/limits.ts";

/** Texts of these tests are long where others stand for long ones. */
const roomy = { ...defaultLimits, documentTokensMax: 1e7 };

const none = new Map<string, string>();

const list = (count: number, make: (i: number) => string): string =>
  Array.from({ length: count }, (_, i) => make(i)).join(" ");

/** Fragments that name the next one, the last of them a field. */
const chain = (count: number, make: (next: string) => string): string =>
  list(count, (i) => `fragment f${i} { ${i === count - 1 ? "uid" : make(`...f${i + 1}`)} }`);

const parse = (text: string, limits = {}): ReturnType<typeof parseQuery> =>
  parseQuery(text, none, { ...roomy, ...limits });

describe("fragments are counted as often as they are named", () => {
  test.each([
    ["twice in one place", (next: string) => `${next} ${next}`],
    ["twice below fields", (next: string) => `a: to { ${next} } b: to { ${next} }`],
    ["once beside a field", (next: string) => `to { ${next} ${next} }`],
  ])("%s", (_, make) => {
    expect(parse(`{ q(func: uid(1)) { ...f0 } } ${chain(10, make)}`).blocks).toHaveLength(1);
    expect(() => parse(`{ q(func: uid(1)) { ...f0 } } ${chain(40, make)}`)).toThrow(
      "the request has more than 6000 fields with its fragments in their places (--limit document-fields)",
    );
  });

  test("exactly", () => {
    const text =
      "{ q(func: uid(1)) { ...f a ...f } } fragment f { x { y z } ...g } fragment g { w }";
    expect(parse(text, { documentFieldsMax: 9 }).blocks[0]?.children).toHaveLength(5);
    expect(() => parse(text, { documentFieldsMax: 8 })).toThrow("(--limit document-fields)");
  });

  test("in several blocks", () => {
    const text = `{ ${list(300, (i) => `q${i}(func: uid(1)) { ...f }`)} } fragment f { ${list(300, (i) => `a${i}: b`)} }`;
    expect(() => parse(text)).toThrow("(--limit document-fields)");
  });

  test("more fields than a call takes arguments", () => {
    const text = `{ q(func: uid(1)) { ...f } } fragment f { ${list(200_000, () => "a")} }`;
    const { blocks } = parse(text, { documentFieldsMax: 1e6 });
    expect(blocks[0]?.children).toHaveLength(200_000);
  });
});

describe("fragments count as levels", () => {
  const tooDeep = "Exceeded query depth limit = 200. (--limit depth)";

  test("chains of them", () => {
    const long = `{ q(func: uid(1)) { ...f0 } } ${chain(20_000, (next) => next)}`;
    expect(() => parse(long)).toThrow(tooDeep);
    expect(
      parse(`{ q(func: uid(1)) { ...f0 } } ${chain(150, (next) => next)}`).blocks,
    ).toHaveLength(1);
  });

  test("circles of them, which are found before", () => {
    const circle = (count: number): string =>
      `{ q(func: uid(1)) { ...f0 } } ${list(count, (i) => `fragment f${i} { ...f${(i + 1) % count} }`)}`;
    expect(() => parse(circle(3))).toThrow("Cycle detected: f0");
    expect(() => parse(circle(20_000))).toThrow(tooDeep);
  });

  test("what is deep in itself, many times", () => {
    const deep = (next: string): string => `${"to { ".repeat(30)}${next}${" }".repeat(30)}`;
    expect(parse(`{ q(func: uid(1)) { ...f0 } } ${chain(6, deep)}`).blocks).toHaveLength(1);
    expect(() => parse(`{ q(func: uid(1)) { ...f0 } } ${chain(9, deep)}`)).toThrow(tooDeep);
    // From the innermost one on, so that each is known when the next one names it.
    const text = `{ a(func: uid(1)) { ...f8 } ${list(8, (i) => `b${i}(func: uid(1)) { ...f${7 - i} }`)} }`;
    expect(() => parse(`${text} ${chain(9, deep)}`)).toThrow(tooDeep);
  });
});

describe("parts are counted while they are read", () => {
  test("tokens", () => {
    const text = `{ q(func: eq(a, [${Array.from({ length: 10 }, (_, i) => `"${i}"`).join()}])) { uid } }`;
    expect(parse(text, { documentTokensMax: 40 }).blocks).toHaveLength(1);
    expect(() => parse(text, { documentTokensMax: 30 })).toThrow(
      "the request has more than 30 tokens (--limit document-tokens)",
    );
  });

  test("blocks", () => {
    expect(() => parse(`{ ${list(2_001, (i) => `q${i}(func: uid(1)) { uid }`)} }`)).toThrow(
      "the request has more than 2000 blocks (--limit document-roots)",
    );
  });

  test("conditions of all filters", () => {
    const text = `{ q(func: uid(1)) @filter(has(a)) { to @filter(eq(a, 1) or eq(a, 2)) { uid } } }`;
    expect(parse(text, { filterConditionsMax: 3 }).blocks).toHaveLength(1);
    expect(() => parse(text, { filterConditionsMax: 2 })).toThrow(
      "the request has more than 2 conditions in its filters (--limit filter-conditions)",
    );
  });

  test("uids of a variable that is used again and again", () => {
    const values = new Map([
      ["$ids", `[${Array.from({ length: 1_000 }, (_, i) => i + 1).join()}]`],
    ]);
    const text = (uses: number): string =>
      `query t($ids: string) { ${list(uses, (i) => `q${i}(func: uid($ids)) { uid }`)} }`;
    expect(parseQuery(text(100), values).blocks).toHaveLength(100);
    expect(() => parseQuery(text(110), values)).toThrow("(--limit filter-conditions)");
  });
});
