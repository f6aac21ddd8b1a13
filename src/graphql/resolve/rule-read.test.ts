/** What `@auth` may say in an SDL, and the words in which it is refused (reference/messages 4.2). */
import { describe, expect, test } from "vitest";
import { compileSchema, findSchemaProblems, validateSdl } from "../service/schema-compile.ts";

const fields =
  "{ id: ID!  username: String! @id  userRole: String @search(by: [hash])  n: Int @search  boss: X }";
const check = (rule: string): readonly string[] =>
  validateSdl(`type X @auth(query: ${rule}) ${fields}\ntype Y { a: Int }`);
const asRule = (text: string): string => `{ rule: ${JSON.stringify(text)} }`;

describe("rules that are refused", () => {
  const onlyOne = 'there should be only one of "and", "or", "not" and "rule"';
  const role = asRule('{$ROLE: {eq: "A"}}');
  test.each([
    [asRule("query {"), "failed to parse GraphQL rule [reason : Expected Name, found <EOF>]"],
    [
      asRule("query($U: String!) { queryX(filter: {userRle: {eq: $U}}) { id } }"),
      'failed to validate GraphQL rule [reason : Field "userRle" is not defined by type XFilter. Did you mean userRole or username?]',
    ],
    [
      asRule('{$U: {in: "xyz@dgraph.io"}}'),
      "`in` operator has invalid value `xyz@dgraph.io`. Value should be an array.",
    ],
    [
      asRule("{$U: {in: true}}"),
      "`in` operator has invalid value `true`. Value should be an array.",
    ],
    [asRule("{$USER: {eq: nil}}"), "`$USER` is not a valid GraphQL variable."],
    [asRule('{X_MyApp_Role: {eq: "A"}}'), "`X_MyApp_Role` is not a valid GraphQL variable."],
    [asRule('{$U: {xyz: "A"}}'), "`xyz` operator is not supported."],
    [asRule('{ "ADMIN" }'), '`{ "ADMIN" }` is not a valid rule.'],
    [asRule(""), "a rule should be exactly one query, found 0 GraphQL operations"],
    [
      asRule("mutation { addX(input: []) { numUids } }"),
      "a rule should be exactly one query, found a mutation",
    ],
    [
      asRule("query { queryX { id } a: queryX { id } }"),
      "a rule should be exactly one query, found 2 queries",
    ],
    [asRule("query { queryY { a } }"), "expected only queryX rules,but found queryY"],
    [asRule("query { queryX(first: 1) { id } }"), "`first` is not supported in rules."],
    [`{ or: [${role}] }`, "'OR' should contain at least two rules"],
    [`{ and: [${role}] }`, "'AND' should contain at least two rules"],
    [`{ or: [${role}, ${role}], and: [${role}, ${role}] }`, onlyOne],
    [`{ not: ${role}, rule: "{$R: {eq: 1}}" }`, onlyOne],
    ["{}", `no arguments - ${onlyOne}`],
    ["{ not: {} }", onlyOne],
    ["null", `no arguments - ${onlyOne}`],
  ])("%s", (rule, message) => {
    expect(check(rule)).toEqual([`Type X: @auth: ${message}`]);
  });

  test("every problem of every type is told", () => {
    const sdl = `type A @auth(query: { rule: "{}" }, add: { rule: "" }) { a: Int }
      interface B @auth(delete: { rule: "{}" }) { b: Int }`;
    expect(validateSdl(sdl)).toEqual([
      "Type A: @auth: `{}` is not a valid rule.",
      "Type A: @auth: a rule should be exactly one query, found 0 GraphQL operations",
      "Type B: @auth: `{}` is not a valid rule.",
    ]);
  });
});

describe("where a fault stands", () => {
  const place = (sdl: string): readonly string[] =>
    findSchemaProblems(sdl).map(({ message, at }) => {
      const operation = /\(in the rule for (\w+)\)$/.exec(message)?.[1] ?? "";
      // What stands there, so that the place can be read.
      const line = sdl.split("\n")[(at?.line ?? 0) - 1] ?? "";
      return `${operation} ${at?.line}: ${line.slice((at?.column ?? 1) - 1).slice(0, 9)}`;
    });

  test("in a text, with its escapes; in a block, with its indents", () => {
    const sdl = `type X
  @auth(
    query: { rule: "query { queryX(filter: { name: { eq: \\"a\\u{62}\\" }, nme: {} }) { id } }" }
    add: { or: [
      { rule: """

        query {
            queryX { id
              other }
        } """ }
      { rule: """query { queryX { wrong } }""" }
    ] }
    update: { rule: "query {{" }
    delete: { and: [{ rule: "{$A: {is: 1}}" }] }
  ) { id: ID! name: String @search(by: [hash]) }`;
    expect(place(sdl)).toEqual([
      "query 3: nme: {} }",
      "add 9: other }",
      "add 11: wrong } }",
      'update 13: {" }',
      "delete 14: { and: [{",
      'delete 14: "{$A: {is',
    ]);
  });

  test("the messages of the reference have none", () => {
    const sdl =
      'type X @auth(query: { rule: "query { queryX { nme } }" }) { id: ID! name: String }';
    const [told = ""] = validateSdl(sdl);
    expect(told).toBe(
      'Type X: @auth: failed to validate GraphQL rule [reason : Cannot query field "nme" on type "X". Did you mean "name"?]',
    );
    expect(findSchemaProblems(sdl)[0]?.message).toBe(`${told} (in the rule for query)`);
  });
});

describe("rules of a schema", () => {
  test("those of interfaces are the types' too", () => {
    const { rules, nodes } = compileSchema(`
      interface I @auth(query: { rule: "{$A: {eq: 1}}" }, add: { rule: "{$B: {eq: 1}}" }) { id: ID! name: String }
      type T implements I @auth(query: { rule: "query($C: Int) { queryT(filter: {size: {eq: $C}}) { size } }" }) { size: Int @search }
      type Free { things: [Thing] }
      union Thing = T | Free`);
    const of = (name: string): object | undefined =>
      rules?.byType.get(nodes.find((node) => node.name === name)!);
    expect(of("T")).toMatchObject({ query: { kind: "and" }, add: { kind: "role" } });
    expect(of("Free")).toBe(undefined);
    expect([...rules!.hidden].map((type) => type.name)).toEqual(["I", "T", "Thing"]);
  });

  test("a schema without rules has none", () => {
    expect(compileSchema("type T @auth { a: Int }").rules).toBe(undefined);
  });
});
