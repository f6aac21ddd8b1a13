/** What is doubtful in a schema is told: operations that a type with rules leaves to everybody (refused where that was asked for), and weak secrets. */
import { expect, test } from "vitest";
import { openGraphqlContext } from "../../../test/support/graphql-context.ts";
import { findRuleGaps, refuseRuleGaps } from "./rule-gaps.ts";
import { compileSchema } from "../service/schema-compile.ts";

const rule = '{ rule: "{$ROLE: {eq: \\"ADMIN\\"}}" }';
const some = `type Note @auth(query: ${rule}, add: ${rule}) { id: ID! text: String }`;
const all = `type Note @auth(query: ${rule}, add: ${rule}, update: ${rule}, delete: ${rule}) { id: ID! text: String }`;
/** Of `$ROLE`, where a schema has no authorization line. */
const unread = expect.stringMatching(/^Dgraph.Authorization; there is no such line/) as string;
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

const owned = (path: string): string =>
  `{ rule: "query${path.includes("$USER") ? "($USER: String!)" : ""} { queryNote ${path} }" }`;
const guardedBy = (path: string, more = ""): string =>
  `type Note @auth(query: ${owned(path)}, add: ${rule}, update: ${rule}, delete: ${rule}) { id: ID! text: String owner: User }
   type User ${more} { name: String! @id nick: String @search(by: [hash]) teams: [Team] notes: [Note] @hasInverse(field: owner) }
   type Team { code: String! @id members: [User] @hasInverse(field: teams) }`;

test("types without rules are named by whose fields the rules of others go", () => {
  const text = (type: string, fields: string): string =>
    `Type ${type}; it has no rules, and those of Note go by its ${fields}: everybody may change what they go by.`;
  const gaps = (path: string, more?: string): readonly string[] =>
    findRuleGaps(compileSchema(guardedBy(path, more)));
  expect(gaps("{ owner(filter: { name: { eq: $USER } }) { nick } }")).toEqual([
    text("User", "name, nick"),
  ]);
  expect(
    gaps("{ owner { teams(filter: { has: [members] }) { members(filter: { or: [{ not: { nick: { eq: $USER } } }] }) { name } } } }"),
  ).toEqual([text("Team", "members"), text("User", "name, nick, teams")]); // prettier-ignore
  expect(gaps("(filter: { has: [owner] }) { text }")).toEqual([]);
  const all = `@auth(query: ${rule}, add: ${rule}, update: ${rule}, delete: ${rule})`;
  expect(gaps("{ owner(filter: { name: { eq: $USER } }) { nick } }", all)).toEqual([]);
});

test("what no mutation changes is not named; what one changes from the other side is", () => {
  const fixed = "@generate(mutation: { add: false, update: false, delete: false })";
  const gaps = (path: string): readonly string[] =>
    findRuleGaps(compileSchema(guardedBy(path, fixed)));
  expect(gaps("{ owner(filter: { name: { eq: $USER } }) { nick } }")).toEqual([]);
  expect(gaps("{ owner { teams { code } } }").map((gap) => gap.slice(0, 60))).toEqual([
    "Type Team; it has no rules, and those of Note go by its code",
    "Type User; it has no rules, and those of Note go by its team",
  ]);
});

test("claims that no token can bring are told", async () => {
  const context = await openGraphqlContext();
  const warnings = async (sdl: string): Promise<readonly string[]> =>
    (await context.service.validateSchema(sdl, false)).warnings;
  const told = "Dgraph.Authorization; there is no such line, and @auth asks for $ROLE: no token is read, whoever sends one, and nobody has these claims."; // prettier-ignore
  expect(await warnings(all)).toEqual([told]);
  const line = `# Dgraph.Authorization {"VerificationKey":"${"k".repeat(32)}","Header":"X-Auth","Namespace":"n","Algo":"HS256"}`;
  expect(await warnings(`${all}\n${line}`)).toEqual([]);
  const open = 'query: { rule: "query { queryNote(filter: { has: [text] }) { text } }" }';
  expect((await warnings(`type Note @auth(${open}) { id: ID! text: String }`)).join()).not.toContain("Authorization"); // prettier-ignore
  await context.service.updateSchema(0, `${all}\n${line}`);
  expect((await context.service.planSchema(0, all)).warnings).toEqual([told]);
  await context.close();
});

test("they are refused where rules are strict", () => {
  expect(() => refuseRuleGaps([])).not.toThrow();
  expect(() => refuseRuleGaps([note])).toThrow(`input: ${note} (--graphql strict-rules)`);
});

test("the service tells them with the schema, and with a check of it", async () => {
  const context = await openGraphqlContext();
  expect(await context.service.validateSchema(some, false)).toEqual({
    problems: [],
    warnings: [unread, note],
  });
  const row = await context.service.updateSchema(0, some);
  expect(row.warnings).toEqual([unread, note]);
  expect((await context.service.schemaRow(0))?.warnings).toEqual([unread, note]);
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
