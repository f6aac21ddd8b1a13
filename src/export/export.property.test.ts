// Goal: what is exported and loaded again is equal fact by fact, in both formats, over random stores.
import { afterEach, expect, test } from "vitest";
import * as fc from "fast-check";
import { systemClock } from "../base/clock.ts";
import { openEngine, type OpenEngine } from "../engine/open.ts";
import { openMemoryStore } from "../stores/open.ts";
import type { Store } from "../store/store.ts";
import { deriveFill } from "../write/fill.ts";
import { exportToStream, printSchemas, readSchema } from "./export.ts";
import { FactWriter } from "./facts.ts";
import { JsonPrinter } from "./json-printer.ts";
import { walkFacts } from "./node-rows.ts";
import { RdfPrinter } from "./rdf-printer.ts";
import { TextBuffer } from "./text-buffer.ts";

const schema = `
text: string @index(term, exact) @lang .
words: [string] @index(exact) @count .
whole: int @index(int) .
wholes: [int] .
half: float @index(float) .
flag: bool .
time: datetime @index(hour) .
times: [datetime] .
place: geo .
secret: password .
big: bigfloat .
vector: float32vector @index(hnsw(metric: "euclidean")) .
raw: binary .
any: default .
one: uid @reverse .
many: [uid] @reverse @count .
type Thing {
  text
  words
  one
  many
}
`;

interface Opened {
  readonly store: Store;
  readonly engine: OpenEngine;
}

const opened: Opened[] = [];
afterEach(async () => {
  for (const { engine, store } of opened.splice(0)) {
    await engine.close();
    await store.close();
  }
});

async function open(): Promise<Opened> {
  const store = openMemoryStore({ derive: deriveFill });
  const engine = await openEngine({ store, clock: systemClock });
  opened.push({ store, engine });
  return { store, engine };
}

const alter = (engine: OpenEngine, text: string): Promise<void> =>
  engine.alter({ kind: "schema", text, runInBackground: false }, 0);

async function load({ engine }: Opened, kind: "rdf" | "json", text: string): Promise<void> {
  const body = { kind, text: kind === "rdf" ? `{ set {\n${text}\n} }` : `{"set":${text}}` };
  await engine.mutate({ namespace: 0, body, startTs: 0, commitNow: true, timeoutMs: 0 });
}

async function exportRdf({ store }: Opened): Promise<string> {
  const snapshot = await store.snapshot();
  let text = "";
  const source = { snapshot, format: "rdf", namespaces: [0], onProgress() {} } as const;
  await exportToStream(source, async (piece) => {
    text += new TextDecoder().decode(piece);
  });
  snapshot.close();
  return text;
}

/** The two texts of an export as JSON: what JSON says, and what stands beside it. */
async function exportJson({ store }: Opened): Promise<{ json: string; rdf: string }> {
  const snapshot = await store.snapshot();
  const known = await readSchema(snapshot, 0);
  const texts = { json: new TextBuffer(64), rdf: new TextBuffer(64) };
  const json = new JsonPrinter(texts.json, 0, false);
  const writer = new FactWriter({ json, rdf: new RdfPrinter(texts.rdf, 0) }, 256);
  let [ofJson, ofRdf] = ["", ""];
  const take = (): void => {
    ofJson += new TextDecoder().decode(texts.json.drain());
    ofRdf += new TextDecoder().decode(texts.rdf.drain());
  };
  for (const _ of walkFacts(snapshot, known, 0, writer)) take();
  take();
  snapshot.close();
  return { json: `[${ofJson}]`, rdf: ofRdf };
}

/** Within a node they stand in the order in which the schema learned of its predicates. */
const sortLines = (text: string): readonly string[] => text.split("\n").sort();

const uid = fc.integer({ min: 1, max: 12 }).map((n) => `<0x${n.toString(16)}>`);
const word = fc.oneof(
  fc.string({ unit: "grapheme", maxLength: 12 }),
  fc.string({ unit: "binary", maxLength: 6 }),
  fc.constantFrom("[1, 2]", "uid(x)", "2020-01-01", "\u0000", '"\\', "\u2028<&>", "x".repeat(1500)),
);
const quoted = (text: string): string => JSON.stringify(text.toWellFormed());
const number = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.integer(),
  fc.constantFrom(-0, 1e300),
);
const dateText = fc
  .date({ min: new Date("1900-01-01"), max: new Date("2200-01-01"), noInvalidDate: true })
  .map((date) => date.toISOString());

const facet = fc.oneof(
  word.map(quoted),
  fc.integer().map(String),
  fc.constantFrom("true", "2006-01-02T15:04:05Z", "1.0", "2.5E+10"),
);
const facets = fc.option(
  fc.dictionary(fc.constantFrom("a", "b-c", "since"), facet, { minKeys: 1 }).map(
    (all) =>
      ` (${Object.entries(all)
        .map(([key, value]) => `${key}=${value}`)
        .join(", ")})`,
  ),
  { nil: "" },
);

const typed = (type: string) => (text: string) => `${quoted(text)}^^<${type}>`;
const object: readonly fc.Arbitrary<readonly [string, string]>[] = [
  word.map((text) => ["text", quoted(text)]),
  fc.tuple(word, fc.constantFrom("en", "de-AT")).map(([w, tag]) => ["text", `${quoted(w)}@${tag}`]),
  word.map((text) => ["words", quoted(text)]),
  fc.integer().map((n) => ["whole", `"${n}"`]),
  fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n).map((n) => ["wholes", `"${n}"`]),
  number.map((n) => ["half", `"${Object.is(n, -0) ? "-0" : n}"`]),
  fc.boolean().map((b) => ["flag", `"${b}"`]),
  dateText.map((text) => ["time", `"${text}"`]),
  dateText.map((text) => ["times", `"${text}"`]),
  fc
    .tuple(fc.integer({ min: -80, max: 80 }), fc.integer({ min: -80, max: 80 }))
    .map((at) => ["place", quoted(`{"type":"Point","coordinates":[${at.join(",")}]}`)]),
  fc.constant(["secret", typed("xs:password")("$2a$10$abcdefghijklmnopqrstuv")]),
  fc
    .constantFrom("1.5", "123456789012345678901234567890.125", "-1e40")
    .map((n) => ["big", `"${n}"`]),
  fc
    .tuple(fc.float({ noNaN: true, noDefaultInfinity: true }), fc.constant(0.5))
    .map((pair) => ["vector", quoted(`[${pair.join(", ")}]`)]),
  word.filter((w) => w !== "").map((text) => ["raw", typed("xs:base64Binary")(text)]),
  fc
    .oneof(
      word.map(quoted),
      fc.integer().map((n) => `"${n}"^^<xs:int>`),
      word.map(typed("xs:string")),
      number.map((n) => `"${n}"^^<xs:float>`),
      dateText.map(typed("xs:dateTime")),
    )
    .map((text) => ["any", text]),
  uid.map((target) => ["one", target]),
  uid.map((target) => ["many", target]),
  fc.constant(["dgraph.type", '"Thing"']),
];

const line = fc
  .tuple(uid, fc.oneof(...object), facets)
  .map(([subject, [name, value], all]) => `${subject} <${name}> ${value}${all} .`);

test("RDF, loaded into an empty store with the exported schema, gives the same text again", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(line, { minLength: 1, maxLength: 60 }), async (lines) => {
      const first = await open();
      await alter(first.engine, schema);
      await load(first, "rdf", lines.join("\n"));
      const text = await exportRdf(first);
      const snapshot = await first.store.snapshot();
      const schemaText = printSchemas([await readSchema(snapshot, 0)]);
      snapshot.close();
      const second = await open();
      await alter(second.engine, schemaText);
      if (text !== "") await load(second, "rdf", text);
      expect(sortLines(await exportRdf(second))).toEqual(sortLines(text));
      const again = await second.store.snapshot();
      expect(printSchemas([await readSchema(again, 0)])).toBe(schemaText);
      again.close();
    }),
    { numRuns: 40 },
  );
});

test("JSON with what stands beside it gives the same store", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(line, { minLength: 1, maxLength: 60 }), async (lines) => {
      const first = await open();
      await alter(first.engine, schema);
      await load(first, "rdf", lines.join("\n"));
      const { json, rdf } = await exportJson(first);
      const second = await open();
      await alter(second.engine, schema);
      await load(second, "json", json);
      if (rdf !== "") await load(second, "rdf", rdf);
      // JSON has no texts without a type: they come back as strings.
      const untyped = (text: string): string => text.replaceAll("^^<xs:string>", "");
      const [made, given] = [await exportRdf(second), await exportRdf(first)].map(untyped);
      expect(sortLines(made!)).toEqual(sortLines(given!));
    }),
    { numRuns: 40 },
  );
});

test("a node with many edges is told in pieces, each edge once", async () => {
  const first = await open();
  await alter(first.engine, schema);
  const lines = Array.from(
    { length: 20_000 },
    (_, i) => `<0x1> <many> <0x${(i + 10).toString(16)}> (n=${i}) .`,
  );
  for (let i = 0; i < lines.length; i += 1000) {
    await load(first, "rdf", lines.slice(i, i + 1000).join("\n"));
  }
  const text = await exportRdf(first);
  const expected = lines.map((one) => one.replace(" (", " <0x0> ("));
  expect(text).toBe(`${expected.join("\n")}\n`);
});
