// Goal: uids beyond 2^53 (decision 0002) name nodes that do not exist; each prints as itself, in order.
import { expect, test } from "vitest";
import { askEngine } from "../../test/support/ask-engine.ts";
import { openMemoryStore } from "../stores/open.ts";
import { openEngine } from "./open.ts";

async function ask(text: string): Promise<string> {
  const engine = await openEngine({ store: openMemoryStore() });
  return askEngine(engine, text);
}

test.each([
  ["neighbours", ["0x20000000000000", "0x20000000000001", "0x20000000000002"]],
  ["the largest", ["0xfffffffffffffffd", "0xfffffffffffffffe", "0xffffffffffffffff"]],
  ["beside small ones", ["0x1", "0x1fffffffffffff", "0x20000000000001", "0x20000000000003"]],
])("%s", async (_name, uids) => {
  const list = JSON.stringify(uids.map((uid) => ({ uid })));
  expect(await ask(`{ q(func: uid(${uids.toReversed().join(", ")})) { uid } }`)).toBe(
    `{"q":${list}}`,
  );
});

test("one that is named twice is one", async () => {
  const text = `{ v as var(func: uid(0x20000000000001, 9007199254740993)) q(func: uid(v)) { uid } }`;
  expect(await ask(text)).toBe('{"q":[{"uid":"0x20000000000001"}]}');
});
