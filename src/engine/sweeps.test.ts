/** Goal: what a drop leaves behind goes from the store in slices, between which other work runs. */
import { expect, test } from "vitest";
import { openMemoryStore } from "../stores/open.ts";
import type { Store } from "../store/store.ts";
import { openEngine } from "./open.ts";

test("other work runs between two slices", async () => {
  const store = openMemoryStore();
  let scheduler = 0;
  const seen: number[] = [];
  const watched: Store = {
    ...store,
    sweep: async (request) => {
      seen.push(scheduler);
      setImmediate(() => scheduler++);
      return await store.sweep(request);
    },
  };
  const engine = await openEngine({ store: watched });
  const text = Array.from({ length: 3000 }, (_, i) => `<${i + 1}> <name> "n" .`).join("\n");
  const body = { kind: "rdf", text: `{ set { ${text} } }` } as const;
  await engine.mutate({ namespace: 0, body, startTs: 0, commitNow: true, timeoutMs: 0 });
  await engine.alter({ kind: "dropPredicate", predicate: "name" }, 0);
  await expect.poll(() => seen.length, { timeout: 30_000 }).toBeGreaterThan(5);
  await engine.close();
  expect(seen.at(-1)).toBeGreaterThan(2);
});
