// Goal: the rules of the project hold, and the checks that keep them find a planted fault.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { redraw } from "./draw.ts";
import { findTwoMeanings, findUnusedExports } from "./exports.ts";
import { layers } from "./layers.ts";
import { findCasts } from "./casts.ts";
import { bannedWords, castLimits, hotFiles, sizeLimits } from "./code-rules.ts";
import { findMessageReaders, messageReaders } from "./messages.ts";
import { findNonNull } from "./non-null.ts";
import {
  findDeadFiles,
  findLayerFaults,
  findLengthFaults,
  findNameFaults,
  findSideEntrances,
  findTableFaults,
  findWordFaults,
} from "./tidy.ts";

const root = join(import.meta.dirname, "..");
const src = join(root, "src");

/** What an engine does to files, and what each engine has to do alike. */
const engineTests = ["crash", "contract"].map((folder) => join(root, "test", folder));

describe("this project", () => {
  test("the table of layers is written bottom-up", () =>
    expect(findTableFaults(layers)).toEqual([]));
  test("imports go down, through interfaces", () =>
    expect(findLayerFaults(src, layers)).toEqual([]));
  test("engines of stores are named by their own tests alone", () => {
    const faults = [src, join(root, "test"), join(root, "bench"), join(root, "tools")].flatMap(
      (folder) => findSideEntrances(src, layers, folder, engineTests),
    );
    expect(faults).toEqual([]);
  });
  test("files and functions stay under their limits", () =>
    expect(findLengthFaults(src, sizeLimits)).toEqual([]));
  test("no banned words", () => expect(findWordFaults(src, bannedWords)).toEqual([]));
  test("files are named for what they hold", () => expect(findNameFaults(src)).toEqual([]));
  test("what is exported is imported somewhere", () => {
    const others = ["test", "tools", "bench"].map((folder) => join(root, folder));
    // Called by its name in the text of a thread's first line.
    const called = "lambda/runner/runner.ts: nobody imports startRunner";
    expect(findUnusedExports(src, others)).toEqual([called]);
  });
  test("errors are known by type or code, not by their words", () =>
    expect(findMessageReaders(src, messageReaders)).toEqual([]));
  test("what is said to be there without a look is in hot files", () =>
    expect(findNonNull(src, hotFiles)).toEqual([]));
  test("no module has more casts than it had", () =>
    expect(findCasts(src, castLimits)).toEqual([]));
  test("an exported name has one meaning", () => expect(findTwoMeanings(src)).toEqual([]));
  test("every file is reached", () =>
    expect(findDeadFiles(src, [join(root, "test"), join(root, "bench")])).toEqual([]));
});

const made: string[] = [];
afterAll(() => {
  for (const folder of made) rmSync(folder, { recursive: true, force: true });
});

function plant(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), "weft-tidy-"));
  made.push(folder);
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}

describe("planted faults", () => {
  const table = { low: { below: [] }, high: { below: ["low"], outside: ["node:fs"] } };

  test("a table with a cycle", () => {
    const faults = findTableFaults({ a: { below: ["b"] }, b: { below: ["a"] } });
    expect(faults).toEqual(["a names b, which is not below it"]);
  });

  test("an import that goes up, one past an interface, and an unknown package", () => {
    const folder = plant({
      "low/a.ts": 'import { b } from "../high/b.ts";\n',
      "high/b.ts": 'import { c } from "../low/inner/c.ts";\nexport const b = c;\n',
      "high/d.ts": 'import fs from "node:fs";\nimport net from "node:net";\n',
      "high/e.ts": 'const child = new URL("../attic/f.ts", import.meta.url);\n',
      "low/inner/c.ts": "export const c = 1;\n",
      "cellar/x.ts": "export const x = 1;\n",
    });
    expect(findLayerFaults(folder, table)).toEqual([
      "cellar/x.ts: cellar is not in the table of layers",
      "high/b.ts: low/inner/c.ts is not in the interface of low",
      "high/d.ts: high may not import node:net",
      "high/e.ts: high may not import attic (attic/f.ts)",
      "low/a.ts: low may not import high (high/b.ts)",
    ]);
  });

  test("a file that a module does not show", () => {
    const named = {
      low: { below: [], interface: ["open.ts", "plain.ts"] },
      middle: { below: ["low"], through: { low: ["plain.ts"] } },
      high: { below: ["low"] },
    };
    const folder = plant({
      "low/open.ts": 'export { e } from "./engine.ts";\n',
      "low/plain.ts": "export const p = 1;\n",
      "low/engine.ts": "export const e = 1;\n",
      "low/engine.test.ts": 'import { e } from "./engine.ts";\n',
      "middle/a.ts": 'import { e } from "../low/open.ts";\nimport { p } from "../low/plain.ts";\n',
      "high/a.ts": 'import { e } from "../low/open.ts";\nconst f = import("../low/engine.ts");\n',
      "high/a.test.ts": 'import { e } from "../low/engine.ts";\n',
    });
    expect(findLayerFaults(folder, named)).toEqual([
      "high/a.ts: low/engine.ts is not in the interface of low",
      "middle/a.ts: middle enters low by plain.ts",
    ]);
    expect(findSideEntrances(folder, named, folder, [join(folder, "elsewhere")])).toEqual([
      "high/a.test.ts: low/engine.ts is not in the interface of low",
      "high/a.ts: low/engine.ts is not in the interface of low",
    ]);
    expect(findSideEntrances(folder, named, folder, [join(folder, "high")])).toEqual([]);
  });

  test("a long function, a long method with a broken head, a long file", () => {
    const body = "    x();\n".repeat(8);
    const folder = plant({
      "a.ts": `export async function long(a: string): Promise<void> {\n${body}}\n`,
      "b.ts": `class B {\n  #method(\n    a: string,\n  ): void {\n${body}  }\n}\n`,
      "c.ts": "x();\n".repeat(30),
      "d.ts": `export function short(): void {\n  x();\n}\n${"// more\n".repeat(12)}`,
      "e.ts": `const told = () => {\n  x(\`${"\nflush left".repeat(8)}\`);\n};\n`,
    });
    const tight = { fileLinesMax: 20, functionLinesMax: 8, exceptions: {} };
    expect(findLengthFaults(folder, tight)).toEqual([
      "a.ts:long has 10 lines",
      "b.ts:method has 12 lines",
      "c.ts has 31 lines",
      "e.ts:told has 11 lines",
    ]);
    const named = {
      ...tight,
      exceptions: {
        "a.ts:long": "",
        "b.ts:method": "",
        "c.ts": "",
        "d.ts": "",
        "e.ts:told": "",
      },
    };
    expect(findLengthFaults(folder, named)).toEqual(["d.ts needs no exception"]);
  });

  test("banned words, outside their modules only", () => {
    const folder = plant({
      "base/clock.ts": "export const now = Date.now;\n",
      "exec/run.ts": "const a = Date.now();\nconst b = Math.random();\n",
      "graph/read.ts": "console.log(process.env.HOME); // TODO\n",
    });
    expect(findWordFaults(folder, bannedWords)).toEqual([
      "exec/run.ts:1: ask a Clock for the time",
      "exec/run.ts:2: ask a Random for chance",
      "graph/read.ts:1: do it, or write an issue",
      "graph/read.ts:1: settings come from cli/config.ts",
      "graph/read.ts:1: tell a Logger",
    ]);
  });

  test("an error that is known by its words", () => {
    const folder = plant({
      "a.ts":
        'export function one(error: Error): boolean {\n  return error.message.startsWith("no");\n}\n' +
        "export function two(message: string): boolean {\n  return /no/.test(message);\n}\n" +
        'const three = (error: Error) => error.message === "no";\n',
      "b.ts":
        'export function cut(error: Error) {\n  const text = error.message.slice(2);\n  return text === "no";\n}\n' +
        "export function has(message?: string) {\n  return message !== undefined;\n}\n",
      "c.ts": 'export function named(error: Error) {\n  return error.message.includes("no");\n}\n',
    });
    expect(findMessageReaders(folder, { "c.ts:named": "", "c.ts:gone": "" })).toEqual([
      "a.ts:2: one knows an error by its message",
      "a.ts:5: two knows an error by its message",
      "a.ts:7: it knows an error by its message",
      "b.ts:3: cut knows an error by its message",
      "c.ts:gone looks into no message",
    ]);
  });

  test("a value that is said to be there without a look", () => {
    const folder = plant({
      "low/a.ts": "export const a = [1][0]!;\n",
      "low/b.ts": "export const b = [1][0]! + [2][0]!;\n",
      "low/b.test.ts": "export const b = [1][0]!;\n",
    });
    expect(findNonNull(folder, { "low/b.ts": 2 })).toEqual([
      'low/a.ts has 1 of "!", and may have 0',
    ]);
    expect(findNonNull(folder, { "low/a.ts": 2, "low/b.ts": 1 })).toEqual([
      'low/a.ts has 1 of "!": its row may say so',
      'low/b.ts has 2 of "!", and may have 1',
    ]);
  });

  test("a value whose type is claimed without a look", () => {
    const folder = plant({
      "low/a.ts": "export const a = JSON.parse('1') as number;\n",
      "low/b.ts": "export const b = [1] as const;\nexport const c = <string>JSON.parse('2');\n",
      "low/b.test.ts": "export const b = JSON.parse('1') as number;\n",
      "top/c.ts": "export const d = 1 as unknown as string;\n",
    });
    expect(findCasts(folder, { top: 2 })).toEqual(["low has 2 casts, and may have 0"]);
    expect(findCasts(folder, { low: 2, top: 3, gone: 1 })).toEqual([
      "gone has 0 casts: its row may say so",
      "top has 2 casts: its row may say so",
    ]);
  });

  test("names that say nothing", () => {
    const folder = plant({ "a/utils.ts": "", "a/readRecord.ts": "", "a/read-record.test.ts": "" });
    expect(findNameFaults(folder).map((fault) => fault.split(":")[0])).toEqual([
      "a/readRecord.ts",
      "a/utils.ts",
    ]);
  });

  test("an export that nobody imports, a name with two meanings", () => {
    const folder = plant({
      "src/a.ts":
        "export const used = 1;\nexport function dead(): void {}\nexport type Thing = 1;\n",
      "src/b.ts":
        'import { used } from "./a.ts";\nexport interface Thing {}\nexport const c = used;\n',
      "src/b.test.ts": 'import type { Thing } from "./b.ts";\nexport const alone: Thing = {};\n',
      "test/x.ts": 'const { c } = await import("../src/b.ts");\n',
    });
    expect(findUnusedExports(join(folder, "src"), [join(folder, "test")])).toEqual([
      "a.ts: nobody imports Thing",
      "a.ts: nobody imports dead",
    ]);
    expect(findTwoMeanings(join(folder, "src"))).toEqual(["Thing: a.ts, b.ts"]);
  });

  test("a file that nothing reaches", () => {
    const folder = plant({
      "main.ts": 'import { a } from "./a/a.ts";\nnew Worker(new URL("./a/child.ts", base));\n',
      "a/a.ts": "export const a = 1;\n",
      "a/child.ts": "export const child = 1;\n",
      "a/dead.ts": 'import { a } from "./a.ts";\n',
    });
    expect(findDeadFiles(folder, [])).toEqual(["a/dead.ts"]);
  });
});

test("the drawing of the layers is the table's", () => {
  const file = join(root, "docs", "ARCHITECTURE.md");
  if (process.env["WEFT_DRAW"] === "1") writeFileSync(file, redraw(readFileSync(file, "utf8")));
  const document = readFileSync(file, "utf8");
  const words = (text: string): string => text.replaceAll(/[\s-]+/g, " ");
  expect(words(document)).toBe(words(redraw(document)));
});
