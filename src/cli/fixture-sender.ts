/**
 * Who a fixture's operation is sent by, as comments at its head say it: `# Weft.Token USER=ann ROLE=ADMIN`, signed as by
 * `weft token`, or `# Weft.Header X-Auth: eyJ…`, for tokens that somebody else signs.
 */
import { Fault } from "../model/fault.ts";
import { signToken } from "./sign-token.ts";

/** A fixture is loaded at once. */
const tokenMs = 10 * 60_000;

/** Headers by their names. Fault E_STARTUP, with the line, for a comment that says nothing. */
export function readSender(text: string, sdl: string): Readonly<Record<string, string>> {
  const headers: Record<string, string> = {};
  for (const [i, line] of headOf(text).entries()) {
    const { what, rest } = /^#\s*Weft\.(?<what>\w+)\s*(?<rest>.*)$/.exec(line)?.groups ?? {};
    if (what === undefined || rest === undefined) continue;
    try {
      Object.assign(headers, readOne(what, rest.trim(), sdl));
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      throw new Fault(error.code, `line ${i + 1}: ${error.message}`, { cause: error });
    }
  }
  return headers;
}

/** The comments and empty lines before the operation. */
function headOf(text: string): readonly string[] {
  const lines = text.split(/\r?\n/).map((line) => line.trim());
  const end = lines.findIndex((line) => line !== "" && !line.startsWith("#"));
  return end < 0 ? lines : lines.slice(0, end);
}

function readOne(what: string, rest: string, sdl: string): Readonly<Record<string, string>> {
  if (what === "Token") {
    const claims = rest.startsWith("{") ? [rest] : rest.split(/\s+/).filter(Boolean);
    const { header, token } = signToken({ sdl, name: "the schema" }, claims, tokenMs);
    return { [header]: token };
  }
  const { name, value } = /^(?<name>[\w-]+):\s*(?<value>\S.*)$/.exec(rest)?.groups ?? {};
  if (what === "Header" && name !== undefined && value !== undefined) return { [name]: value };
  const known = "# Weft.Token NAME=VALUE … or # Weft.Header NAME: VALUE";
  throw new Fault("E_STARTUP", `# Weft.${what} ${rest}: the head of a fixture has ${known}`);
}
