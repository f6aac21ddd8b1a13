/** `weft explain`: how a running server would run a query, or did. */
import { readFileSync } from "node:fs";
import { Fault } from "../model/fault.ts";
import type { ExplainFlags } from "./request-commands.ts";
import { openClient } from "./credentials.ts";
import { complain } from "./log.ts";

interface Answer {
  readonly extensions?: { readonly explain?: unknown; readonly profile?: unknown };
}

export async function runExplain(file: string, options: ExplainFlags): Promise<void> {
  const query = readQuery(file);
  const variables = readVariables(options.variables);
  const kind = options.profile ? "profile" : "explain";
  const form = options.json ? "json" : "text";
  const path = options.graphql ? "/graphql" : "/query";
  const body = JSON.stringify(variables === undefined ? { query } : { query, variables });
  const answer = await openClient(options, readHeaders(options.header)).post(
    `${path}?${kind}=${form}`,
    "application/json",
    body,
  );
  const [first] = answer.messages;
  const report = ((answer.json ?? {}) as Answer).extensions?.[kind];
  if (report === undefined) {
    throw new Fault("E_STARTUP", first ?? "the server does not explain queries");
  }
  // Some root fields may have failed, and be explained all the same.
  if (first !== undefined) complain(first);
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
  throw new Fault("E_USAGE", "--variables: not a JSON object");
}

function readHeaders(lines: readonly string[]): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const colon = line.indexOf(":");
    if (colon < 1) throw new Fault("E_USAGE", `--header: "${line}" is not of the form NAME: VALUE`);
    headers[line.slice(0, colon).trim().toLowerCase()] = line.slice(colon + 1).trim();
  }
  return headers;
}
