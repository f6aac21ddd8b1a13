// Goal: what an application can ask of answers: Int64 without lost digits, errors that say what is wrong and where, and no
// more than their caller may know; passwords by any id, times with their fractions.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { signToken, testNamespace, testSecret } from "../support/tokens.ts";
import { cleanUp, makeFolder, post, startServer, type Json } from "./server.ts";

let detailed = "";
let plain = "";

const line = {
  Header: "X-App",
  Namespace: testNamespace,
  Algo: "HS256",
  VerificationKey: testSecret,
};
const own =
  '{ rule: "query ($USER: String!) { queryMemo(filter: { owner: { eq: $USER } }) { id } }" }';
const sdl = `
  type Person { id: ID! name: String! @id email: String! tasks: [Task] @hasInverse(field: owner) }
  type Task { id: ID! title: String! @search owner: Person! due: DateTime size: Int64 @search sizes: [Int64]
    made: DateTime @default(add: { value: "$now" }) kind: Kind }
  enum Kind { LARGE SMALL }
  union Thing = Person | Task
  type Box { id: ID! things: [Thing] }
  type Account @secret(field: "pin") { id: ID! login: String! @id mail: String @id }
  type Memo @auth(query: ${own}, add: ${own}) { id: ID! code: String! @id owner: String @search(by: [hash]) }
  type Label @auth(add: { rule: "{ $ROLE: { eq: \\"ADMIN\\" } }" }) { id: ID! text: String }
  # Dgraph.Authorization ${JSON.stringify(line)}\n`;

beforeAll(async () => {
  const start = async (flags: readonly string[]): Promise<string> => {
    const one = await startServer({ dataDir: makeFolder(), flags: ["--workers", "1", ...flags] });
    const done = await post(`${one.url}/admin/schema`, sdl, { "content-type": "text/plain" });
    expect(done.json).toMatchObject({ data: { code: "Success" } });
    return `${one.url}/graphql`;
  };
  [detailed, plain] = await Promise.all([
    start(["--graphql", "int64=text; error-details=true; extensions=false"]),
    start(["--graphql", "extensions=false"]),
  ]);
}, 60_000);
afterAll(cleanUp);

interface Asked {
  readonly variables?: object;
  readonly user?: string;
  readonly at?: string;
}

async function ask(query: string, asked: Asked = {}): Promise<{ text: string; json: Json }> {
  const { variables, user, at = detailed } = asked;
  const headers: Record<string, string> =
    user === undefined ? {} : { "X-App": signToken({ [testNamespace]: { USER: user } }) };
  return await post(at, { query, ...(variables && { variables }) }, headers);
}

async function errorsOf(query: string, asked: Asked = {}): Promise<unknown> {
  const { json } = await ask(query, asked);
  return (json["errors"] ?? []).map((error) => error["extensions"]);
}

const addPerson = "mutation ($i: [AddPersonInput!]!) { addPerson(input: $i) { numUids } }";
const addTask = "mutation ($i: [AddTaskInput!]!) { addTask(input: $i) { task { title size sizes made } } }"; // prettier-ignore
const ann = { name: "ann", email: "ann@example.org" };
const big = "9007199254740993";

describe("Int64", () => {
  const variables = { i: [{ title: "large", owner: ann, size: big, sizes: [1, "-9223372036854775808"] }] }; // prettier-ignore
  const aggregate = "{ aggregateTask(filter: { title: { anyofterms: \"large\" } }) { sizeMin sizeMax sizeSum sizeAvg } queryPerson { tasksAggregate { sizeMax } } }"; // prettier-ignore

  test("as texts, by a setting: values, lists, aggregates", async () => {
    const { text } = await ask(addTask, { variables });
    expect(text).toContain(`"size":"${big}"`);
    expect(text).toMatch(/"sizes":\["(1","-9223372036854775808|-9223372036854775808","1)"\]/);
    const told = await ask(aggregate);
    expect(told.text).toContain(`{"sizeMin":"${big}","sizeMax":"${big}","sizeSum":"${big}","sizeAvg":9007199254740992`); // prettier-ignore
    expect(told.text).toContain(`"tasksAggregate":{"sizeMax":"${big}"}`);
  });

  test("as numbers, unless it is said", async () => {
    const { text } = await ask(addTask, { variables, at: plain });
    expect(text).toContain(`"size":${big},`);
    expect((await ask(aggregate, { at: plain })).text).toContain(`"sizeSum":${big},`);
  });
});

describe("what is wrong, and where", () => {
  beforeAll(async () => {
    for (const at of [detailed, plain]) {
      await ask(addPerson, { variables: { i: [{ name: "bea", email: "bea@example.org" }] }, at });
    }
  });

  const bea = { name: "bea" };
  const cases: readonly (readonly [string, string, object, object])[] = [
    [
      "a taken id",
      addPerson,
      { i: [ann, { name: "bea", email: "x" }].slice(1) },
      {
        code: "ID_TAKEN",
        type: "Person",
        field: "name",
        value: "bea",
        input: ["input", 0, "name"],
      },
    ],
    [
      "a reference to nobody",
      addTask,
      { i: [{ title: "a", owner: bea }, { title: "b", owner: { name: "nobody" } }] }, // prettier-ignore
      { code: "NOT_FOUND", type: "Person", field: "name", value: "nobody", input: ["input", 1, "owner", "name"] }, // prettier-ignore
    ],
    [
      "a reference by an ID that nobody has",
      addTask,
      { i: [{ title: "a", owner: { id: "0x1fffff" } }] },
      { code: "NOT_FOUND", type: "Person", field: "id", value: "0x1fffff", input: ["input", 0, "owner", "id"] }, // prettier-ignore
    ],
    [
      "a new nested node without what it needs",
      "mutation ($i: [AddBoxInput!]!) { addBox(input: $i) { numUids } }",
      { i: [{ things: [{ personRef: { name: "cid", tasks: [] } }] }] },
      { code: "FIELD_MISSING", type: "Person", field: "email", input: ["input", 0, "things", 0, "personRef", "email"] }, // prettier-ignore
    ],
    [
      "a date that is none",
      addTask,
      {
        i: [
          { title: "a", owner: bea },
          { title: "b", owner: bea, due: "tomorrow" },
        ],
      },
      { code: "BAD_USER_INPUT", field: "due", value: "tomorrow", input: ["input", 1, "due"] },
    ],
    [
      "an id that is there twice in the input",
      addPerson,
      { i: [{ name: "dan", email: "1" }, { name: "dan", email: "2" }] }, // prettier-ignore
      { code: "ID_REPEATED", type: "Person", field: "name", value: "dan", input: ["input", 1, "name"] }, // prettier-ignore
    ],
    [
      "an id that an update would take",
      "mutation ($i: UpdateAccountInput!) { a: addAccount(input: [{ login: \"one\", pin: \"secret1\" }, { login: \"two\", pin: \"secret2\" }], upsert: true) { numUids } updateAccount(input: $i) { numUids } }", // prettier-ignore
      { i: { filter: { login: { eq: "one" } }, set: { login: "two" } } },
      { code: "ID_TAKEN", type: "Account", field: "login", value: "two", input: ["input", "set", "login"] }, // prettier-ignore
    ],
  ];
  test.each(cases)("%s", async (_, query, variables, extensions) => {
    expect(await errorsOf(query, { variables })).toEqual([extensions]);
    const { json } = await ask(query, { variables, at: plain });
    expect(json["errors"]?.length).toBe(1);
    expect(json["errors"]?.[0]).not.toHaveProperty("extensions");
  });

  test("a variable that does not fit, a document that is wrong", async () => {
    const { json } = await ask(addTask, { variables: { i: [{ title: 5, owner: bea }] } });
    expect(json["errors"]?.[0]).toMatchObject({
      path: ["variable", "i", 0, "title"],
      extensions: { code: "BAD_USER_INPUT" },
    });
    expect(await errorsOf("{ nothing }")).toEqual([{ code: "GRAPHQL_VALIDATION_FAILED" }]);
    const events = { accept: "text/event-stream" };
    const streamed = await post(detailed, { query: "{ nothing }" }, events);
    expect(streamed.text).toContain('"extensions":{"code":"GRAPHQL_VALIDATION_FAILED"}');
  });
});

test("an order by a field that has none says why, as a literal and in a variable", async () => {
  const hint =
    "Task.kind is of the enum Kind; nodes are ordered by single fields of Int, Int64, Float, String or DateTime alone";
  const byLiteral = "{ queryTask(order: { asc: kind }) { id } }";
  const byVariable = "query($o: TaskOrder) { queryTask(order: $o) { id } }";
  const variables = { o: { asc: "kind" } };
  expect(await errorsOf(byLiteral, {})).toEqual([{ code: "GRAPHQL_VALIDATION_FAILED", hint }]);
  expect(await errorsOf(byVariable, { variables })).toEqual([{ code: "BAD_USER_INPUT", hint }]);
  expect(await errorsOf("{ queryTask(order: { asc: owner }) { id } }", {})).toMatchObject([
    { hint: expect.stringContaining("Task.owner is of Person!; ") },
  ]);
  expect(await errorsOf("{ queryTask(order: { asc: nothing }) { id } }", {})).toEqual([
    { code: "GRAPHQL_VALIDATION_FAILED" },
  ]);
  const { json } = await ask(byLiteral, { at: plain });
  expect(json["errors"]).toEqual([
    { message: "Expected type TaskOrderable, found kind.", locations: [{ line: 1, column: 27 }] },
  ]);
});

describe("what a rule refuses", () => {
  test("the element is named", async () => {
    const box = "mutation ($i: [AddLabelInput!]!) { addLabel(input: $i) { numUids } }";
    expect(await errorsOf(box, { variables: { i: [{ text: "a" }] } })).toEqual([
      { code: "FORBIDDEN", type: "Label", input: ["input", 0] },
    ]);
  });

  test("nothing of it tells of hidden nodes: a taken id and a refused node look the same", async () => {
    const add = "mutation ($i: [AddMemoInput!]!) { addMemo(input: $i) { numUids } }";
    const secret = [{ code: "hidden", owner: "ann" }];
    expect(
      (await ask(add, { variables: { i: secret }, user: "ann" })).json["errors"],
    ).toBeUndefined();
    const told = async (code: string, owner: string): Promise<unknown> =>
      (await ask(add, { variables: { i: [{ code, owner }] }, user: "bob" })).json["errors"];
    const refused = await told("free", "ann");
    expect(refused).toMatchObject([{ extensions: { code: "FORBIDDEN" } }]);
    expect(await told("hidden", "bob")).toEqual(refused);
    expect(await told("hidden", "ann")).toEqual(refused);
    // Who sees the node is told.
    const seen = await errorsOf(add, { variables: { i: secret }, user: "ann" });
    expect(seen).toMatchObject([
      { code: "ID_TAKEN", value: "hidden", input: ["input", 0, "code"] },
    ]);
  });
});

describe("values", () => {
  test("a password is checked by any id", async () => {
    const add = 'mutation { addAccount(input: [{ login: "eve", mail: "eve@x", pin: "secret9" }]) { account { id } } }'; // prettier-ignore
    const { json } = await ask(add);
    const id = String(json["data"]?.["addAccount"]?.["account"]?.[0]?.["id"]);
    for (const by of [
      `id: "${id}"`,
      'login: "eve"',
      'mail: "eve@x"',
      'login: "eve", mail: "eve@x"',
    ]) {
      const check = async (pin: string): Promise<unknown> =>
        (await ask(`{ checkAccountPassword(${by}, pin: "${pin}") { login } }`)).json["data"];
      expect(await check("secret9")).toEqual({ checkAccountPassword: { login: "eve" } });
      expect(await check("secret8")).toEqual({ checkAccountPassword: null });
    }
    const { json: none } = await ask('{ checkAccountPassword(pin: "secret9") { login } }');
    expect(none["data"]).toEqual({ checkAccountPassword: null });
  });

  test("$now has its fraction", async () => {
    const made = new Set<string>();
    for (let i = 0; i < 3; i++) {
      const { json } = await ask(addTask, { variables: { i: [{ title: "now", owner: { name: "bea" } }] } }); // prettier-ignore
      made.add(String(json["data"]?.["addTask"]?.["task"]?.[0]?.["made"]));
    }
    expect([...made].some((time) => /T\d\d:\d\d:\d\d\.\d{1,3}Z$/.test(time))).toBe(true);
  });
});
