/** Goal: what `weft check` says of a store is so. */
import { expect, test } from "vitest";
import { systemClock } from "../base/clock.ts";
import { checkGraph } from "../graph/check.ts";
import { openMemoryStore } from "../stores/open.ts";
import { deriveFill } from "../write/fill.ts";
import { openEngine } from "./open.ts";

test("values of one node in several languages may share a token, in lists of any length", async () => {
  const store = openMemoryStore({ clock: systemClock, derive: deriveFill });
  const engine = await openEngine({ store });
  const schema = "name: string @index(hash, term, exact) @lang .";
  await engine.alter({ kind: "schema", text: schema, runInBackground: false }, 0);
  const facts = Array.from({ length: 3000 }, (_, i) =>
    ["en", "de", "fr"].map((tag) => `<${i + 1}> <name> "same"@${tag} .`).join("\n"),
  );
  const body = { kind: "rdf", text: `{ set {\n${facts.join("\n")}\n} }` } as const;
  await engine.mutate({ namespace: 0, body, startTs: 0, commitNow: true, timeoutMs: 0 });
  const problems: string[] = [];
  const seen = await checkGraph({
    open: () => store.snapshot(),
    report: (problem) => problems.push(problem),
  });
  expect(problems).toEqual([]);
  expect(seen.nodes).toBe(3000);
  await engine.close();
  await store.close();
});
