// Goal: what `weft types` writes, seen by the real compiler: programs that fit a schema compile, others do not.
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { spawn } from "node:child_process";
import ts from "typescript";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { makeProject, packageName } from "./project.ts";
import { cleanUp, runWeft, waitUntil, weft } from "./server.ts";

const schema = `
"A person who works."
type User @secret(field: "pwd") {
  email: String! @id
  name: String! @search(by: [hash])
  tasks: [Task] @hasInverse(field: owner)
}
enum Status { OPEN DONE }
interface Thing { id: ID! created: DateTime @default(add: { value: "$now" }) }
type Task implements Thing @withSubscription {
  "what is to be done"
  title: String! @search(by: [term])
  status: Status! @search
  size: Int64
  tags: [String]
  owner: User
  label: String! @lambda
  place: Point
}
type Note implements Thing { text: String! about: Target }
union Target = Task | User
type Query { top(n: Int! = 3, kind: Status): [Task] @lambda }
type Mutation { finish(id: ID!): Task @lambda }
`;

let project: string;
beforeAll(async () => {
  project = makeProject();
  writeFileSync(join(project, "schema.graphql"), schema);
  const args = ["--schema", join(project, "schema.graphql"), "--out", join(project, "weft")];
  const { code, stdout } = await runWeft(["types", ...args]);
  expect([code, stdout]).toEqual([
    0,
    `weft: types: ${["schema", "resolvers"].map((name) => relative(".", join(project, `weft/${name}.d.ts`))).join(", ")}\n`,
  ]);
});
afterAll(cleanUp);

const options: ts.CompilerOptions = {
  module: ts.ModuleKind.NodeNext,
  target: ts.ScriptTarget.ES2023,
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  noEmit: true,
  allowJs: true,
  types: [],
  lib: ["lib.es2023.d.ts"],
  preserveSymlinks: true,
};

interface Program {
  readonly name: string;
  readonly text: string;
}

/** The compiler's own declarations are read once. */
const host = ts.createCompilerHost(options);
const read = host.getSourceFile.bind(host);
const kept = new Map<string, ts.SourceFile | undefined>();
host.getSourceFile = (file, ...asked) => {
  if (!file.endsWith(".d.ts")) return read(file, ...asked);
  if (!kept.has(file)) kept.set(file, read(file, ...asked));
  return kept.get(file);
};

/** What the compiler says of it, `LINE: message`; nothing of the declarations may be wrong either. */
function compile({ name, text }: Program): string[] {
  const file = join(project, name);
  writeFileSync(file, text);
  const program = ts.createProgram([file], options, host);
  return ts.getPreEmitDiagnostics(program).map(({ file: at, start = 0, messageText }) => {
    const line = at === undefined ? 0 : at.getLineAndCharacterOfPosition(start).line + 1;
    const place = at?.fileName === file || at === undefined ? "" : `${at.fileName} `;
    return `${place}${line}: ${ts.flattenDiagnosticMessageText(messageText, "\n").split("\n")[0] ?? ""}`;
  });
}

/** With what each program begins. */
const head = `import { connect, documents, dql, type DataOf } from "${packageName}/client";
import type { Nodes, Schema, AddTaskInput } from "./weft/schema.js";
const db = connect<Schema>({ url: "http://127.0.0.1:8080" });
const graphql = documents<Schema>();
type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
function same<T extends true>(): void {}
export { db, graphql, dql, same };
export type { AddTaskInput, DataOf, Equal, Nodes };
`;

describe("documents", () => {
  test("have the data that they select, aliases, fragments and conditions included", () => {
    const text = `${head}
const a = await db.request(\`{ queryTask(filter: { title: { anyofterms: "a \\\\" b" } }, first: 3) {
  id title status owner { name } aliased: size tags # a comment: { not counted
} }\`);
same<Equal<typeof a, { readonly queryTask: { readonly id: string; readonly title: string;
  readonly status: "OPEN" | "DONE"; readonly owner: { readonly name: string } | null;
  readonly aliased: number | null; readonly tags: string[] }[] }>>();
const b = await db.request(\`query Q($email: String!, $n: Int = 3, $f: TaskFilter) @cacheControl(maxAge: 5) {
  getUser(email: $email) { ...U ...U tasks(first: $n, filter: $f) @include(if: true) { title } tasks { id } __typename }
}
fragment U on User { email tasks { status } }\`, { email: "x", f: { status: { eq: "OPEN" } } });
same<Equal<typeof b, { readonly getUser: { readonly email: string; readonly __typename: "User";
  readonly tasks: { readonly title: string; readonly id: string; readonly status: "OPEN" | "DONE" }[] } | null }>>();
const c = await db.graphql("{ queryThing { __typename id ... on Task { title } ... on Note { text about { ... on User { email } } } } }");
for (const thing of c.data?.queryThing ?? []) {
  if (thing.__typename === "Task") thing.title.length;
  else thing.text.length;
}
const fields = graphql("fragment TaskFields on Task { title ...More @include(if: true) } fragment More on Task { status }");
same<Equal<DataOf<typeof fields>, { readonly title: string; readonly status?: "OPEN" | "DONE" }>>();
const all = graphql("query ($first: Int) { queryTask(first: $first) { id ...TaskFields } }", [fields]);
const one = (await db.request(all, { first: 3 })).queryTask[0];
const title: string | undefined = one?.title;
export { title };`;
    expect(compile({ name: "documents.ts", text })).toEqual([]);
  });

  test("with variables, subscriptions, DQL and transactions", () => {
    const text = `${head}
const input: AddTaskInput[] = [{ title: "a", status: "OPEN", created: new Date(0), size: "9007199254740993" }];
const d = await db.request("mutation Add($input: [AddTaskInput!]!) { addTask(input: $input) { numUids task { id } } }", { input });
const count: number = d.addTask.numUids;
const id: string | undefined = d.addTask.task[0]?.id;
for await (const { data } of db.subscribe("subscription { aggregateTask { count } }")) {
  const told: number | null | undefined = data?.aggregateTask?.count;
  same<Equal<typeof told, number | null | undefined>>();
}
const rows = await db.dql<{ q: Nodes["Task"][] }>\`{ q(func: eq(Task.title, \${"x"})) { uid Task.owner { User.name } } }\`;
const owner: string | undefined = rows.q[0]?.["Task.owner"]?.["User.name"];
const done: number = await db.transaction(async (t) => {
  await t.mutate({ set: { a: 1 }, query: dql\`{ v as var(func: uid(\${["0x1"]})) }\` });
  return 1;
});
const untyped = connect({ url: "" });
const a: number | undefined = (await untyped.graphql<{ a: number }>("{ a }")).data?.a;
const text: string = "{ queryTask { id } }";
const wide: unknown = (await db.request(text))["queryTask"];
export { count, id, owner, done, a, wide };`;
    expect(compile({ name: "calls.ts", text })).toEqual([]);
  });

  const faults: readonly (readonly [string, string])[] = [
    ["{ queryTask { titel } }", "Task has no field titel"],
    ["{ queryTasks { title } }", "Query has no field queryTasks"],
    ["{ queryTask(filtr: {}) { title } }", "Query.queryTask has no argument filtr"],
    ["{ queryTask { owner } }", "Task.owner is a User: say which of its fields"],
    ["{ queryTask { title { a } } }", "Task.title is a String: nothing can be selected of it"],
    ["query ($a: TaskFilters) { queryTask { title } }", "$a: there is no input type TaskFilters"],
    ["{ queryTask { ...Nobody } }", "there is no fragment Nobody"],
    ["{ queryThing { ... on Taks { title } } }", "there is no type Taks"],
    ["fragment F on Task { titel } query { queryTask { ...F } }", "Task has no field titel"],
    ["{ queryTask { title ", "the document is no GraphQL, or longer than the compiler can read"],
  ];
  test("that do not fit do not compile, and the compiler says why", () => {
    const calls = faults.map(([text]) => `await db.request(${JSON.stringify(text)});`).join("\n");
    const told = compile({ name: "faults.ts", text: head + calls });
    const lines = head.split("\n").length;
    expect(told).toHaveLength(faults.length);
    for (const [i, [, why]] of faults.entries()) {
      expect(told[i]).toMatch(new RegExp(`^${lines + i}: Argument of type`));
      expect(told[i]).toContain(`DocumentFault<"${why}">`);
    }
  });

  test("variables that are missing, or of another type", () => {
    const text = `${head}
await db.request("query ($n: Int!) { queryTask(first: $n) { title } }");
await db.request("query ($n: Int!) { queryTask(first: $n) { title } }", { n: "x" });
await db.request("mutation ($i: [AddTaskInput!]!) { addTask(input: $i) { numUids } }", { i: [{ title: "x" }] });
await db.request("query ($s: Status) { top(kind: $s) { id } }", { s: "LATER" });
(await db.request("{ queryTask { title } }")).queryTask[0]?.status;
await db.dql\`{ q(func: eq(Task.title, \${{ evil: 1 }})) { uid } }\`;
await db.dql<{ q: Nodes["Tasks"][] }>\`{ q(func: uid(0x1)) { uid } }\`;`;
    const line = head.split("\n").length;
    expect(compile({ name: "variables.ts", text }).map((one) => one.slice(0, 70))).toEqual([
      `${line + 1}: Expected 2-3 arguments, but got 1.`,
      `${line + 2}: Type 'string' is not assignable to type 'number'.`,
      expect.stringContaining(`${line + 3}: Property 'status' is missing in type`),
      expect.stringContaining(`${line + 4}: Type '"LATER"' is not assignable to type`),
      expect.stringContaining(`${line + 5}: Property 'status' does not exist on type`),
      expect.stringContaining(`${line + 6}: No overload matches this call`),
      expect.stringContaining(`${line + 7}: Property 'Tasks' does not exist on type`),
    ]);
  });
});

describe("resolvers", () => {
  const text = `// @ts-check
/// <reference path="./weft/resolvers.d.ts" />
self.addGraphQLResolvers({
  "Task.label": ({ parent }) => \`\${parent.title.toUpperCase()} \${parent.size?.toFixed() ?? ""}\`,
  "Query.top": async ({ args, graphql }) => {
    const { data } = await graphql("query ($n: Int) { queryTask(first: $n) { id title } }", { n: args.n ?? 3 });
    return data?.queryTask;
  },
  "Mutation.finish": ({ args }) => ({ id: args.id, title: "x" }),
});
self.addMultiParentGraphQLResolvers({ "Task.label": ({ parents }) => parents.map(({ id }) => id) });
`;
  test("know their parents, arguments and results, with and without the types of browsers", () => {
    expect(compile({ name: "resolvers.js", text })).toEqual([]);
    // What lib.dom says of itself, without the 40,000 lines around it.
    const browser = "interface Window {}\ndeclare var self: Window & typeof globalThis;\ndeclare var window: Window & typeof globalThis;\n"; // prettier-ignore
    writeFileSync(join(project, "browser.d.ts"), browser);
    const inBrowser = text.replace("\n", '\n/// <reference path="./browser.d.ts" />\n');
    expect(compile({ name: "browser.js", text: inBrowser })).toEqual([]);
  });

  test("that do not fit are told", () => {
    const wrong = text
      .replace("parent.title.", "parent.titel.")
      .replace("args.id,", "args.uid,")
      .replace("({ id }) => id", "({ id }) => id.length")
      .replace("queryTask(first: $n) { id title }", "queryTask(first: $n) { id titel }");
    expect(compile({ name: "wrong.js", text: wrong }).map((one) => one.slice(0, 60))).toEqual([
      expect.stringContaining("4: Property 'titel' does not exist on type 'TaskParent'"),
      expect.stringContaining("6: Argument of type"),
      expect.stringContaining("9: Property 'uid' does not exist on type"),
      expect.stringContaining("11: Type '({ parents }"),
    ]);
    const unknown = `// @ts-check
/// <reference path="./weft/resolvers.d.ts" />
self.addGraphQLResolvers({ "Task.lable": () => "x" });`;
    const [told] = compile({ name: "unknown.js", text: unknown });
    expect(told).toMatch(/^3: .*'"Task.lable"' does not exist in type 'Resolvers'/);
  });
});

test("a wrong schema is told with its places, and the types of the last one stay", async () => {
  const file = join(project, "wrong.graphql");
  writeFileSync(file, "type A {\n  id: ID!\n  b: B\n}\n");
  const out = join(project, "wrong");
  const { code, stderr } = await runWeft(["types", "--schema", file, "--out", out]);
  expect(code).toBe(1);
  expect(stderr).toMatch(/wrong\.graphql:3:\d+: error: .*B/);
});

test("with --watch they are written again when the schema changes", async () => {
  const file = join(project, "watched.graphql");
  const out = join(project, "watched");
  writeFileSync(file, "type A { name: String }");
  const one = spawn(process.execPath, [weft, "types", "--schema", file, "--out", out, "--watch"]);
  let told = "";
  for (const stream of [one.stdout, one.stderr]) stream.on("data", (part: Buffer) => (told += part.toString())); // prettier-ignore
  const written = () => readFileSync(join(out, "schema.d.ts"), "utf8");
  await waitUntil(() => told.includes("watching"), 20_000);
  writeFileSync(file, "type A { name: String wrong");
  await waitUntil(() => told.includes(":1:"), 20_000);
  expect(written()).not.toContain("added");
  writeFileSync(file, "type A { name: String added: String }");
  await waitUntil(() => written().includes("added"), 20_000);
  const ended = new Promise((resolve) => one.once("exit", resolve));
  one.kill("SIGTERM");
  expect(await ended).toBe(0);
  rmSync(out, { recursive: true });
});
