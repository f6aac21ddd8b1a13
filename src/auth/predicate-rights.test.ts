import { describe, expect, test } from "vitest";
import { mergeRules } from "./predicate-rights.ts";

const rule = (predicate: string, permission: number) => ({ predicate, permission });

describe("the rules of a user's groups", () => {
  test("are united, bit by bit", () => {
    const access = mergeRules([rule("name", 4), rule("name", 2), rule("age", 1)]);
    expect([access.mayRead("name"), access.mayWrite("name"), access.mayModify("name")]).toEqual([
      true,
      true,
      false,
    ]);
    expect([access.mayRead("age"), access.mayModify("age")]).toEqual([false, true]);
    expect(access.mayRead("other")).toBe(false);
  });

  test("dgraph.all is every predicate, and an explicit 0 takes nothing from it", () => {
    const access = mergeRules([rule("dgraph.all", 4), rule("name", 0), rule("age", 2)]);
    expect(access.mayRead("name")).toBe(true);
    expect(access.mayRead("~name")).toBe(true);
    expect(access.mayWrite("age")).toBe(true);
    expect(access.mayWrite("name")).toBe(false);
  });

  test("the other direction of an edge has a rule of its own", () => {
    expect(mergeRules([rule("friend", 4)]).mayRead("~friend")).toBe(false);
    expect(mergeRules([rule("~friend", 4)]).mayRead("friend")).toBe(false);
    expect(mergeRules([rule("~friend", 4)]).mayRead("~friend")).toBe(true);
  });

  test("no rule opens users, groups and rules", () => {
    const access = mergeRules([rule("dgraph.all", 7), rule("dgraph.password", 7)]);
    for (const name of ["dgraph.password", "dgraph.xid", "dgraph.acl.rule", "~dgraph.user.group"]) {
      expect([access.mayRead(name), access.mayWrite(name), access.mayModify(name)]).toEqual([
        false,
        false,
        false,
      ]);
    }
    expect(access.mayRead("dgraph.type")).toBe(true);
  });

  test("a permission that is no sum of the three bits gives nothing", () => {
    for (const permission of [8, -1, 12, 4.5, Number.NaN]) {
      expect(mergeRules([rule("name", permission)]).mayRead("name")).toBe(false);
    }
  });

  test("keys are equal exactly for equal rights", () => {
    const key = mergeRules([rule("a", 4), rule("b", 2)]).key;
    expect(mergeRules([rule("b", 2), rule("a", 4), rule("c", 0)]).key).toBe(key);
    expect(mergeRules([rule("a", 4), rule("b", 6)]).key).not.toBe(key);
    expect(mergeRules([rule("a", 4)]).key).not.toBe(key);
  });
});
