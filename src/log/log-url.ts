/** What users call a log, read without opening one: PostgreSQL's client is loaded by who does. */
import { Fault } from "../model/fault.ts";

/** Fault E_USAGE for what is no log. `flag`: which says so. */
export function readLogUrl(url: string, flag: string): { kind: "dir" | "postgres"; rest: string } {
  const [, kind, rest = ""] = /^([a-z]+):(.+)$/.exec(url) ?? [];
  if (kind === "dir") return { kind, rest };
  if (kind === "postgres" || kind === "postgresql") return { kind: "postgres", rest };
  throw new Fault(
    "E_USAGE",
    `${flag}: "${withoutPassword(url)}" is no log (as postgres://USER@HOST:5432/DATABASE or dir:/var/lib/weft-log)`,
  );
}

function withoutPassword(url: string): string {
  return url.replace(/:[^:@/]*@/, ":…@");
}
