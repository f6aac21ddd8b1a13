// Goal: resolvers beside a database, as a user starts them: they answer, they are ended, they come back by themselves.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { findFreePort } from "../support/free-port.ts";
import {
  cleanUp,
  makeFolder,
  post,
  runWeft,
  sleep,
  startServer,
  type TestServer,
  type Told,
  waitUntil,
} from "./server.ts";

const sdl = `
  enum Mood { CALM WILD }
  type Cat { id: ID! name: String! @search(by: [exact]) toys: [String] mood: Mood shout: String @lambda rank: Int @lambda seen: String @lambda name8: String @lambda friends: [Cat] }
  type Query { cats(name: String!): [Cat] @lambda total: Int @lambda spin: Int @lambda hello: String @lambda }
  type Mutation { rename(from: String!, to: String!): Int @lambda }`;

const script = `
  import { loud } from "./loud.ts";
  interface Cat { readonly name: string }
  self.addGraphQLResolvers({
    "Cat.shout": ({ parent }: { parent: Cat }) => loud(parent.name),
    "Cat.seen": ({ parent }: { parent: Cat }) => Object.keys(parent).sort().join(),
    "Cat.name8": async ({ parent }: { parent: Cat }) => {
      if (parent.name.length > 3) throw Object.assign(new Error(parent.name + " is too long"), { extensions: { code: "TOO_LONG" } });
      if (parent.name === "bug") return (undefined as any).x;
      return parent.name.padEnd(8);
    },
    "Query.hello": async ({ authHeader }) => "hello " + authHeader.key,
    "Query.spin": () => { for (;;) {} },
    "Query.cats": async ({ args, graphql }) =>
      (await graphql("query q($n: String) { queryCat(filter: {name: {eq: $n}}) { id name } }", { n: args.name })).data.queryCat,
    "Query.total": async ({ dql }) => (await dql.query("{ q(func: has(Cat.name)) { total: count(uid) } }")).data.q[0].total,
  });
  self.addGraphQLResolvers({
    "Mutation.rename": async ({ args, graphql }) =>
      (await graphql("mutation m($a: String, $b: String!) { updateCat(input: {filter: {name: {eq: $a}}, set: {name: $b}}) { numUids } }", { a: args.from, b: args.to })).data.updateCat.numUids,
  });
  self.addMultiParentGraphQLResolvers({
    "Cat.rank": ({ parents }: { parents: Cat[] }) => parents.map((_, i) => i + 1),
  });
  declare const self: any;`;

let server: TestServer;
let file: string;

const ask = (query: string, headers = {}): Promise<Told> =>
  post(`${server.url}/graphql`, { query }, headers);

beforeAll(async () => {
  const folder = makeFolder();
  file = join(folder, "resolvers.ts");
  writeFileSync(file, script);
  writeFileSync(
    join(folder, "loud.ts"),
    'export const loud = (text: string): string => text.toUpperCase() + "!";',
  );
  server = await startServer({
    dataDir: makeFolder(),
    flags: ["--lambda", file, "--lambda-limit", "block=300ms", "--workers", "2"],
  });
  const told = await post(`${server.url}/admin/schema`, sdl);
  expect(told.json["data"]).toMatchObject({ code: "Success" });
  const cats = '[{name: "tom", toys: ["ball"], mood: CALM}, {name: "kit"}]';
  await ask(`mutation { addCat(input: ${cats}) { numUids } }`);
});
afterAll(cleanUp);

/** From before the port is open. */
async function askUntilAnswered(query: string): Promise<Told> {
  const endMs = Date.now() + 30_000;
  for (;;) {
    try {
      return await ask(query);
    } catch (error) {
      if (Date.now() > endMs) throw error;
      await sleep(10);
    }
  }
}

describe("weft serve --lambda", () => {
  test("reference/graphql 7.5: fields, one or several parents at a time", async () => {
    const { json } = await ask("{ queryCat(order: {asc: name}) { name shout rank seen } }");
    expect(json["errors"]).toBeUndefined();
    expect(json["data"]).toEqual({
      queryCat: [
        { name: "kit", shout: "KIT!", rank: 1, seen: "id,name" },
        { name: "tom", shout: "TOM!", rank: 2, seen: "id,mood,name,toys" },
      ],
    });
  });

  test("reference/graphql 7.5: queries and mutations, which call back by graphql and dql", async () => {
    expect((await ask('{ cats(name: "tom") { name toys } total }')).json["data"]).toEqual({
      cats: [{ name: "tom", toys: [] }],
      total: 2,
    });
    const { json } = await ask('mutation { rename(from: "kit", to: "kat") }');
    expect(json["data"]).toEqual({ rename: 1 });
  });

  test("what a resolver throws is told at its field, with its code; a mistake of the script's is not", async () => {
    await ask(
      'mutation { addCat(input: [{name: "felix", friends: [{name: "long"}, {name: "bug"}]}]) { numUids } }',
    );
    const { json } = await ask(
      '{ queryCat(filter: {name: {eq: "felix"}}) { name8 friends(order: {asc: name}) { name name8 } } }',
    );
    expect(json["data"]).toEqual({
      queryCat: [
        {
          name8: null,
          friends: [
            { name: "bug", name8: null },
            { name: "long", name8: null },
          ],
        },
      ],
    });
    expect(json["errors"]).toMatchObject([
      {
        message: "felix is too long",
        path: ["queryCat", 0, "name8"],
        locations: [{ line: 1, column: 45 }],
        extensions: { code: "TOO_LONG" },
      },
      {
        message:
          "Evaluation of custom field failed because external request returned an error: unexpected error with: 500 for field: name8 within type: Cat.",
        path: ["queryCat", 0, "friends", 0, "name8"],
      },
      { message: "long is too long", path: ["queryCat", 0, "friends", 1, "name8"] },
    ]);
    await ask('mutation { deleteCat(filter: {name: {in: ["felix", "long", "bug"]}}) { numUids } }');
  });

  test("a runaway resolver is an error with the field's path; its neighbours do not notice", async () => {
    const [bad, ...good] = await Promise.all([
      ask("{ spin hello }"),
      ...Array.from({ length: 20 }, () => ask("{ hello }")),
    ]);
    expect(bad?.json["errors"]).toMatchObject([
      { message: "Query.spin was ended: it did not pause for 300 ms.", path: ["spin"] },
    ]);
    expect(bad?.json["data"]).toEqual({ spin: null, hello: "hello " });
    for (const one of good) expect(one.json["data"]).toEqual({ hello: "hello " });
  });

  test("a lambda server that dies comes back, and calls wait for it", async () => {
    const lambda = server.childPids().at(-1) ?? 0;
    process.kill(lambda, "SIGKILL");
    await waitUntil(async () => !server.childPids().includes(lambda), 20_000);
    const { json } = await ask("{ hello }");
    expect(json).toMatchObject({ data: { hello: expect.any(String) } });
    expect(json).not.toHaveProperty("errors");
  });

  test("after a start it answers from the first request on", async () => {
    const { dataDir } = server;
    const port = Number(new URL(server.url).port);
    await server.stop();
    const first = askUntilAnswered("{ hello }");
    server = await startServer({ dataDir, port, flags: ["--lambda", file, "--workers", "2"] });
    const { json } = await first;
    expect(json).toMatchObject({ data: { hello: expect.any(String) } });
    expect(json).not.toHaveProperty("errors");
  });
});

describe("weft lambda", () => {
  test("another server for the same script", async () => {
    const port = await findFreePort();
    const running = runWeft(["lambda", "--http", `127.0.0.1:${port}`, "--limit", "block=300ms"], {
      SCRIPT_PATH: file,
      DGRAPH_URL: server.url,
    });
    const call = (resolver: string): Promise<Told> =>
      post(`http://127.0.0.1:${port}/graphql-worker`, { resolver, args: { name: "tom" } });
    await waitUntil(async () => {
      const told = await call("Query.total").catch(() => undefined);
      return told?.text === "2";
    }, 20_000);
    expect((await call("Query.none")).status).toBe(400);
    void running;
  });

  test("a script that does not compile ends with its line", async () => {
    const folder = makeFolder();
    writeFileSync(join(folder, "bad.ts"), "const a: = 1;");
    const ended = await runWeft(["lambda", join(folder, "bad.ts"), "--http", "127.0.0.1:0"]);
    expect(ended.code).toBe(1);
    expect(ended.stderr).toMatch(/bad\.ts:1:10: /);
  });
});

test("without a lambda server @lambda is refused, and two of them are one too many", async () => {
  const plain = await startServer({ dataDir: makeFolder() });
  const { text } = await post(`${plain.url}/admin/schema`, sdl);
  expect(text).toContain("has the @lambda directive, but the `--graphql");
  await plain.stop();
  const flags = ["--lambda", file, "--lambda-url", "http://127.0.0.1:1/graphql-worker"];
  const ended = await runWeft(["serve", "--data", makeFolder(), ...flags]);
  expect(ended).toMatchObject({ code: 2 });
  expect(ended.stderr).toContain("--lambda and --lambda-url: one of them, not both");
});
