/** Goal: no query reads an index whose tokens another version of its tokenizer made; it is built anew by itself. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { askEngine } from "../../test/support/ask-engine.ts";
import { systemClock } from "../base/clock.ts";
import { indexPrefix, keyKind, prefixRange } from "../codec/key.ts";
import { checkGraph } from "../graph/check.ts";
import type { PredicateIndex } from "../graph/schema.ts";
import type { Store } from "../store/store.ts";
import { openMemoryStore } from "../stores/memory.ts";
import { type Tokenizer, tokenizers } from "../tokens/tokenizers.ts";
import { deriveFill } from "../write/fill.ts";
import { openEngine } from "./open.ts";
import type { OpenEngine } from "./open.ts";

const known = tokenizers as Map<string, Tokenizer>;
const fulltext = tokenizers.get("fulltext")!;
/** Another stemmer: it keeps the first three letters of each word. */
const shorter: Tokenizer = (() => {
  const texts = (value: Parameters<Tokenizer["tokens"]>[0]): readonly string[] =>
    value.kind === "string" ? value.text.split(" ").map((word) => word.slice(0, 3)) : [];
  const tokens = (value: Parameters<Tokenizer["tokens"]>[0]): Uint8Array[] =>
    texts(value).map((text) => new TextEncoder().encode(text));
  return { ...fulltext, version: 2, texts, tokens };
})();

let store: Store;
let engine: OpenEngine;

beforeEach(async () => {
  store = openMemoryStore({ clock: systemClock, derive: deriveFill });
  engine = await openEngine({ store });
  const text = "text: string @index(fulltext, exact) @lang .\nother: string @index(term) .";
  await engine.alter({ kind: "schema", text, runInBackground: false }, 0);
  const facts = ["carts", "cargo", "boats"].map((word, i) => `<${i + 1}> <text> "${word}" .`);
  const body = { kind: "rdf", text: `{ set { ${facts.join("\n")} } }` } as const;
  await engine.mutate({ namespace: 0, body, startTs: 0, commitNow: true, timeoutMs: 0 });
});

afterEach(async () => {
  known.set("fulltext", fulltext);
  await engine.close();
  await store.close();
});

async function reopenWith(tokenizer: Tokenizer): Promise<void> {
  await engine.close();
  known.set("fulltext", tokenizer);
  engine = await openEngine({ store });
}

const find = (words: string): Promise<string> =>
  askEngine(engine, `{ q(func: alloftext(text, "${words}")) { text } }`);

async function indexesOf(name: string): Promise<readonly PredicateIndex[]> {
  const reader = await engine.openReader(0);
  try {
    return reader.schema.predicate(name)!.indexes;
  } finally {
    reader.close();
  }
}

async function countTokens(index: number): Promise<number> {
  const snapshot = await store.snapshot();
  let count = 0;
  const range = prefixRange(indexPrefix(await storageId(), keyKind.index, index));
  await snapshot.scan(range, () => ++count > 0);
  snapshot.close();
  return count;
}

async function storageId(): Promise<number> {
  const reader = await engine.openReader(0);
  reader.close();
  return reader.schema.storageId;
}

test("one of another version is not read, and built anew", async () => {
  expect(await find("cart")).toBe('{"q":[{"text":"carts"}]}');
  const before = await indexesOf("text");
  expect(await countTokens(before[0]!.id)).toBe(3);
  await reopenWith(shorter);
  // Until it is built the answer is a refusal: the old tokens would have found nothing.
  const early = await find("cargo").catch((error: unknown) => String(error));
  expect(early).toMatch(/is not indexed with type fulltext|"carts"/);
  await expect.poll(() => find("cargo").catch(String)).toContain('"carts"');
  expect(JSON.parse(await find("cargo"))).toEqual({ q: [{ text: "carts" }, { text: "cargo" }] });
  const after = await indexesOf("text");
  expect(after.map(({ tokenizer, version, state }) => [tokenizer, version, state])).toEqual([
    ["fulltext", 2, "ready"],
    ["exact", 1, "ready"],
  ]);
  expect(after[0]!.id).not.toBe(before[0]!.id);
  expect(after[1]!.id).toBe(before[1]!.id);
  // The old one's rows are swept, and what is left is whole.
  await expect.poll(() => countTokens(before[0]!.id)).toBe(0);
  const problems: string[] = [];
  const report = (problem: string): void => void problems.push(problem);
  await checkGraph({ open: () => store.snapshot(), report, acl: false });
  expect(problems).toEqual([]);
});

test("of the same version it stays, and an older version's is built anew, too", async () => {
  await reopenWith(shorter);
  await expect.poll(() => find("cargo").catch(String)).toContain('"carts"');
  const kept = await indexesOf("text");
  await reopenWith(shorter);
  await engine.alter({ kind: "schema", text: "more: int .", runInBackground: false }, 0);
  expect(await indexesOf("text")).toEqual(kept);
  await reopenWith(fulltext);
  await expect.poll(() => find("cart").catch(String)).toBe('{"q":[{"text":"carts"}]}');
  expect((await indexesOf("text"))[0]).toMatchObject({ version: 1, state: "ready" });
});
