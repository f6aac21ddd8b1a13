/**
 * A user's script → one text that a process can run: types removed, imports resolved, size checked
 * (reference/graphql 7.6, 7.5 rule 7).
 */
import { build, stop } from "esbuild";
import type { BuildFailure, BuildOptions, BuildResult } from "esbuild";
import { readFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { Fault } from "../model/fault.ts";
import { ScriptFault } from "./script-fault.ts";
import { SourcePlaces } from "./source-places.ts";

/** What a resolver's process is given: the runner, which knows the events, and the user's script. */
export interface LambdaCode {
  readonly runner: string;
  readonly script: string;
  /** For messages and traces. */
  readonly name: string;
  /** Where what is run stands in the files that it was made from. */
  readonly places: SourcePlaces;
  /** The script and all that it imports. */
  readonly files: readonly string[];
}

/** Throws a ScriptFault with what is wrong in the script, by file and line; E_STARTUP where there is none to read. */
export async function bundleScript(path: string, scriptBytesMax: number): Promise<LambdaCode> {
  compilations++;
  try {
    const text = await readScript(path);
    const { script, map, files } = await compile(path, text);
    const bytes = Buffer.byteLength(script);
    if (bytes > scriptBytesMax) {
      throw new Fault(
        "E_STARTUP",
        `${path}: the compiled script has ${bytes} bytes, the limit is ${scriptBytesMax} (script-bytes)`,
      );
    }
    const places = new SourcePlaces(path, map);
    return { runner: await compileRunner(), script, name: path, places, files };
  } finally {
    // The compiler is a process of its own, and needed no more.
    if (--compilations === 0) await stop();
  }
}

/** Under way in this process. */
let compilations = 0;

async function readScript(path: string): Promise<string> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    throw new Fault("E_STARTUP", `${path}: the script cannot be read`, { cause: error });
  }
  return fromBase64(text.trim()) ?? text;
}

/** A script may come in base64 (reference/graphql 7.4): it is one when encoding gives the same text again. */
function fromBase64(text: string): string | undefined {
  if (text === "" || !/^[A-Za-z0-9+/]+={0,2}$/.test(text)) return undefined;
  const bytes = Buffer.from(text, "base64");
  return bytes.toString("base64") === text ? bytes.toString("utf8") : undefined;
}

interface Compiled {
  readonly script: string;
  readonly map: string | undefined;
  readonly files: readonly string[];
}

/** Without Node's own modules: what a script imports must be part of it. */
async function compile(path: string, text: string): Promise<Compiled> {
  const contents: NonNullable<BuildOptions["stdin"]> = {
    contents: text,
    resolveDir: dirname(resolve(path)),
    // Relative to the folder that imports are looked for in, unless it is whole.
    sourcefile: resolve(path),
    loader: /\.[cm]?tsx?$/.test(path) ? "tsx" : "jsx",
  };
  if (/\.[cm]?ts$/.test(path)) contents.loader = "ts";
  const { outputFiles = [], metafile } = await run({
    stdin: contents,
    sourcemap: "external",
    metafile: true,
    // Nothing is written: places in files are told from here.
    outfile: "script.js",
    format: "iife",
    platform: "browser",
    mainFields: ["browser", "module", "main"],
    define: { "process.env.NODE_ENV": '"production"', global: "globalThis" },
  });
  const textOf = (ending: string): string | undefined =>
    outputFiles.find((file) => file.path.endsWith(ending))?.text;
  return {
    script: textOf("script.js") ?? "",
    map: textOf(".map"),
    files: Object.keys(metafile?.inputs ?? {}).map((file) => resolve(file)),
  };
}

/** Below this file: TypeScript where the sources run as they are, JavaScript where they are built (tools/build.mjs). */
async function compileRunner(): Promise<string> {
  const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
  const source = new URL("./runner/runner.ts", import.meta.url);
  const file = fileURLToPath(source).replace(/ts$/, extension);
  const { outputFiles } = await run({
    entryPoints: [file],
    format: "iife",
    globalName: "runner",
    platform: "browser",
  });
  return outputFiles?.[0]?.text ?? "";
}

async function run(options: BuildOptions): Promise<BuildResult> {
  try {
    return await build({
      ...options,
      bundle: true,
      write: false,
      target: "node20",
      charset: "utf8",
      logLevel: "silent",
      legalComments: "none",
    });
  } catch (error) {
    throw explain(error as BuildFailure);
  }
}

function explain(failure: BuildFailure): Fault {
  const problems = (failure.errors ?? []).map(({ text, location }) => ({
    text,
    place:
      location === null
        ? undefined
        : { file: location.file, line: location.line, column: location.column + 1 },
    lineText: location?.lineText,
  }));
  if (problems.length > 0) return new ScriptFault(problems);
  const message = `the script cannot be compiled: ${failure.message}`;
  return new Fault("E_STARTUP", message, { cause: failure });
}
