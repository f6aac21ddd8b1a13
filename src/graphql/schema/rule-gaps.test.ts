/** What is doubtful in a schema is told: operations that a type with rules leaves to everybody (refused where that was asked for), and weak secrets. */
import { expect, test } from "vitest";
import { openGraphqlContext } from "../../../test/support/graphql-context.ts";
import { findRuleGaps, refuseRuleGaps } from "./rule-gaps.ts";
import { compileSchema } from "../service/schema-compile.ts";

const rule = '{ rule: "{$ROLE: {eq: \\"ADMIN\\"}}" }';
const some = `type Note @auth(query: ${rule}, add: ${rule}) { id: ID! text: String }`;
const all = `type Note @auth(query: ${rule}, add: ${rule}, update: ${rule}, delete: ${rule}) { id: ID! text: String }`;
const note =
  "Type Note; @auth has rules, but none for update, delete: everybody may do that to all of its nodes.";

test("a type with some rules is named with what it leaves open; one with all, or none, is not", () => {
  expect(findRuleGaps(compileSchema(`${some}\ntype Open { id: ID! name: String }`))).toEqual([
    note,
  ]);
  expect(findRuleGaps(compileSchema(all))).toEqual([]);
  expect(findRuleGaps(compileSchema("type Open { id: ID! name: String }"))).toEqual([]);
});

test("a password is an operation, where there is one; rules of an interface are its types' own", () => {
  const secret = all.replace("type Note ", 'type Note @secret(field: "pin") ');
  expect(findRuleGaps(compileSchema(secret))[0]).toContain("none for password:");
  const face = `interface Doc @auth(query: ${rule}, add: ${rule}) { id: ID! text: String }
    type Memo implements Doc @auth(update: ${rule}, delete: ${rule}) { pages: Int }
    type Plan implements Doc { size: Int }`;
  const gaps = findRuleGaps(compileSchema(face));
  expect(gaps.some((gap) => gap.startsWith("Type Memo;"))).toBe(false);
  expect(gaps.find((gap) => gap.startsWith("Type Plan;"))).toContain("none for update, delete:");
});

test("they are refused where rules are strict", () => {
  expect(() => refuseRuleGaps([])).not.toThrow();
  expect(() => refuseRuleGaps([note])).toThrow(`input: ${note} (--graphql strict-rules)`);
});

test("the service tells them with the schema, and with a check of it", async () => {
  const context = await openGraphqlContext();
  expect(await context.service.validateSchema(some, false)).toEqual({
    problems: [],
    warnings: [note],
  });
  const row = await context.service.updateSchema(0, some);
  expect(row.warnings).toEqual([note]);
  expect((await context.service.schemaRow(0))?.warnings).toEqual([note]);
  await context.close();
});

test("a shared secret that is shorter than its hash is told, by its length alone", async () => {
  const context = await openGraphqlContext();
  const withKey = (key: string, algorithm: string): string =>
    `type Note { id: ID! text: String }
# Dgraph.Authorization {"VerificationKey":"${key}","Header":"X-Auth","Namespace":"n","Algo":"${algorithm}"}`;
  const warnings = async (key: string, algorithm: string): Promise<readonly string[]> =>
    (await context.service.validateSchema(withKey(key, algorithm), false)).warnings;
  expect(await warnings("k", "HS256")).toEqual([
    "Dgraph.Authorization; the VerificationKey has 1 bytes: HS256 needs 32 or more, whoever has a token may find a shorter one by trying.",
  ]);
  expect(await warnings("k".repeat(32), "HS256")).toEqual([]);
  expect(await warnings("k".repeat(32), "HS512")).toHaveLength(1);
  const row = await context.service.updateSchema(0, withKey("secretsecret", "HS384"));
  expect(row.warnings).toEqual([expect.stringMatching(/has 12 bytes: HS384 needs 48/)]);
  expect(row.warnings.join("")).not.toContain("secretsecret");
  await context.close();
});
