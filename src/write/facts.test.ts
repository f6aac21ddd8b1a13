// Goal: what a request's facts leave behind: values, edges with their mirrors, counts, tokens; and which are refused.
import { describe, expect, test } from "vitest";
import {
  findByToken,
  openEngineContext,
  readCounted,
  readEdges,
  readPresence,
  readReverse,
  readValues,
} from "../../test/support/engine-context.ts";

const text = (value: string) => ({ kind: "string", text: value }) as const;

describe("facts of one entry meet wherever they stand in a request", () => {
  const lines = (count: number, of: (i: number) => string): string =>
    Array.from({ length: count }, (_, i) => of(i + 100)).join("\n");
  test.each([
    ["few entries", 2],
    ["so many that they are looked up by node", 60],
  ])("%s", async (_, count) => {
    const context = await openEngineContext(
      "friend: [uid] @reverse @count .\nname: string @index(exact) .",
    );
    await context.write(
      `<0x1> <friend> <0x2> .\n<0x1> <name> "a" .\n${lines(count, (i) => `<${i}> <name> "x" .`)}
      <0x1> <friend> <0x3> .\n<0x1> <name> "b" .`,
    );
    await context.read(async (reader) => {
      expect(await readEdges(reader, 1, "friend")).toEqual([2, 3]);
      expect(await readCounted(reader, "friend", 2)).toEqual([1]);
      expect(await readCounted(reader, "friend", 1)).toEqual([]);
      expect(await readValues(reader, 1, "name")).toEqual(["b"]);
      const search = { name: "name", tokenizer: "exact", value: text("a") };
      expect(await findByToken(reader, search)).toEqual([]);
      expect((await readPresence(reader, "name")).length).toBe(count + 1);
    });
  });
});

test("each node's edge is replaced by its own, in one request", async () => {
  const context = await openEngineContext("boss: uid @reverse .\nname: string @index(exact) .");
  await context.write(
    `<0x1> <boss> <0x9> .\n<0x2> <boss> <0x8> .\n<0x1> <name> "a" .\n<0x2> <name> "b" .`,
  );
  await context.write(
    `<0x2> <name> "d" .\n<0x2> <boss> <0x6> .\n<0x1> <boss> <0x7> .\n<0x1> <name> "c" .`,
  );
  await context.read(async (reader) => {
    expect(await readEdges(reader, 1, "boss")).toEqual([7]);
    expect(await readEdges(reader, 2, "boss")).toEqual([6]);
    for (const old of [8, 9]) expect(await readReverse(reader, old, "boss")).toEqual([]);
    expect(await readReverse(reader, 7, "boss")).toEqual([1]);
    expect(await readReverse(reader, 6, "boss")).toEqual([2]);
    for (const old of ["a", "b"]) {
      const search = { name: "name", tokenizer: "exact", value: text(old) };
      expect(await findByToken(reader, search)).toEqual([]);
    }
  });
});

test("a token goes with the last value of a list that has it", async () => {
  const context = await openEngineContext("tags: [string] @index(term) @count .");
  const found = (word: string) =>
    context.read((reader) =>
      findByToken(reader, { name: "tags", tokenizer: "term", value: text(word) }),
    );
  await context.write(`<0x1> <tags> "red car" .\n<0x1> <tags> "red bus" .`);
  await context.write(`<0x1> <tags> "blue bus" .`, `<0x1> <tags> "red car" .`);
  expect(await Promise.all(["red", "car", "bus", "blue"].map(found))).toEqual([[1], [], [1], [1]]);
  await context.write("", `<0x1> <tags> "red bus" .`);
  expect(await Promise.all(["red", "bus", "blue"].map(found))).toEqual([[], [1], [1]]);
  expect(await context.read((reader) => readCounted(reader, "tags", 1))).toEqual([1]);
  await context.write("", `<0x1> <tags> * .`);
  expect(await Promise.all(["red", "bus", "blue"].map(found))).toEqual([[], [], []]);
  expect(await context.read((reader) => readPresence(reader, "tags"))).toEqual([]);
});

test("a value of one language goes alone; a deleted value must be the one that is there", async () => {
  const context = await openEngineContext("name: string @lang @index(exact) .");
  await context.write(`<0x1> <name> "a" .\n<0x1> <name> "b"@en .\n<0x1> <name> "c"@de .`);
  await context.write("", `<0x1> <name> "b"@de .\n<0x1> <name@en> * .`);
  const read = () => context.read((reader) => readValues(reader, 1, "name"));
  expect((await read()).sort()).toEqual(["a", "c@de"]);
  await context.write("", `<0x1> <name> "c"@de .`);
  expect(await read()).toEqual(["a"]);
  await context.write("", `<0x1> <name> * .`);
  expect(await read()).toEqual([]);
});

test("the value of a predicate that became a list is one of its elements", async () => {
  const context = await openEngineContext("name: string @index(exact) .");
  await context.write(`<0x1> <name> "a" .\n<0x2> <name> "a" .\n<0x3> <name> "a" .`);
  await context.alter("name: [string] @index(exact) .");
  await context.write(`<0x1> <name> "b" .\n<0x2> <name> "a" .`, `<0x3> <name> "a" .`);
  await context.read(async (reader) => {
    expect((await readValues(reader, 1, "name")).sort()).toEqual(["a", "b"]);
    expect(await readValues(reader, 2, "name")).toEqual(["a"]);
    expect(await readValues(reader, 3, "name")).toEqual([]);
    expect(await readPresence(reader, "name")).toEqual([1, 2]);
  });
});

test("deleting a node takes what its types name, and nothing of others in the request", async () => {
  const context = await openEngineContext(
    "name: string .\nage: int .\nnote: string .\ntype Person {\n name\n age\n}\ntype Note {\n note\n}",
  );
  await context.write(
    `<0x1> <dgraph.type> "Person" .\n<0x1> <name> "a" .\n<0x1> <age> "3" .\n<0x1> <note> "kept" .
     <0x2> <dgraph.type> "Note" .\n<0x2> <name> "b" .\n<0x2> <note> "gone" .`,
  );
  await context.write(`<0x3> <name> "c" .`, `<0x1> * * .\n<0x2> * * .\n<0x2> <name> "z" .`);
  await context.read(async (reader) => {
    const all = async (uid: number) => {
      const names = ["dgraph.type", "name", "age", "note"];
      return (await Promise.all(names.map((name) => readValues(reader, uid, name)))).flat();
    };
    expect(await all(1)).toEqual(["kept"]);
    expect(await all(2)).toEqual(["b"]);
    expect(await all(3)).toEqual(["c"]);
  });
});

describe("values that a predicate cannot have", () => {
  const schema = "secret: password .\nage: int .\nuniqueAge: int @unique @upsert @index(int) .";
  test.each([
    [`<0x1> <age> "many" .`, /many/],
    [`<0x1> <secret> "short" .`, /Password too short/],
    [`<0x1> <uniqueAge> "many" .`, /while running: name:"eq" args:"many"/],
  ])("%s", async (facts, refusal) => {
    const context = await openEngineContext(schema);
    await expect(context.write(facts)).rejects.toThrow(refusal);
  });

  test("a password is stored as a hash of its own, a typed one as the hash that it is", async () => {
    const context = await openEngineContext(schema);
    await context.write(
      `<0x1> <secret> "long enough" .\n<0x2> <secret> "long enough" .\n<0x3> <secret> "$2a$04$finished"^^<xs:password> .\n<0x4> <age> "3" .`,
    );
    const read = (uid: number) => context.read((reader) => readValues(reader, uid, "secret"));
    const [[one], [two], [three]] = await Promise.all([read(1), read(2), read(3)]);
    expect(one).toMatch(/^\$2[ab]\$/);
    expect(two).toMatch(/^\$2[ab]\$/);
    expect(one).not.toBe(two);
    expect(three).toBe("$2a$04$finished");
    expect(await context.read((reader) => readValues(reader, 4, "age"))).toEqual(["3"]);
  });
});
