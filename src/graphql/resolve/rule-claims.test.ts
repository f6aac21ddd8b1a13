/** Claims are judged by the type that a rule asks for: one of another type is as good as none. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { openGraphqlContext, type GraphqlContext } from "../../../test/support/graphql-context.ts";
import { testSecret, signToken } from "../../../test/support/tokens.ts";

let context: GraphqlContext;

beforeAll(async () => {
  const rule = (type: string, field: string): string =>
    `query($C: ${type}!) { queryBook(filter: { ${field}: { eq: $C } }) { id } }`;
  const types = [
    ["ByInt", "Int"],
    ["ByInt64", "Int64"],
    ["ByFloat", "Float"],
  ] as const;
  context = await openGraphqlContext(
    `${types
      .map(
        ([name, type]) =>
          `type ${name} @auth(query: { rule: "${rule(type, "n").replace("queryBook", `query${name}`)}" }) { id: ID! n: ${type} @search }`,
      )
      .join("\n")}
# Dgraph.Authorization {"Header":"X-Auth","Namespace":"claims","Algo":"HS256","VerificationKey":"${testSecret}"}`,
  );
  await context.ask(
    "mutation { addByInt(input: [{ n: 3 }]) { numUids } addByInt64(input: [{ n: 3 }]) { numUids } addByFloat(input: [{ n: 3 }]) { numUids } }",
  );
});

afterAll(() => context.close());

/** Which of the three types show their node: Int, Int64, Float. */
async function shown(claim: unknown): Promise<string> {
  const query = "{ a: queryByInt { n } b: queryByInt64 { n } c: queryByFloat { n } }";
  const headers = { "x-auth": signToken({ claims: { C: claim } }) };
  const { data } = (await context.send(JSON.stringify({ query }), headers)) as {
    data: Record<string, unknown[]>;
  };
  return Object.values(data)
    .map((rows) => rows.length)
    .join("");
}

test.each([
  [3, "111"],
  ["3", "111"],
  ["3.0", "001"],
  ["0x3", "000"],
  [" 3 ", "000"],
  [3.5, "000"],
  [true, "000"],
  [null, "000"],
  [[3], "000"],
  [{ n: 3 }, "000"],
])("%j", async (claim, expected) => {
  expect(await shown(claim)).toBe(expected);
});
