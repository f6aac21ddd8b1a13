/**
 * Where each process of Weft begins: loads the part of the program that it is, a file each, with what V8 compiled of it when
 * it was built (decision 0163). Where that does not fit, or is damaged, the part is compiled anew.
 */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { Script } from "node:vm";
import { decodeCodeCache, encodeCodeCache } from "./code-cache.ts";
import { withoutHeapFlags } from "./heap-flags.ts";

/** As a build writes it: a function of what a module in CommonJS is given. */
type Wrapped = (
  exports: object,
  require: NodeJS.Require,
  module: { exports: object },
  file: string,
  folder: string,
) => void;

/** Is there in a process that makes the caches (`bin/record-code.cjs`), and calls back when it ends. */
type Recorder = (part: string, encode: () => Uint8Array) => void;

declare global {
  var recordCode: Recorder | undefined;
}

const { version, platform, arch } = process;
const caches = join(__dirname, "code-cache", `${version}-${platform}-${arch}`);

load(choosePart(process.argv.slice(2)));

function choosePart([command, role]: readonly string[]): string {
  if (command === "serve") return "serve";
  if (command !== "__child") return "command";
  return role === "lambda" || role === "backup" || role === "snapshot" ? "beside" : "child";
}

function load(part: string): void {
  const file = join(__dirname, `${part}.cjs`);
  const run: Wrapped = compile(part, file).runInThisContext();
  const module = { exports: {} };
  run(module.exports, createRequire(file), module, file, __dirname);
}

function compile(part: string, filename: string): Script {
  const bytes = readFileSync(filename);
  const cachedData = readCache(join(caches, part), bytes);
  const options = cachedData === undefined ? { filename } : { filename, cachedData };
  // Not all of it is ASCII: esbuild leaves regular expressions as they are written.
  const script = withoutHeapFlags(() => new Script(bytes.toString("utf8"), options));
  globalThis.recordCode?.(part, () => {
    return encodeCodeCache(
      bytes,
      withoutHeapFlags(() => script.createCachedData()),
    );
  });
  return script;
}

/** A checkout may have been built by another Node, and a package has none: both start as well, a little later. */
function readCache(path: string, program: Buffer): Buffer | undefined {
  try {
    return decodeCodeCache(readFileSync(path), program);
  } catch {
    return undefined;
  }
}
