/** Rules about the caller, and what combinations of rules leave open (reference/graphql 6.3). */
import { describe, expect, test } from "vitest";
import { holdsRole, parseRoleRule, RuleFault } from "./role-rule.ts";
import { decide } from "./rule.ts";
import type { Decision, Rule } from "./rule.ts";
import type { ClaimValue } from "./token.ts";

const holds = (rule: string, claim: ClaimValue | undefined): boolean =>
  holdsRole(parseRoleRule(rule), new Map(claim === undefined ? [] : [["V", claim]]));

describe("role rules", () => {
  test.each<[string, ClaimValue | undefined, boolean]>([
    ['{$V: {eq: "a"}}', "a", true],
    ['{$V: {eq: "a"}}', "A", false],
    ['{$V: {eq: "a"}}', ["b", "a"], true],
    ['{$V: {eq: "a"}}', [], false],
    ['{$V: {eq: "a"}}', undefined, false],
    ['{$V: {eq: "a"}}', null, false],
    ["{$V: {eq: 1}}", 1, true],
    ["{$V: {eq: 1}}", "1", false],
    ["{$V: {eq: true}}", true, true],
    ["{$V: {eq: true}}", "true", false],
    ["{$V: {eq: false}}", undefined, false],
    ['{$V: {in: ["a", 7]}}', 7, true],
    ['{$V: {in: ["a", 7]}}', ["x", "a"], true],
    ['{$V: {in: ["a", 7]}}', "7", false],
    ["{$V: {in: []}}", "a", false],
    ['{$V: {regexp: "^.*@x[.]example$"}}', "me@x.example", true],
    ['{$V: {regexp: "^.*@x[.]example$"}}', "me@x.example.org", false],
    ['{$V: {regexp: "^.*@x[.]example$"}}', ["no", "me@x.example"], true],
    ['{$V: {regexp: "a"}}', 12, false],
    ['{$V: {regexp: "^$"}}', "", true],
  ])("%s with %j", (rule, claim, expected) => {
    expect(holds(rule, claim)).toBe(expected);
  });

  test.each([
    ['{ "ADMIN" }', '`{ "ADMIN" }` is not a valid rule.'],
    ['{V: {eq: "a"}}', "`V` is not a valid GraphQL variable."],
    ["{$V: {eq: nil}}", "`$V` is not a valid GraphQL variable."],
    ["{$V: {eq: null}}", "`eq` operator has invalid value. null values aren't supported."],
    ['{$V: {in: "a"}}', "`in` operator has invalid value `a`. Value should be an array."],
    [
      "{$V: {regexp: 12}}",
      "`regexp` operator has invalid value `12`. Value should be of type String.",
    ],
    ["{$V: {xyz: 12}}", "`xyz` operator is not supported."],
  ])("%s is refused", (rule, message) => {
    expect(() => parseRoleRule(rule)).toThrow(new RuleFault(message));
  });

  test("an expression that is none is refused", () => {
    expect(() => parseRoleRule('{$V: {regexp: "("}}')).toThrow(RuleFault);
  });
});

describe("decisions", () => {
  const yes: Rule<string> = { kind: "role", role: parseRoleRule('{$R: {eq: "yes"}}') };
  const no: Rule<string> = { kind: "role", role: parseRoleRule('{$R: {eq: "no"}}') };
  const open: Rule<string> = { kind: "graph", graph: "open" };
  const blind: Rule<string> = { kind: "graph", graph: "blind" };
  const and = (...rules: Rule<string>[]): Rule<string> => ({ kind: "and", rules });
  const or = (...rules: Rule<string>[]): Rule<string> => ({ kind: "or", rules });
  const not = (rule: Rule<string>): Rule<string> => ({ kind: "not", rule });
  const of = (rule: Rule<string>): Decision<string> =>
    decide(rule, new Map([["R", "yes"]]), (graph) => graph === "open");

  test("what the claims decide is decided", () => {
    expect(of(and(yes, open))).toEqual(open);
    expect(of(and(no, open))).toBe(false);
    expect(of(or(yes, open))).toBe(true);
    expect(of(or(no, open))).toEqual(open);
    expect(of(not(yes))).toBe(false);
    expect(of(not(no))).toBe(true);
    expect(of(not(open))).toEqual({ kind: "not", rule: open });
    expect(of(and(open, or(no, not(open))))).toEqual({
      kind: "and",
      rules: [open, { kind: "not", rule: open }],
    });
  });

  test("a rule that cannot be asked opens nothing, wherever it stands", () => {
    expect(of(blind)).toBe(false);
    expect(of(not(blind))).toBe(false);
    expect(of(not(not(blind)))).toBe(false);
    expect(of(not(and(blind, yes)))).toBe(false);
    expect(of(not(or(no, blind)))).toBe(false);
    expect(of(not(and(no, blind)))).toBe(true);
    expect(of(or(not(blind), yes))).toBe(true);
    expect(of(and(not(blind), open))).toBe(false);
  });
});
