// Goal: keys open what they are for until they expire or are revoked, in every process, and their rows open nothing.
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Clock } from "../base/clock.ts";
import { openEngine, type OpenEngine } from "../engine/open.ts";
import type { Store } from "../store/store.ts";
import { openMemoryStore } from "../stores/open.ts";
import { hashKeyText, makeKeyText, readKeyId, scopesOfKind } from "./access-key.ts";
import { type KeyRing, openKeyRing } from "./key-ring.ts";

let now = 1_000_000;
const clock: Clock = { nowMs: () => now, tickMs: () => now };

let store: Store;
let engine: OpenEngine;
let ring: KeyRing;

beforeEach(async () => {
  now = 1_000_000;
  store = openMemoryStore();
  engine = await openEngine({ store });
  ring = openKeyRing({ rows: engine.systemRows, clock });
});
afterEach(() => engine.close());

/** The kind of a key that counts, else why it does not. */
async function worth(of: KeyRing, text: string): Promise<string> {
  const verdict = await of.judge(text);
  return typeof verdict === "string" ? verdict : verdict.kind;
}

const admin = { name: "ci", kind: "admin", expiryMs: Infinity } as const;
const client = { name: "shop", kind: "client", expiryMs: 2_000_000 } as const;

describe("a key", () => {
  test("is worth its kind, whatever the text of another says", async () => {
    const one = await ring.create(admin);
    const other = await ring.create(client);
    expect(await worth(ring, one.text)).toBe("admin");
    expect(await worth(ring, other.text)).toBe("client");
    expect(await ring.judge(other.text.replace("weft_client_", "weft_admin_"))).toBe("unknown");
    expect(await ring.judge(one.text.replace(one.key.id, other.key.id))).toBe("unknown");
  });

  test.each([
    "",
    "x",
    "weft_admin_",
    makeKeyText("admin"),
    "weft_admin_aaaaaaaaaa_" + "A".repeat(44),
  ])("%j is none", async (text) => expect(await ring.judge(text)).toBe("unknown"));

  test("differs from each other in every character of its secret's place by chance", () => {
    const texts = new Set(Array.from({ length: 100 }, () => makeKeyText("client")));
    expect(texts.size).toBe(100);
    for (const text of texts) expect(readKeyId(text)).toHaveLength(10);
  });

  test("one wrong character is wrong", async () => {
    const { text } = await ring.create(admin);
    const last = text.at(-1) === "A" ? "B" : "A";
    expect(await ring.judge(text.slice(0, -1) + last)).toBe("unknown");
    expect(await ring.judge(`${text} `)).toBe("unknown");
  });

  test("expires", async () => {
    const { text } = await ring.create(client);
    now = 1_999_999;
    expect(await worth(ring, text)).toBe("client");
    now = 2_000_000;
    expect(await ring.judge(text)).toBe("expired");
  });

  test("is listed without its secret and revoked for all", async () => {
    const { key, text } = await ring.create(client);
    now++;
    const { key: second } = await ring.create(admin);
    expect(await ring.list()).toEqual([key, second]);
    const neighbour = await openEngine({ store, resumes: false });
    const otherRing = openKeyRing({ rows: neighbour.systemRows, clock });
    expect(await worth(otherRing, text)).toBe("client");
    expect(await ring.revoke(key.id)).toEqual(key);
    expect(await otherRing.judge(text)).toBe("unknown");
    expect(await ring.revoke(key.id)).toBeUndefined();
    expect(await otherRing.list()).toEqual([second]);
    await neighbour.close();
  });

  test("stands in the store as its hash", async () => {
    const { key, text } = await ring.create(admin);
    const rows = await engine.systemRows.list("key/");
    const row = new TextDecoder().decode(rows.get(`key/${key.id}`));
    expect(row).toContain(hashKeyText(text).toString("base64"));
    expect(row).not.toContain(text.slice(-43));
  });

  test("survives drops, and no query sees it", async () => {
    const { text } = await ring.create(admin);
    await engine.alter({ kind: "dropData" }, 0);
    await engine.alter({ kind: "dropAll" }, 0);
    expect(await worth(ring, text)).toBe("admin");
    const schema = await engine.schema(0);
    expect(schema.predicates.filter(({ definition }) => /key/.test(definition.name))).toEqual([]);
  });

  test("has the scopes and the namespace that it was made with", async () => {
    const wish = { name: "page", kind: "scoped", expiryMs: Infinity } as const;
    const { key, text } = await ring.create({ ...wish, scopes: ["query", "graphql"] });
    expect(key).toMatchObject({ kind: "scoped", scopes: ["graphql", "query"] });
    expect(await ring.judge(text)).toEqual(key);
    expect(JSON.stringify(await ring.judge(text))).not.toContain("hash");
    const bound = await ring.create({ ...client, namespace: 7 });
    expect(bound.key).toMatchObject({ kind: "scoped", scopes: scopesOfKind("client") });
    expect(await ring.judge(bound.text)).toMatchObject({ namespace: 7 });
    // Releases without scopes do not know such a text, and let nobody in.
    expect([text, bound.text]).toEqual(Array(2).fill(expect.stringMatching(/^weft_scoped_/)));
  });

  test("that was stored before there were scopes opens what it opened", async () => {
    const text = makeKeyText("client");
    const id = readKeyId(text) ?? "";
    const hash = hashKeyText(text).toString("base64");
    const row = { id, name: "old", kind: "client", createdMs: 5, hash };
    await engine.systemRows.write(
      `key/${id}`,
      new TextEncoder().encode(JSON.stringify(row)),
      undefined,
    );
    expect(await ring.judge(text)).toMatchObject({
      kind: "client",
      scopes: ["graphql", "query", "mutate"],
      namespace: undefined,
      expiryMs: Infinity,
    });
  });

  test("of the server itself is stored nowhere", async () => {
    const text = makeKeyText("client");
    const own = openKeyRing({
      rows: engine.systemRows,
      clock,
      unstored: [{ text, kind: "client" }],
    });
    expect(await worth(own, text)).toBe("client");
    expect(await ring.judge(text)).toBe("unknown");
    expect(await own.list()).toEqual([]);
  });
});

test.each([
  { ...client, name: "" },
  { ...client, name: "a\nb" },
  { ...client, name: "x".repeat(101) },
  { ...client, expiryMs: 1_000_000 },
  { ...client, expiryMs: Number.NaN },
  { ...client, scopes: ["query"] as const },
  { ...client, namespace: -1 },
  { ...client, kind: "scoped" as const },
  { ...client, kind: "scoped" as const, scopes: [] },
])("no key is made of %j", async (wish) => {
  await expect(ring.create(wish)).rejects.toMatchObject({ name: "Fault" });
});
