/**
 * A user's script → one text that a process can run: types removed, imports resolved, size checked
 * (reference/graphql 7.6, 7.5 rule 7).
 */
import { build, stop } from "esbuild";
import type { BuildFailure, BuildOptions } from "esbuild";
import { readFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { Fault } from "../model/fault.ts";

/** What a resolver's process is given: the runner, which knows the events, and the user's script. */
export interface LambdaCode {
  readonly runner: string;
  readonly script: string;
  /** For messages and traces. */
  readonly name: string;
}

/** Throws E_STARTUP with what is wrong in the script, by file and line. */
export async function bundleScript(path: string, scriptBytesMax: number): Promise<LambdaCode> {
  compilations++;
  try {
    const text = await readScript(path);
    const script = await compile(path, text);
    const bytes = Buffer.byteLength(script);
    if (bytes > scriptBytesMax) {
      throw new Fault(
        "E_STARTUP",
        `${path}: the compiled script has ${bytes} bytes, the limit is ${scriptBytesMax} (script-bytes)`,
      );
    }
    return { runner: await compileRunner(), script, name: path };
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

/** Without Node's own modules: what a script imports must be part of it. */
async function compile(path: string, text: string): Promise<string> {
  const contents: NonNullable<BuildOptions["stdin"]> = {
    contents: text,
    resolveDir: dirname(resolve(path)),
    sourcefile: path,
    loader: /\.[cm]?tsx?$/.test(path) ? "tsx" : "jsx",
  };
  if (/\.[cm]?ts$/.test(path)) contents.loader = "ts";
  const result = await run({
    stdin: contents,
    format: "iife",
    platform: "browser",
    mainFields: ["browser", "module", "main"],
    define: { "process.env.NODE_ENV": '"production"', global: "globalThis" },
  });
  return result;
}

/** Below this file: TypeScript where the sources run as they are, JavaScript where they are built (tools/build.mjs). */
function compileRunner(): Promise<string> {
  const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
  const source = new URL("./runner/runner.ts", import.meta.url);
  const file = fileURLToPath(source).replace(/ts$/, extension);
  return run({ entryPoints: [file], format: "iife", globalName: "runner", platform: "browser" });
}

async function run(options: BuildOptions): Promise<string> {
  try {
    const result = await build({
      ...options,
      bundle: true,
      write: false,
      target: "node20",
      charset: "utf8",
      logLevel: "silent",
      legalComments: "none",
    });
    return result.outputFiles?.[0]?.text ?? "";
  } catch (error) {
    throw new Fault("E_STARTUP", explain(error as BuildFailure), { cause: error });
  }
}

function explain(failure: BuildFailure): string {
  const [first, ...rest] = failure.errors ?? [];
  if (first === undefined) return `the script cannot be compiled: ${failure.message}`;
  const { location } = first;
  const place = location === null ? "" : `${location.file}:${location.line}:${location.column}: `;
  return `${place}${first.text}${rest.length === 0 ? "" : ` (and ${rest.length} more)`}`;
}
