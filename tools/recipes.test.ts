// Goal: the recipes of CONTRIBUTING.md are true. Their patches fit the sources, what they add works, and the files that
// they list are those that there are.
import { execFileSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import { afterAll, describe, expect, test } from "vitest";
import { applyPatch, readRecipes } from "./recipes.ts";

const root = join(import.meta.dirname, "..");
const recipes = readRecipes(readFileSync(join(root, "CONTRIBUTING.md"), "utf8"));

const openEngine = `
import { openEngine } from "./src/engine/open.ts";
import { queryDefaults } from "./src/engine/engine.ts";
import { openMemoryStore } from "./src/stores/open.ts";
import { deriveFill } from "./src/write/fill.ts";
const engine = await openEngine({ store: openMemoryStore({ derive: deriveFill }) });
const alter = (text) => engine.alter({ kind: "schema", text, runInBackground: false }, 0);
const write = (...facts) =>
  engine.mutate({
    namespace: 0, body: { kind: "rdf", text: ["{ set {", ...facts, "} }"].join("\\n") }, startTs: 0, commitNow: true, timeoutMs: 0,
  });
const ask = async (text) =>
  JSON.parse(new TextDecoder().decode((await engine.query({ ...queryDefaults, namespace: 0, text })).data));
`;

const openService = `${openEngine}
import { systemClock } from "./src/base/clock.ts";
import { openGraphqlService } from "./src/graphql/service/open-service.ts";
const graphql = openGraphqlService({ engine, clock: systemClock, extensions: false });
const request = (body) => ({
  kind: "graphql", body, headers: {}, remoteAddress: "127.0.0.1", timeoutMs: 0,
});
const read = ({ body }) => JSON.parse(new TextDecoder().decode(body));
`;

/** A program for each recipe: what it prints as JSON, and what that has to be. */
const proofs: Readonly<Record<string, { readonly program: string; readonly shows: unknown }>> = {
  "A tokenizer": {
    program: `${openEngine}
      import { tokensOf } from "./src/tokens/tokenizers.ts";
      await alter("name: string @index(casefold) .");
      await write('_:a <name> "Ann" .', '_:b <name> "Bob" .');
      const tokens = tokensOf("casefold", { kind: "string", text: "Ann" }, "");
      const { q } = await ask('{ q(func: eq(name, "Ann")) { name } }');
      const { schema } = await ask("schema(pred: name) { tokenizer }");
      print({ tokens: tokens.map((token) => new TextDecoder().decode(token)), q, schema });`,
    shows: {
      tokens: ["ann"],
      q: [{ name: "Ann" }],
      schema: [{ predicate: "name", tokenizer: ["casefold"] }],
    },
  },
  "A DQL function": {
    program: `${openEngine}
      await alter("name: string .");
      await write('_:a <name> "Anna" .', '_:b <name> "Hanna" .', '_:c <name> "Bob" .');
      const text = (beginning) => '{ q(func: startswith(name, "' + beginning + '")) { name } }';
      const root = await ask(text("An"));
      const filter = await ask('{ q(func: has(name), orderasc: name) @filter(not startswith(name, "An")) { name } }');
      const lines = (await engine.query({
        ...queryDefaults, namespace: 0, text: text("Bo"), plan: { kind: "explain", form: "text" },
      })).report;
      print({ root: root.q, filter: filter.q, explained: JSON.parse(lines).includes('root set: startswith name "Bo"') });`,
    shows: {
      root: [{ name: "Anna" }],
      filter: [{ name: "Bob" }, { name: "Hanna" }],
      explained: true,
    },
  },
  "A directive of the GraphQL schema": {
    program: `${openService}
      await graphql.updateSchema(0, "type Note { id: ID! text: String @trimmed plain: String }");
      const mutation = 'mutation { addNote(input: { text: "  a b ", plain: " c " }) { note { text plain } } }';
      const { data } = read(await graphql.handle(request(mutation)));
      let refusal = "";
      try {
        await graphql.updateSchema(0, "type Note { id: ID! n: Int @trimmed }");
      } catch (error) {
        refusal = error.message;
      }
      print({ notes: data.addNote.note, refusal });`,
    shows: {
      notes: [{ text: "a b", plain: " c " }],
      refusal: expect.stringContaining("@trimmed directive only applies to fields of type String."),
    },
  },
  "An administration operation": {
    program: `${openService}
      import { openKeyRing } from "./src/auth/key-ring.ts";
      import { initialSwitches } from "./src/admin/controls.ts";
      import { openAdminService } from "./src/admin/service.ts";
      import { anyPrincipal } from "./src/model/principal.ts";
      const clock = { ...systemClock, nowMs: () => 0 };
      const none = async () => [];
      const admin = openAdminService({
        graphql, clock, keys: openKeyRing({ rows: engine.systemRows, clock }), acl: false,
        controls: { switches: initialSwitches, turn: none, shutdown: none }, health: none, state: none, leaseUids: none,
      });
      print(read(await admin.handle(request("{ now }"), anyPrincipal)));`,
    shows: { data: { now: "1970-01-01T00:00:00.000Z" } },
  },
  "A storage engine": {
    program: `
      import { makeSeededRandom } from "./src/base/random.ts";
      import { describeStore } from "./src/store/contract.ts";
      import { openArrayStore } from "./src/stores/open.ts";
      const tests = [];
      const runner = { describe: (_name, body) => body(), it: (name, body) => tests.push({ name, body }) };
      const open = async (derive) => openArrayStore(derive);
      describeStore(runner, { name: "array", open, random: makeSeededRandom, rounds: 1 });
      for (const { body } of tests) await body();
      print({ engine: openArrayStore().describe().engine, hasRun: tests.length > 10 });`,
    shows: { engine: "array", hasRun: true },
  },
};

const made: string[] = [];
afterAll(() => {
  for (const folder of made) rmSync(folder, { recursive: true, force: true });
});

function copySources(): string {
  const folder = mkdtempSync(join(tmpdir(), "weft-recipe-"));
  made.push(folder);
  const filter = (path: string): boolean => !path.endsWith(".test.ts");
  cpSync(join(root, "src"), join(folder, "src"), { recursive: true, filter });
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  return folder;
}

/** Built as a release is (`tools/build.mjs`), and run by Node. */
async function run(folder: string, program: string): Promise<unknown> {
  const outfile = join(folder, "program.mjs");
  await build({
    stdin: {
      contents: `${program}\nfunction print(value) { console.log(JSON.stringify(value)); process.exit(); }`,
      resolveDir: folder,
      loader: "ts",
    },
    outfile,
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node20",
    logLevel: "silent",
    external: ["lmdb", "bcrypt", "farmhash", "esbuild"],
    banner: {
      js: 'import { createRequire as makeRequire } from "node:module"; const require = makeRequire(import.meta.url);',
    },
  });
  return JSON.parse(execFileSync(process.execPath, [outfile], { encoding: "utf8" })) as unknown;
}

test("each recipe has a proof", () =>
  expect(recipes.map(({ title }) => title)).toEqual(Object.keys(proofs)));

describe.each(recipes)("$title", ({ title, files, patch }) => {
  test("the patch fits, and what it adds works", async () => {
    const folder = copySources();
    applyPatch(folder, patch);
    const proof = proofs[title];
    expect(await run(folder, proof?.program ?? "")).toEqual(proof?.shows);
  });

  test("its files are those of the patch and others that there are", () => {
    const added = new Set(patch.filter(({ isNew }) => isNew).map(({ file }) => file));
    expect(patch.map(({ file }) => file).filter((file) => !files.includes(file))).toEqual([]);
    expect(files.filter((file) => !added.has(file) && !existsSync(join(root, file)))).toEqual([]);
  });
});

test("a function touches two files: its own, and the table", () => {
  const patch = recipes.find(({ title }) => title === "A DQL function")?.patch ?? [];
  expect(patch.map(({ file, isNew }) => [file, isNew])).toEqual([
    ["src/exec/functions.ts", false],
    ["src/exec/functions/starts-with.ts", true],
  ]);
  // One that is there already is named by as many.
  const naming = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" })
    .map((name) => `src/${name}`)
    .filter((file) => /^src\/(?:dql|plan|exec)\//.test(file))
    .filter((file) => file.endsWith(".ts") && !file.endsWith(".test.ts"))
    .filter((file) => /"match"|^ {2}match[,:]/m.test(readFileSync(join(root, file), "utf8")));
  expect(naming.sort()).toEqual(["src/exec/functions.ts", "src/exec/functions/match.ts"]);
});

describe("patches", () => {
  const patchOf = (diff: string) =>
    readRecipes(`\n## Recipes\n\n### One\n\n\`\`\`diff\n${diff}\n\`\`\`\n`)[0]?.patch ?? [];
  const plant = (text: string): string => {
    const folder = mkdtempSync(join(tmpdir(), "weft-recipe-"));
    made.push(folder);
    writeFileSync(join(folder, "a.ts"), text);
    return folder;
  };
  const diff = "--- a.ts\n+++ a.ts\n@@\n one\n-two\n+2\n three";

  test("lines are exchanged, wherever they stand", () => {
    const folder = plant("zero\none\ntwo\nthree\n");
    applyPatch(folder, patchOf(diff));
    expect(readFileSync(join(folder, "a.ts"), "utf8")).toBe("zero\none\n2\nthree\n");
  });

  test("lines that are gone, and lines that are there twice", () => {
    expect(() => applyPatch(plant("one\nthree\n"), patchOf(diff))).toThrow("has not the lines");
    const twice = plant("one\ntwo\nthree\none\ntwo\nthree\n");
    expect(() => applyPatch(twice, patchOf(diff))).toThrow("has these lines twice");
  });
});
