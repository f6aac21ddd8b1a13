// Goal: a database in the process: GraphQL, DQL, transactions and subscriptions without a port, in memory and on a
// directory; and one for tests that begins anew, knows the time it is told, and signs users' tokens.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
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

  test("begins anew at reset: data, schema, time", async () => {
    const database = await openTestDatabase({
      schema,
      now: "2030-01-01T00:00:00Z",
      fixtures: (one) => one.graphql('mutation { addCat(input: [{ name: "Tom" }]) { numUids } }'),
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
