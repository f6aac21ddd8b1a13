/** `weft explain`: how a running server would run a query, or did. */
import { readFileSync } from "node:fs";
import { Fault } from "../model/fault.ts";
import type { ExplainOptions } from "./cli.ts";
import { complain } from "./log.ts";

interface Answer {
  readonly errors?: readonly { readonly message: string }[];
  readonly extensions?: { readonly explain?: unknown; readonly profile?: unknown };
}

export async function runExplain(file: string, options: ExplainOptions): Promise<void> {
  const query = readQuery(file);
  const variables = readVariables(options.variables);
  const kind = options.profile ? "profile" : "explain";
  const form = options.json ? "json" : "text";
  const path = options.graphql ? "/graphql" : "/query";
  const answer = await ask(`${options.to.replace(/\/+$/, "")}${path}?${kind}=${form}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...readHeaders(options) },
    body: JSON.stringify(variables === undefined ? { query } : { query, variables }),
  });
  const [first] = answer.errors ?? [];
  const report = answer.extensions?.[kind];
  if (report === undefined) {
    throw new Fault("E_STARTUP", first?.message ?? "the server does not explain queries");
  }
  // Some root fields may have failed, and be explained all the same.
  if (first !== undefined) complain(first.message);
  const text = typeof report === "string" ? report : JSON.stringify(report, null, 2) + "\n";
  process.stdout.write(text);
}

function readQuery(file: string): string {
  try {
    return readFileSync(file === "-" ? 0 : file, "utf8");
  } catch (error) {
    throw new Fault("E_STARTUP", `${file} cannot be read`, { cause: error });
  }
}

function readVariables(text: string | undefined): object | undefined {
  if (text === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw new Fault("E_STARTUP", "--variables: not a JSON object");
}

function readHeaders({ header, token }: ExplainOptions): Record<string, string> {
  const headers: Record<string, string> = {};
  if (token !== undefined) headers["x-dgraph-authtoken"] = token;
  for (const line of header) {
    const colon = line.indexOf(":");
    if (colon < 1)
      throw new Fault("E_STARTUP", `--header: "${line}" is not of the form NAME: VALUE`);
    headers[line.slice(0, colon).trim().toLowerCase()] = line.slice(colon + 1).trim();
  }
  return headers;
}

async function ask(url: string, init: RequestInit): Promise<Answer> {
  let response: Response;
  try {
    response = await fetch(url, init);
  } catch (error) {
    const cause = error instanceof Error ? (error.cause ?? error) : error;
    const why = (cause as NodeJS.ErrnoException).code ?? String(cause);
    throw new Fault("E_STARTUP", `no answer from ${url} (${why})`, { cause: error });
  }
  const text = await response.text();
  try {
    return JSON.parse(text) as Answer;
  } catch (error) {
    const message = text.trim().slice(0, 200);
    throw new Fault("E_STARTUP", `${url} answers ${response.status}: ${message}`, { cause: error });
  }
}
