/** The SDL's life in the database (reference/graphql 10.5), over the engine on a store in memory. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { systemClock } from "../../base/clock.ts";
import { openEngine, type OpenEngine } from "../../engine/open.ts";
import { defaultOutgoingLimits } from "../../outgoing/limits.ts";
import { publicPolicy } from "../../outgoing/policy.ts";
import { makeAsk, makeGetText } from "../../outgoing/request.ts";
import { openMemoryStore } from "../../stores/open.ts";
import type { Store } from "../../store/store.ts";
import { SchemaStore } from "./schema-store.ts";

const openSchemas = (): SchemaStore =>
  new SchemaStore({
    engine,
    clock: systemClock,
    getText: makeGetText(publicPolicy),
    outgoing: { ask: makeAsk(publicPolicy), limits: defaultOutgoingLimits },
    hasLambda: false,
    int64: "number",
    allowsRuleGaps: true,
    allowsMisfits: false,
  });

let store: Store;
let engine: OpenEngine;
let schemas: SchemaStore;

beforeEach(async () => {
  store = openMemoryStore();
  engine = await openEngine({ store });
  schemas = openSchemas();
});

afterEach(async () => {
  await engine.close();
});

const oak = "type Oak { name: String! @search(by: [term]) age: Int @search }";
const elm = "type Oak { name: String! age: Int } type Elm { height: Float }";

async function indexesOf(name: string): Promise<readonly string[] | undefined> {
  const schema = await engine.schema(0);
  return schema.predicate(name)?.indexes.map((index) => index.tokenizer);
}

describe("the stored schema", () => {
  test("is nothing at first", async () => {
    expect(await schemas.row(0)).toBe(undefined);
    expect(await schemas.updateCount(0)).toBe(0);
  });

  test("keeps the text as it was sent, and its node", async () => {
    const set = await schemas.update(0, `# a wood\n${oak}`);
    expect(set.schema).toBe(`# a wood\n${oak}`);
    expect(set.generatedSchema).toContain("queryOak");
    const replaced = await schemas.update(0, elm);
    expect(replaced.uid).toBe(set.uid);
    expect(await schemas.row(0)).toEqual(replaced);
  });

  test("counts its changes, alike in every process", async () => {
    const other = openSchemas();
    const counts: number[][] = [];
    for (const sdl of [oak, oak, elm, oak]) {
      await schemas.update(0, sdl);
      counts.push([await schemas.updateCount(0), await other.updateCount(0)]);
    }
    expect(counts).toEqual([
      [1, 1],
      [1, 1],
      [2, 2],
      [3, 3],
    ]);
    await engine.alter({ kind: "dropData" }, 0);
    expect(await schemas.updateCount(0)).toBe(3);
    // Taking it away is a change, too; nothing is taken away the second time.
    for (let i = 0; i < 2; i++) {
      await engine.alter({ kind: "dropAll" }, 0);
      expect(await other.updateCount(0)).toBe(4);
      expect(await other.row(0)).toBe(undefined);
    }
    await engine.alter({ kind: "dropData" }, 0);
    await schemas.update(0, oak);
    expect(await other.updateCount(0)).toBe(5);
  });

  test("makes predicates, types and indexes, and takes indexes away again", async () => {
    await schemas.update(0, oak);
    expect(await indexesOf("Oak.name")).toEqual(["term"]);
    expect(await indexesOf("Oak.age")).toEqual(["int"]);
    await schemas.update(0, elm);
    expect(await indexesOf("Oak.name")).toEqual([]);
    expect(await indexesOf("Elm.height")).toEqual([]);
    const types = (await engine.schema(0)).types.map((type) => type.name);
    expect(types).toEqual(expect.arrayContaining(["Oak", "Elm"]));
  });

  test("survives a restart, and is seen by other processes", async () => {
    const set = await schemas.update(0, oak);
    const other = openSchemas();
    expect(await other.row(0)).toEqual(set);
    await other.update(0, elm);
    expect((await schemas.row(0))?.schema).toBe(elm);
  });

  test("is served at a snapshot as it was then", async () => {
    await schemas.update(0, oak);
    const before = await engine.openReader(0);
    await schemas.update(0, elm);
    const after = await engine.openReader(0);
    try {
      expect((await schemas.at(after))?.schema.sdl).toBe(elm);
      expect((await schemas.at(before))?.schema.sdl).toBe(oak);
      expect((await schemas.at(after))?.schema.sdl).toBe(elm);
    } finally {
      before.close();
      after.close();
    }
  });

  test("stays the same object while nothing else changes it", async () => {
    await schemas.update(0, oak);
    const first = await schemas.newest(0);
    await engine.mutate({
      namespace: 0,
      body: { kind: "rdf", text: '{ set { _:a <note> "x" . } }' },
      startTs: 0,
      commitNow: true,
      timeoutMs: 0,
    });
    const second = await schemas.newest(0);
    expect(first !== undefined && first === second).toBe(true);
  });

  test("a refused one changes nothing", async () => {
    await schemas.update(0, oak);
    await expect(schemas.update(0, "type Oak { in: Forest }")).rejects.toThrow(
      "input:1: Undefined type Forest.\n",
    );
    expect((await schemas.row(0))?.schema).toBe(oak);
    expect(await indexesOf("Oak.name")).toEqual(["term"]);
  });

  test("goes with drop_all, stays with drop_data", async () => {
    await schemas.update(0, oak);
    await engine.alter({ kind: "dropData" }, 0);
    expect((await schemas.row(0))?.schema).toBe(oak);
    await engine.alter({ kind: "dropAll" }, 0);
    expect(await schemas.row(0)).toBe(undefined);
    await schemas.update(0, elm);
    expect((await schemas.row(0))?.schema).toBe(elm);
  });

  test("each namespace has its own", async () => {
    const namespace = await engine.createNamespace();
    await schemas.update(0, oak);
    await schemas.update(namespace, elm);
    expect((await schemas.row(0))?.schema).toBe(oak);
    expect((await schemas.row(namespace))?.schema).toBe(elm);
  });

  test("updates at the same time end with one of them, whole", async () => {
    await Promise.all([schemas.update(0, oak), schemas.update(0, elm)]);
    expect((await schemas.row(0))?.schema).toBe(elm);
    expect(await indexesOf("Oak.name")).toEqual([]);
  });
});
