/** Real servers for tests: started from dist as a user would, on a free port, with a directory of their own. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { get as getTls } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findFreePort } from "../support/free-port.ts";

export const root = join(import.meta.dirname, "..", "..");
export const weft = join(root, "bin", "weft");

export interface TestServer {
  readonly url: string;
  readonly dataDir: string;
  readonly process: ChildProcess;
  /** What it has written so far. */
  output(): string;
  /** Ends it as a service manager would; resolves with its exit code. */
  stop(): Promise<number | null>;
  /** Process ids of the children that are alive now. */
  childPids(): number[];
}

export interface ServerOptions {
  readonly dataDir: string;
  readonly port?: number;
  /** What it listens on: 127.0.0.1 unless said otherwise. */
  readonly host?: string;
  /** Who has signed its certificate, where it speaks TLS, in PEM. */
  readonly ca?: string;
  /** What it asks its clients for. */
  readonly client?: { readonly cert: string; readonly key: string };
  /** Of its environment, beside that of the tests. */
  readonly env?: Record<string, string>;
  readonly flags?: readonly string[];
  /** The file that is run; default: the one of this checkout. */
  readonly program?: string;
  /** It has started with whatever /health answers: one that is out of service says so there. Default: with 200. */
  readonly isAnyHealth?: boolean;
}

const folders: string[] = [];
const running = new Set<ChildProcess>();

/** A directory that goes away with the tests of this file. */
export function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "weft-e2e-"));
  folders.push(folder);
  return folder;
}

/** Ends everything that this file has started. */
export async function cleanUp(): Promise<void> {
  for (const one of running) one.kill("SIGKILL");
  await Promise.all([...running].map((one) => new Promise((done) => one.once("exit", done))));
  for (const folder of folders.splice(0)) await removeFolder(folder);
}

/** Children of a killed server take a moment to let go. */
async function removeFolder(folder: string): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    try {
      rmSync(folder, { recursive: true, force: true });
      return;
    } catch (error) {
      if (attempt > 50) throw error;
      await sleep(100);
    }
  }
}

export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command of weft to its end. */
export function runWeft(args: readonly string[], env?: Record<string, string>): Promise<Ended> {
  return new Promise((resolve) => {
    const one = spawn(process.execPath, [weft, ...args], {
      cwd: root,
      env: { ...process.env, ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    running.add(one);
    let stdout = "";
    let stderr = "";
    one.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
    one.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
    one.once("close", (code) => {
      running.delete(one);
      resolve({ code, stdout, stderr });
    });
  });
}

export interface DevServer {
  readonly url: string;
  output(): string;
  /** Resolves when the terminal has said it, `after` so many characters. */
  says(text: string, after?: number): Promise<void>;
  stop(signal: NodeJS.Signals): Promise<number | null>;
}

/** `weft dev` in a folder; resolves when it watches. */
export async function startDev(
  folder: string,
  flags: readonly string[] = [],
  command: readonly [string, ...string[]] = [process.execPath, weft],
): Promise<DevServer> {
  const port = await findFreePort();
  const [file, ...args] = command;
  args.push("dev", "--http", `127.0.0.1:${port}`, "--no-grpc", ...flags);
  const one = spawn(file, args, { cwd: folder, stdio: ["ignore", "pipe", "pipe"] });
  running.add(one);
  let output = "";
  one.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
  one.stderr.on("data", (chunk: Buffer) => (output += chunk.toString()));
  const exit = new Promise<number | null>((resolve) => {
    one.once("exit", (code) => {
      running.delete(one);
      resolve(code);
    });
  });
  const says = async (text: string, after = 0): Promise<void> => {
    await waitUntil(async () => {
      if (output.slice(after).includes(text)) return true;
      if (one.exitCode !== null) throw new Error(`weft dev ended: ${output}`);
      return false;
    }, 20_000).catch((error: unknown) => {
      throw new Error(`"${text}" was not said, but: ${output.slice(after)}`, { cause: error });
    });
  };
  await says("Ctrl-C ends it.");
  return {
    url: `http://127.0.0.1:${port}`,
    output: () => output,
    says,
    stop: (signal) => {
      one.kill(signal);
      return exit;
    },
  };
}

/** Resolves when /health answers 200 (`isAnyHealth`); rejects with its output when it ends before. */
export async function startServer(options: ServerOptions): Promise<TestServer> {
  const port = options.port ?? (await findFreePort());
  const url = `${options.ca === undefined ? "http" : "https"}://127.0.0.1:${port}`;
  const args = [
    "serve",
    "--data",
    options.dataDir,
    "--http",
    `${options.host ?? "127.0.0.1"}:${port}`,
  ];
  const { flags = [] } = options;
  // Ports are chosen at random: one that nobody has asked for may be another test's.
  if (!flags.includes("--grpc")) args.push("--no-grpc");
  const one = spawn(process.execPath, [options.program ?? weft, ...args, ...flags], {
    cwd: root,
    env: { ...process.env, ...options.env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  running.add(one);
  let output = "";
  let isEnded = false;
  one.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
  one.stderr.on("data", (chunk: Buffer) => (output += chunk.toString()));
  const exit = new Promise<number | null>((resolve) => {
    one.once("exit", (code) => {
      isEnded = true;
      running.delete(one);
      resolve(code);
    });
  });
  await waitUntil(async () => {
    if (isEnded) throw new Error(`the server ended: ${output}`);
    const { ca, client } = options;
    const status = ca === undefined ? askStatus : (path: string) => askTls(path, { ca, ...client });
    const told = await status(`${url}/health`);
    return told === 200 || (told === 503 && options.isAnyHealth === true);
  }, 30_000);
  return {
    url,
    dataDir: options.dataDir,
    process: one,
    output: () => output,
    childPids: () => listChildren(one.pid ?? 0),
    stop: () => {
      one.kill("SIGTERM");
      return exit;
    },
  };
}

/** Repeats the question until it is answered with true. */
export async function waitUntil(
  ask: () => boolean | Promise<boolean>,
  timeoutMs: number,
): Promise<void> {
  for (let waitedMs = 0; ; waitedMs += 50) {
    if (await ask()) return;
    if (waitedMs > timeoutMs) throw new Error("waited in vain");
    await sleep(50);
  }
}

async function askStatus(url: string): Promise<number> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(2000) });
    await response.arrayBuffer();
    return response.status;
  } catch {
    return 0;
  }
}

function askTls(url: string, options: object): Promise<number> {
  return new Promise((resolve) => {
    const asked = getTls(url, { ...options, timeout: 2000, agent: false }, (answer) => {
      answer.resume();
      answer.once("end", () => resolve(answer.statusCode ?? 0));
    });
    asked.once("error", () => resolve(0));
    asked.once("timeout", () => asked.destroy());
  });
}

export function listChildren(pid: number): number[] {
  try {
    const text = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8");
    return text.split(" ").filter(Boolean).map(Number);
  } catch {
    return [];
  }
}

/** The role of a child, as its arguments say. */
export function roleOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").at(-2) ?? "";
  } catch {
    return "";
  }
}

export interface Told {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // The answer's JSON, taken as it comes: a test says what it expects.
  readonly json: Json;
}

export type Json = { [name: string]: Json } & Json[] & { readonly [leaf: string]: unknown };

/** POSTs a body: an object as JSON, a text as the given type. */
export async function post(
  url: string,
  body: string | object,
  headers: Record<string, string> = {},
): Promise<Told> {
  const isText = typeof body === "string";
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": isText ? "application/dql" : "application/json", ...headers },
    body: isText ? body : JSON.stringify(body),
  });
  return await read(response);
}

export async function get(url: string, headers: Record<string, string> = {}): Promise<Told> {
  return await read(await fetch(url, { headers }));
}

async function read(response: Response): Promise<Told> {
  const text = await response.text();
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    json = undefined;
  }
  return { status: response.status, headers: response.headers, text, json: json as Json };
}

export const rdf = { "content-type": "application/rdf" };
