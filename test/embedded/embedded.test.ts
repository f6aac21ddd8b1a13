// Goal: a database in the process: GraphQL, DQL, transactions and subscriptions without a port, in memory and on a
// directory; and one for tests that begins anew, knows the time it is told, and signs users' tokens.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse } from "graphql";
import { afterEach, describe, expect, test } from "vitest";
import type { EmbeddedDatabase, GraphqlError, TypedDocument } from "../../src/embedded/api.ts";
import { open } from "../../src/embedded/open.ts";
import { openTestDatabase } from "../../src/embedded/testing.ts";

const opened: { close(): Promise<void> }[] = [];
const folders: string[] = [];
afterEach(async () => {
  for (const one of opened.splice(0)) await one.close();
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

const schema = "type Cat @withSubscription { id: ID! name: String! @id lives: Int }";

async function openCats(options: object = {}): Promise<EmbeddedDatabase> {
  const database = await open({ schema, ...options });
  opened.push(database);
  return database;
}

describe("open", () => {
  test("GraphQL with variables, typed documents as strings and nodes; errors are answers", async () => {
    const database = await openCats();
    const add =
      "mutation($name: String!) { addCat(input: [{ name: $name, lives: 9 }]) { numUids } }";
    expect(await database.graphql(add, { name: "Tom" })).toEqual({
      data: { addCat: { numUids: 1 } },
    });
    type Answer = { queryCat: { name: string }[] };
    const node = parse("query q { queryCat { name } }") as TypedDocument<Answer, { a?: string }>;
    const { data } = await database.graphql(node, {}, { operationName: "q" });
    expect(data?.queryCat[0]?.name).toBe("Tom");
    // A string that knows its types is an object.
    const text = new String("{ queryCat { lives } }") as unknown as TypedDocument<Answer, object>;
    expect(await database.graphql(text)).toEqual({ data: { queryCat: [{ lives: 9 }] } });
    const { errors } = await database.graphql("{ queryDog { name } }");
    const error: GraphqlError | undefined = errors?.[0];
    expect(error?.message).toContain('Cannot query field "queryDog"');
  });

  test("request gives the data alone, and rejects with what the errors say", async () => {
    const database = await openCats();
    const { queryCat } = await database.request<{ queryCat: unknown[] }>("{ queryCat { name } }");
    expect(queryCat).toEqual([]);
    await expect(database.request("{ queryDog { name } a: nothing }")).rejects.toMatchObject({
      name: "DatabaseError",
      code: "Error",
      message: expect.stringMatching(/^Cannot query field "queryDog".* \(and 1 more\)$/),
      errors: [{}, {}],
    });
  });

  test("DQL: schemas, facts in both forms, upserts, variables, errors with codes", async () => {
    const database = await openCats({ dqlSchema: "age: int @index(int) ." });
    const { uids } = await database.mutate({ set: { uid: "_:a", name: "Ann", age: 41 } });
    await database.mutate({ set: `<${uids["a"]}> <nick> "A" .` });
    const rows = await database.dql<{ q: { nick: string }[] }>(
      "query q($min: int) { q(func: ge(age, $min)) { nick } }",
      { min: 40 },
    );
    expect(rows.q).toEqual([{ nick: "A" }]);
    const upsert = {
      query: "{ v as var(func: eq(age, 41)) }",
      set: 'uid(v) <age> "42" .',
      condition: "@if(gt(len(v), 0))",
    };
    await database.mutate(upsert);
    expect(await database.dql("{ q(func: eq(age, 42)) { age } }")).toEqual({ q: [{ age: 42 }] });
    await expect(database.dql("{ q(")).rejects.toMatchObject({
      name: "DatabaseError",
      code: "E_DQL_SYNTAX",
    });
    await expect(database.setSchema("type A { b: C }")).rejects.toMatchObject({
      code: "E_GRAPHQL_SCHEMA",
    });
    await database.dropData();
    expect(await database.dql("{ q(func: has(age)) { age } }")).toEqual({ q: [] });
  });

  test("transactions see what they wrote, run again after a conflict, and leave nothing when they throw", async () => {
    const database = await openCats({ dqlSchema: "count: int ." });
    const { uids } = await database.mutate({ set: { uid: "_:c", count: 0 } });
    const uid = String(uids["c"]);
    const increase = (): Promise<number> =>
      database.transaction(async (transaction) => {
        const { q } = await transaction.dql<{ q: { count: number }[] }>(
          `{ q(func: uid(${uid})) { count } }`,
        );
        const next = (q[0]?.count ?? 0) + 1;
        await transaction.mutate({ set: { uid, count: next } });
        const again = await transaction.dql<{ q: { count: number }[] }>(
          `{ q(func: uid(${uid})) { count } }`,
        );
        expect(again.q[0]?.count).toBe(next);
        return next;
      });
    const counts = await Promise.all([increase(), increase(), increase()]);
    expect(counts.toSorted((a, b) => a - b)).toEqual([1, 2, 3]);
    const failing = database.transaction(async (transaction) => {
      await transaction.mutate({ set: { uid, count: 99 } });
      throw new Error("no");
    });
    await expect(failing).rejects.toThrow("no");
    expect(await database.dql(`{ q(func: uid(${uid})) { count } }`)).toEqual({ q: [{ count: 3 }] });
  });

  test("subscriptions are loops that end with their schema, or with the loop", async () => {
    const database = await openCats();
    const seen: unknown[] = [];
    for await (const { data } of database.subscribe("subscription { queryCat { name } }")) {
      seen.push(data);
      if (seen.length === 2) break;
      await database.graphql('mutation { addCat(input: [{ name: "Kit" }]) { numUids } }');
    }
    expect(seen).toEqual([{ queryCat: [] }, { queryCat: [{ name: "Kit" }] }]);
    const stream = database.subscribe("subscription { queryCat { lives } }");
    await stream.next();
    await database.setSchema("type Dog { id: ID! name: String }");
    await expect(stream.next()).rejects.toMatchObject({ name: "DatabaseError" });
    await expect(database.subscribe("{ queryDog { name } }").next()).rejects.toThrow(
      "not a subscription",
    );
  });

  test("whom @custom may not ask is named by the option that would allow it", async () => {
    const custom = `type Query { far: String @custom(http: { url: "http://HOST/x", method: GET }) }`;
    const refusalOf = async (host: string, outgoing: object): Promise<string | undefined> => {
      const asking = await openCats({ schema: custom.replace("HOST", host), outgoing });
      return (await asking.graphql("{ far }")).errors?.[0]?.message;
    };
    expect(await refusalOf("127.0.0.1:9", {})).toContain("not named in outgoing.private");
    expect(await refusalOf("localhost:9", {})).toContain("not named in outgoing.private");
    expect(await refusalOf("a.example", { hosts: ["b.example"] })).toContain(
      "a.example is not among the hosts of outgoing.hosts",
    );
  });

  test("a directory keeps what was written, and is opened once at a time", async () => {
    const folder = mkdtempSync(join(tmpdir(), "weft-embedded-"));
    folders.push(folder);
    const data = join(folder, "store");
    const first = await open({ data, schema });
    await first.graphql('mutation { addCat(input: [{ name: "Tom" }]) { numUids } }');
    await expect(open({ data })).rejects.toMatchObject({
      name: "DatabaseError",
      code: "E_STARTUP",
    });
    await first.close();
    const second = await openCats({ data });
    expect(await second.graphql("{ queryCat { name } }")).toEqual({
      data: { queryCat: [{ name: "Tom" }] },
    });
  });
});

describe("openTestDatabase", () => {
  const notes = readFileSync(
    new URL("../../sample/testing/notes.graphql", import.meta.url),
    "utf8",
  );

  test("fixtures that the schema refuses are no beginning", async () => {
    const options = {
      schema,
      fixtures: (db: EmbeddedDatabase) => db.request("mutation { addDog(input: []) { numUids } }"),
    };
    await expect(openTestDatabase(options)).rejects.toThrow('Cannot query field "addDog"');
  });

  test("begins anew at reset: data, schema, time", async () => {
    const database = await openTestDatabase({
      schema,
      now: "2030-01-01T00:00:00Z",
      fixtures: (one) => one.request('mutation { addCat(input: [{ name: "Tom" }]) { numUids } }'),
    });
    opened.push(database);
    const cats = "{ queryCat(order: { asc: name }) { name } }";
    await database.graphql('mutation { addCat(input: [{ name: "Kit" }]) { numUids } }');
    await database.setSchema(schema.replace("lives", "toys"));
    database.time.advance(1000);
    expect(database.time.now).toEqual(new Date("2030-01-01T00:00:01Z"));
    expect(await database.graphql(cats)).toEqual({
      data: { queryCat: [{ name: "Kit" }, { name: "Tom" }] },
    });
    await database.reset();
    expect(await database.graphql(cats)).toEqual({ data: { queryCat: [{ name: "Tom" }] } });
    expect((await database.graphql("{ queryCat { lives } }")).errors).toBeUndefined();
    expect(database.time.now).toEqual(new Date("2030-01-01T00:00:00Z"));
  });

  test("users' tokens are signed by the schema's secret, and end by the database's time", async () => {
    const database = await openTestDatabase({ schema: notes, now: 0 });
    opened.push(database);
    await database.graphql(
      'mutation { addNote(input: [{ owner: "ann", text: "milk" }]) { numUids } }',
    );
    const ann = database.as({ USER: "ann" });
    expect(await ann.request("{ queryNote { text } }")).toEqual(
      (await ann.graphql("{ queryNote { text } }")).data,
    );
    expect(await ann.graphql("{ queryNote { text written } }")).toEqual({
      data: { queryNote: [{ text: "milk", written: "1970-01-01T00:00:00Z" }] },
    });
    expect(await database.as({ USER: "bob" }).graphql("{ queryNote { text } }")).toEqual({
      data: { queryNote: [] },
    });
    const first = await ann.subscribe("subscription { queryNote { text } }").next();
    expect(first.value?.data).toEqual({ queryNote: [{ text: "milk" }] });
    const { header, token } = database.tokenOf({ USER: "ann" });
    database.time.set("1970-01-01T02:00:00Z");
    const late = await database.graphql(
      "{ queryNote { text } }",
      {},
      { headers: { [header]: token } },
    );
    expect(late.errors?.[0]?.message).toContain("expired");
    const plain = await openTestDatabase({ schema });
    opened.push(plain);
    expect(() => plain.as({ USER: "ann" }).graphql("{ queryCat { name } }")).toThrow(
      "no Dgraph.Authorization",
    );
  });
});

describe("resolvers", () => {
  const lambdaSchema =
    "type Cat { id: ID! name: String! @id shout: String @lambda } type Query { count: Int @lambda } type Mutation { adopt(name: String!): String @lambda }";
  const script = `self.addGraphQLResolvers({
    "Cat.shout": ({ parent }: { parent: { name: string } }) => {
      if (parent.name === "mute") throw new Error("it is mute");
      return parent.name.toUpperCase();
    },
    "Query.count": async ({ dql }: any) => (await dql.query("{ q(func: type(Cat)) { count(uid) } }")).data.q[0].count,
    "Mutation.adopt": async ({ args, graphql, dql }: any) => {
      await graphql("mutation($n: String!) { addCat(input: [{ name: $n }]) { numUids } }", { n: args.name });
      await dql.mutate('{ set {\\n _:a <dgraph.type> "Cat" .\\n _:a <Cat.name> "second" .\\n } }');
      const failed = await dql.query("{ wrong");
      const { extensions } = await dql.mutate({ set: { "dgraph.type": "Cat", "Cat.name": "third" } }, false);
      await dql.commit(extensions.txn);
      return String(failed.errors?.length);
    },
  });
  declare const self: any;`;
  const writeScript = (text: string): string => {
    const folder = mkdtempSync(join(tmpdir(), "weft-embedded-"));
    folders.push(folder);
    const file = join(folder, "resolvers.ts");
    writeFileSync(file, text);
    return file;
  };

  test("fields, queries and mutations, which ask the database back; errors with path and code", async () => {
    const database = await open({ schema: lambdaSchema, lambda: writeScript(script) });
    opened.push(database);
    expect(await database.graphql('mutation { adopt(name: "tom") }')).toMatchObject({
      data: { adopt: "1" },
    });
    expect(await database.graphql("{ count queryCat(order: { asc: name }) { shout } }")).toEqual({
      data: {
        count: 3,
        queryCat: [{ shout: "SECOND" }, { shout: "THIRD" }, { shout: "TOM" }],
      },
    });
    await database.graphql('mutation { addCat(input: [{ name: "mute" }]) { numUids } }');
    const { errors } = await database.graphql(
      '{ queryCat(filter: { name: { eq: "mute" } }) { shout } }',
    );
    expect(errors).toMatchObject([
      {
        message: "it is mute",
        path: ["queryCat", 0, "shout"],
        extensions: { code: "RESOLVER_ERROR" },
      },
    ]);
  });

  test("for tests: the same resolvers for each database that begins anew", async () => {
    const database = await openTestDatabase({
      schema: lambdaSchema,
      lambda: writeScript(script),
      fixtures: (db) => db.graphql('mutation { addCat(input: [{ name: "ann" }]) { numUids } }'),
    });
    opened.push(database);
    for (let round = 0; round < 3; round++) {
      await database.graphql('mutation { adopt(name: "tom") }');
      expect((await database.graphql("{ count }")).data).toEqual({ count: 4 });
      await database.reset();
      expect((await database.graphql("{ count }")).data).toEqual({ count: 1 });
    }
  });

  test("a script that is wrong, or two places of resolvers", async () => {
    await expect(
      open({ schema: lambdaSchema, lambda: writeScript("const a: = 1") }),
    ).rejects.toThrow(/resolvers\.ts:1:10: Unexpected/);
    const both = { lambda: writeScript(script), lambdaUrl: "http://127.0.0.1:1/x" };
    await expect(open({ schema: lambdaSchema, ...both })).rejects.toThrow("one of them, not both");
  });
});
