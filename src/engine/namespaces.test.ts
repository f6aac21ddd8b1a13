// Goal: namespaces get numbers of their own, and quotas are held to by what is counted.
import { afterEach, describe, expect, test } from "vitest";
import { anyPrincipal } from "../model/principal.ts";
import { openMemoryStore } from "../stores/open.ts";
import { deriveFill } from "../write/fill.ts";
import { type OpenEngine, openEngine } from "./open.ts";

const open: OpenEngine[] = [];
afterEach(async () => {
  for (const engine of open.splice(0)) await engine.close();
});

async function openTwo(): Promise<readonly [OpenEngine, OpenEngine]> {
  const store = openMemoryStore({ derive: deriveFill });
  const first = await openEngine({ store });
  const second = await openEngine({ store, resumes: false });
  open.push(first, second);
  return [first, second];
}

const set = (engine: OpenEngine, namespace: number, text: string): Promise<unknown> =>
  engine.mutate({
    namespace,
    principal: { ...anyPrincipal, namespace },
    body: { kind: "rdf", text },
    startTs: 0,
    commitNow: true,
    timeoutMs: 0,
  });

test("namespaces that are made at the same time are several, in one process and in two", async () => {
  const [first, second] = await openTwo();
  const made = await Promise.all(
    [first, second, first, second].map((engine) => engine.createNamespace()),
  );
  expect(new Set(made).size).toBe(4);
  expect(new Set(await first.namespaces())).toEqual(new Set([0, ...made]));
});

describe("quotas", () => {
  test("hold in every process, for what is set; the server's own writes have none", async () => {
    const [first, second] = await openTwo();
    const namespace = await first.createNamespace();
    await first.quotas.change(namespace, { facts: 3, bytes: undefined, requests: undefined });
    await set(first, namespace, '{ set { _:a <n> "1" .\n_:a <m> "1" . } }');
    const { facts, bytes } = await first.countNamespace(namespace);
    expect(facts).toBe(2);
    await first.quotas.noteUsage(namespace, { facts, bytes, countedMs: 0 });
    await second.quotas.refresh();
    for (const engine of [first, second]) {
      const refused = set(engine, namespace, '{ set { _:a <n> "1" .\n_:a <m> "1" . } }');
      await expect(refused).rejects.toThrow(
        `namespace ${namespace} has a quota of 3 facts: it holds 2, and this request sets 2 (setNamespaceQuota facts)`,
      );
    }
    await set(second, namespace, "{ delete { <0x1> <n> * . } }");
    await set(second, 0, '{ set { _:a <n> "1" .\n_:a <m> "1" . } }');
    await first.quotas.change(namespace, { facts: null, bytes: undefined, requests: undefined });
    await second.quotas.refresh();
    expect(second.quotas.table.size).toBe(0);
    await set(second, namespace, '{ set { _:a <n> "1" .\n_:a <m> "1" . } }');
  });

  test("a transaction is measured as a whole", async () => {
    const [engine] = await openTwo();
    const namespace = await engine.createNamespace();
    await engine.quotas.change(namespace, { facts: 10, bytes: undefined, requests: undefined });
    await engine.quotas.noteUsage(namespace, { facts: 0, bytes: 0, countedMs: 0 });
    const write = (startTs: number): ReturnType<OpenEngine["mutate"]> =>
      engine.mutate({
        namespace,
        principal: { ...anyPrincipal, namespace },
        body: { kind: "rdf", text: `{ set { ${'_:a <n> "1" .\n'.repeat(6)} } }` },
        startTs,
        commitNow: false,
        timeoutMs: 0,
      });
    const { startTs } = await write(0);
    await expect(write(startTs)).rejects.toThrow("it holds 0, and this request sets 12");
  });

  test("long lists, wide values, languages and edges are counted fact by fact, and again when they are gone", async () => {
    const [engine] = await openTwo();
    const namespace = await engine.createNamespace();
    const text = "to: [uid] @reverse @count .\nname: string @lang @index(term) .\nlist: [string] .";
    await engine.alter({ kind: "schema", text, runInBackground: false }, namespace);
    const facts = [
      ...Array.from({ length: 3000 }, (_, i) => `<0x1> <to> <0x${(i + 2).toString(16)}> .`),
      ...["a", "b", "c"].map((value) => `<0x1> <list> "${value}" .`),
      `<0x2> <name> "${"wide ".repeat(2000)}" .`,
      '<0x2> <name> "n"@en .',
    ];
    await set(engine, namespace, `{ set { ${facts.join("\n")} } }`);
    const full = await engine.countNamespace(namespace);
    expect(full.facts).toBe(3005);
    expect(full.bytes).toBeGreaterThan(10_000);
    await set(engine, namespace, "{ delete { <0x1> <to> * .\n<0x2> <name> * . } }");
    const less = await engine.countNamespace(namespace);
    expect(less.facts).toBe(3);
    expect(less.bytes).toBeLessThan(full.bytes / 2);
    await engine.deleteNamespace(namespace);
    expect(await engine.namespaces()).toEqual([0]);
  });
});
