import { expect, test } from "vitest";
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

test("values are stored, found by their tokens, and follow a change", async () => {
  const context = await openEngineContext("name: string @index(exact, term) .");
  await context.write(`<0x1> <name> "Ada Lovelace" .`);
  await context.read(async (reader) => {
    expect(await readValues(reader, 1, "name")).toEqual(["Ada Lovelace"]);
    expect(
      await findByToken(reader, { name: "name", tokenizer: "term", value: text("ada") }),
    ).toEqual([1]);
    expect(await readPresence(reader, "name")).toEqual([1]);
  });
  await context.write(`<0x1> <name> "Grace Hopper" .`);
  await context.read(async (reader) => {
    expect(await readValues(reader, 1, "name")).toEqual(["Grace Hopper"]);
    expect(
      await findByToken(reader, { name: "name", tokenizer: "term", value: text("ada") }),
    ).toEqual([]);
    expect(
      await findByToken(reader, { name: "name", tokenizer: "exact", value: text("Grace Hopper") }),
    ).toEqual([1]);
  });
  await context.write("", `<0x1> <name> "wrong" .`);
  expect(await context.read((reader) => readValues(reader, 1, "name"))).toEqual(["Grace Hopper"]);
  await context.write("", `<0x1> <name> "Grace Hopper" .`);
  await context.read(async (reader) => {
    expect(await readValues(reader, 1, "name")).toEqual([]);
    expect(await readPresence(reader, "name")).toEqual([]);
    expect(
      await findByToken(reader, { name: "name", tokenizer: "term", value: text("grace") }),
    ).toEqual([]);
  });
});

test("edges have their mirror and their counts", async () => {
  const context = await openEngineContext("friend: [uid] @reverse @count .\nboss: uid @reverse .");
  await context.write(`<0x1> <friend> <0x2> .\n<0x1> <friend> <0x3> .\n<0x1> <boss> <0x2> .`);
  await context.write(`<0x1> <boss> <0x3> .`, `<0x1> <friend> <0x2> .`);
  await context.read(async (reader) => {
    expect(await readEdges(reader, 1, "friend")).toEqual([3]);
    expect(await readReverse(reader, 2, "friend")).toEqual([]);
    expect(await readReverse(reader, 3, "friend")).toEqual([1]);
    expect(await readCounted(reader, "friend", 1)).toEqual([1]);
    expect(await readCounted(reader, "friend", 2)).toEqual([]);
    expect(await readEdges(reader, 1, "boss")).toEqual([3]);
    expect(await readReverse(reader, 2, "boss")).toEqual([]);
  });
  await context.write("", `<0x1> <friend> * .\n<0x1> <boss> * .`);
  await context.read(async (reader) => {
    expect(await readEdges(reader, 1, "friend")).toEqual([]);
    expect(await readReverse(reader, 3, "boss")).toEqual([]);
    expect(await readPresence(reader, "boss")).toEqual([]);
  });
});

test("a managed transaction reads what it wrote, in every kind of read", async () => {
  const context = await openEngineContext(
    "name: string @index(exact) .\nfriend: [uid] @reverse @count .\ntags: [string] @count @index(exact) .",
  );
  await context.write(`<0x1> <name> "a" .\n<0x1> <friend> <0x2> .\n<0x1> <tags> "x" .`);
  const { parseNQuads } = await import("../intake/nquad-parser.ts");
  await context.managed.transact(0, async (txn) => {
    await txn.apply({
      set: parseNQuads(
        `<0x1> <name> "b" .\n<0x1> <friend> <0x3> .\n<0x4> <tags> "x" .\n<0x4> <tags> "y" .`,
      ),
      delete: parseNQuads(`<0x1> <tags> "x" .`, "delete"),
    });
    const { reader } = txn;
    expect(await readValues(reader, 1, "name")).toEqual(["b"]);
    expect(
      await findByToken(reader, { name: "name", tokenizer: "exact", value: text("a") }),
    ).toEqual([]);
    expect(
      await findByToken(reader, { name: "name", tokenizer: "exact", value: text("b") }),
    ).toEqual([1]);
    expect(await readEdges(reader, 1, "friend")).toEqual([2, 3]);
    expect(await readReverse(reader, 3, "friend")).toEqual([1]);
    expect(await readCounted(reader, "friend", 2)).toEqual([1]);
    expect(await readCounted(reader, "friend", 1)).toEqual([]);
    expect(await readPresence(reader, "tags")).toEqual([4]);
    expect(await readCounted(reader, "tags", 2)).toEqual([4]);
    const tokens: string[] = [];
    const index = reader.schema.predicate("tags")!.indexes[0]!.id;
    await reader.scanTokens(index, { from: undefined, to: undefined }, (token, uids) => {
      tokens.push(
        `${Buffer.from(token)
          .toString()
          .replace(/[^a-z]/g, "")}:${[...uids].join()}`,
      );
      return true;
    });
    expect(tokens).toEqual(["x:4", "y:4"]);
    txn.discard();
  });
  await context.read(async (reader) => {
    expect(await readValues(reader, 1, "name")).toEqual(["a"]);
    expect(await readPresence(reader, "tags")).toEqual([1]);
  });
});

test("an older state is read through the undo", async () => {
  const context = await openEngineContext(
    "name: string @index(exact) .\nfriend: [uid] @reverse @count .",
  );
  await context.write(`<0x1> <name> "old" .\n<0x1> <friend> <0x2> .`);
  const { reader: then } = await context.readers.openNewest(0);
  const { ts } = then;
  then.close();
  await context.write(
    `<0x1> <name> "new" .\n<0x3> <name> "three" .\n<0x1> <friend> <0x3> .`,
    `<0x1> <friend> <0x2> .`,
  );
  const { reader } = await context.readers.openAt(0, ts);
  expect(await readValues(reader, 1, "name")).toEqual(["old"]);
  expect(await readPresence(reader, "name")).toEqual([1]);
  expect(await readEdges(reader, 1, "friend")).toEqual([2]);
  expect(await readReverse(reader, 3, "friend")).toEqual([]);
  expect(
    await findByToken(reader, { name: "name", tokenizer: "exact", value: text("old") }),
  ).toEqual([1]);
  expect(
    await findByToken(reader, { name: "name", tokenizer: "exact", value: text("new") }),
  ).toEqual([]);
  reader.close();
});

test("indexes are built from existing data and dropped ones leave nothing behind", async () => {
  const context = await openEngineContext("name: string .\nfriend: [uid] .");
  await context.write(
    `<0x1> <name> "one two" .\n<0x2> <name> "two" .\n<0x1> <friend> <0x2> .\n<0x3> <friend> <0x2> .`,
  );
  await context.alter("name: string @index(term) .\nfriend: [uid] @reverse @count .");
  await context.read(async (reader) => {
    expect(
      await findByToken(reader, { name: "name", tokenizer: "term", value: text("two") }),
    ).toEqual([1, 2]);
    expect(await readReverse(reader, 2, "friend")).toEqual([1, 3]);
    expect(await readCounted(reader, "friend", 1)).toEqual([1, 3]);
  });
  await context.schemas.alter({ kind: "dropPredicate", predicate: "name" }, 0);
  await context.alter("name: string @index(term) .");
  expect(await context.read((reader) => readPresence(reader, "name"))).toEqual([]);
});
