// Goal: the files of an export are whole or not there, and one that was ended goes on where it stood.
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { systemClock } from "../base/clock.ts";
import { openEngine, type OpenEngine } from "../engine/open.ts";
import { openMemoryStore } from "../stores/open.ts";
import type { Store } from "../store/store.ts";
import { deriveFill } from "../write/fill.ts";
import { exportToFiles, exportToObjects, type ExportFormat, type ExportOptions } from "./export.ts";
import type { ObjectPlace } from "./packed-object.ts";

const folder = mkdtempSync(join(tmpdir(), "weft-export-"));
let store: Store;
let engine: OpenEngine;

beforeAll(async () => {
  store = openMemoryStore({ derive: deriveFill });
  engine = await openEngine({ store, clock: systemClock });
  const text = "n: int @index(int) .\nlinks: [uid] @reverse .\nsecret: password .";
  await engine.alter({ kind: "schema", text, runInBackground: false }, 0);
  const lines = Array.from({ length: 1000 }, (_, i) => {
    const [uid, next] = [i + 1, ((i + 1) % 1000) + 1].map((n) => `<0x${n.toString(16)}>`);
    return `${uid} <n> "${i}" .\n${uid} <links> ${next} .`;
  });
  lines.push('<0x5> <secret> "$2a$10$abcdefghijklmnopqrstuv"^^<xs:password> .');
  await mutate(lines.join("\n"));
});
afterAll(async () => {
  await engine.close();
  await store.close();
  rmSync(folder, { recursive: true, force: true });
});

async function mutate(facts: string): Promise<void> {
  const body = { kind: "rdf", text: `{ set {\n${facts}\n} }` } as const;
  await engine.mutate({ namespace: 0, body, startTs: 0, commitNow: true, timeoutMs: 0 });
}

let folders = 0;
const makeDir = (): string => join(folder, String(++folders));

/** Ends by an error at the call of `onProgress` with this number. */
async function run(
  dir: string,
  format: ExportFormat,
  endAt = Infinity,
): Promise<{ said: string[]; facts: number; calls: number }> {
  const snapshot = await store.snapshot();
  const said: string[] = [];
  let calls = 0;
  const options: ExportOptions = {
    snapshot,
    storeId: "a store",
    dir,
    format,
    namespaces: [0],
    say: (line) => void said.push(line),
    onProgress: () => {
      if (++calls >= endAt) throw new Error("the power went");
    },
    pieceBytes: 2048,
    markMs: 0,
  };
  try {
    const { facts } = await exportToFiles(options);
    return { said, facts, calls };
  } finally {
    snapshot.close();
  }
}

const readPacked = (dir: string, name: string): string =>
  gunzipSync(readFileSync(join(dir, name))).toString();

describe.each(["rdf", "json"] as const)("as %s", (format) => {
  const name = `g01.${format}.gz`;

  test("one that was ended goes on, and gives what a whole one does", async () => {
    const whole = makeDir();
    const { facts, calls } = await run(whole, format);
    expect([facts, calls > 10]).toEqual([2001, true]);
    const dir = makeDir();
    await expect(run(dir, format, 8)).rejects.toThrow("the power went");
    expect(readdirSync(dir)).toContain("export.partial.json");
    expect(existsSync(join(dir, name))).toBe(false);
    await expect(run(dir, format, 5)).rejects.toThrow("the power went");
    const last = await run(dir, format);
    expect(last.said).toEqual(["going on where an export was ended"]);
    expect([last.facts, last.calls < calls - 8]).toEqual([2001, true]);
    expect(readPacked(dir, name)).toBe(readPacked(whole, name));
    expect(readdirSync(dir).sort()).toEqual(readdirSync(whole).sort());
    if (format === "json") expect(readPacked(dir, "g01.rdf.gz")).toContain("xs:password");
  });

  test("when the store has moved on it is begun anew, at one commit", async () => {
    const dir = makeDir();
    await expect(run(dir, format, 8)).rejects.toThrow("the power went");
    await mutate('<0x1> <n> "77" .');
    const { said } = await run(dir, format);
    expect(said).toEqual([`${dir} has a part of another export: it is begun anew`]);
    const whole = makeDir();
    await run(whole, format);
    expect(readPacked(dir, name)).toBe(readPacked(whole, name));
  });
});

test("a directory with an export is not written over", async () => {
  const dir = makeDir();
  await run(dir, "rdf");
  await expect(run(dir, "rdf")).rejects.toThrow(/g01\.rdf\.gz is there already/);
});

test("of objects the facts in JSON come last: where they are, all is", async () => {
  const finished: string[] = [];
  const exportAll = async (failing?: string): Promise<unknown> => {
    finished.length = 0;
    const place: ObjectPlace = {
      sizeOf: async () => undefined,
      upload: (name) => ({
        write: async () => {},
        finish: async () => {
          if (name === failing) throw new Error("the bucket went");
          finished.push(name);
        },
        abandon: async () => {},
      }),
    };
    const snapshot = await store.snapshot();
    const source = { snapshot, storeId: "a store", namespaces: [0], onProgress() {} };
    return exportToObjects({ ...source, format: "json" }, place).finally(() => snapshot.close());
  };
  await exportAll();
  expect(finished).toHaveLength(4);
  expect(finished.slice(-2)).toEqual(["g01.rdf.gz", "g01.json.gz"]);
  await expect(exportAll("g01.rdf.gz")).rejects.toThrow("the bucket went");
  expect(finished).not.toContain("g01.json.gz");
});
