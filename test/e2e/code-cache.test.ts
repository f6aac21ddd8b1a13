/** Processes start with what V8 compiled when they were built, and without it as well (decision 0163). */
import { execFileSync } from "node:child_process";
import { copyFileSync, cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { afterAll, beforeEach, expect, test } from "vitest";
import { cleanUp, makeFolder, post, root, startServer } from "./server.ts";

const { version, platform, arch } = process;
const place = join("dist", "code-cache", `${version}-${platform}-${arch}`);

/** Writes a line for each part: its file, and what became of its compiled code. */
const watcher = `
const vm = require("node:vm");
const { appendFileSync } = require("node:fs");
const { basename } = require("node:path");
vm.Script = class extends vm.Script {
  constructor(source, options) {
    super(source, options);
    const { cachedDataRejected } = this;
    const end = { undefined: "absent", false: "taken", true: "refused" }[cachedDataRejected];
    appendFileSync(process.env.SEEN, basename(options.filename) + " " + end + "\\n");
  }
};
`;

let folder: string;
let seen: string;
let env: Record<string, string>;
beforeEach(() => {
  folder = makeFolder();
  seen = join(folder, "seen");
  writeFileSync(join(folder, "watch.cjs"), watcher);
  env = { SEEN: seen, NODE_OPTIONS: `--require ${join(folder, "watch.cjs")}` };
});
afterAll(cleanUp);

/** As often as there were such processes, in the order of the alphabet. */
function readSeen(): string[] {
  return readFileSync(seen, "utf8").trim().split("\n").sort();
}

test("each process of a server takes it, under the flags that it has here", async () => {
  const dataDir = join(folder, "data");
  const server = await startServer({ dataDir, env, flags: ["--workers", "2"] });
  await server.stop();
  expect(readSeen()).toEqual(["child.cjs taken", "child.cjs taken", "serve.cjs taken"]);
});

/** What `weft version` does with such a file. */
function runWith(cache: Buffer | undefined): { readonly said: string; readonly seen: string[] } {
  for (const name of ["bin", "package.json"]) {
    cpSync(join(root, name), join(folder, name), { recursive: true });
  }
  mkdirSync(join(folder, place), { recursive: true });
  for (const name of ["main.cjs", "command.cjs"]) {
    copyFileSync(join(root, "dist", name), join(folder, "dist", name));
  }
  if (cache !== undefined) writeFileSync(join(folder, place, "command"), cache);
  const args = [join(folder, "bin", "weft"), "version"];
  const given = { encoding: "utf8", env: { ...process.env, ...env } } as const;
  return { said: execFileSync(process.execPath, args, given).trim(), seen: readSeen() };
}

const whole = readFileSync(join(root, place, "command"));
const { version: expected } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
  readonly version: string;
};

test("a command takes it", () => {
  expect(runWith(whole)).toEqual({ said: expected, seen: ["command.cjs taken"] });
});

test.each([
  ["is missing", undefined],
  ["is empty", Buffer.alloc(0)],
  ["ends early", whole.subarray(0, whole.length >> 1)],
  ["has a changed bit", flipBit(whole, whole.length >> 1)],
  ["is of another program", flipBit(whole, 0)],
])("a command does without one that %s", (_how, cache) => {
  expect(runWith(cache)).toEqual({ said: expected, seen: ["command.cjs absent"] });
});

test("a command does without one of another V8", () => {
  // V8's own header: a number for the format, then one for the version.
  const foreign = flipBit(whole, 8 + 4);
  foreign.writeUInt32LE(crc32(foreign.subarray(8)), 4);
  expect(runWith(foreign)).toEqual({ said: expected, seen: ["command.cjs refused"] });
});

function flipBit(file: Buffer, at: number): Buffer {
  const flipped = Buffer.from(file);
  flipped.writeUInt8(flipped.readUInt8(at) ^ 1, at);
  return flipped;
}

test("letters beyond ASCII mean the same in a process as in a thread", async () => {
  const server = await startServer({ dataDir: join(folder, "letters"), flags: ["--workers", "1"] });
  await post(`${server.url}/alter`, "name: string @index(fulltext) @lang .");
  const rdf = { "content-type": "application/rdf" };
  await post(`${server.url}/mutate?commitNow=true`, '{ set { _:a <name> "Häuser"@de . } }', rdf);
  const dql = { "content-type": "application/dql" };
  const query = '{ q(func: alloftext(name@de, "Hausern")) { name@de } }';
  const { json } = await post(`${server.url}/query`, query, dql);
  expect(json["data"]).toEqual({ q: [{ "name@de": "Häuser" }] });
  await server.stop();
});
