/** `--audit`: a file, or `"file=…; max-size=100MB; max-files=10; queries=off; on-failure=continue"`. */
import { resolve } from "node:path";
import { Fault } from "../model/fault.ts";
import { parseCount, parseSuperflag, parseSwitch } from "./superflag.ts";

/** Plain data: it travels to the children as a message. */
export interface AuditConfig {
  readonly file: string;
  /** Beyond it the file is put aside and a new one begun. */
  readonly bytesMax: number;
  /** How many that were put aside are kept. */
  readonly filesMax: number;
  readonly queries: boolean;
  /** Whether requests are refused while records of them cannot be written. */
  readonly isRequired: boolean;
}

const keys = ["file", "max-size", "max-files", "queries", "on-failure"] as const;

/** Undefined where no records are made. */
export function parseAudit(text: string): AuditConfig | undefined {
  const isFile = text.trim() !== "" && !/^\s*(?:file|max[-_]\w+|queries|on[-_]\w+)\s*=/i.test(text);
  const values: ReadonlyMap<string, string> = isFile
    ? new Map([["file", text.trim()]])
    : parseSuperflag("audit", text, keys);
  const file = values.get("file") ?? "";
  if (file === "") {
    if (values.size === 0) return undefined;
    throw new Fault("E_USAGE", "--audit: name a file, as file=/var/log/weft-audit.log");
  }
  const bytesMax = parseCount("--audit max-size", values.get("max-size") ?? "100MB");
  const filesMax = parseCount("--audit max-files", values.get("max-files") ?? "10");
  if (bytesMax < 1024) throw new Fault("E_USAGE", "--audit max-size: at least 1KB");
  if (filesMax < 1 || filesMax > 1000) throw new Fault("E_USAGE", "--audit max-files: 1 to 1000");
  const word = values.get("on-failure") ?? "continue";
  if (word !== "continue" && word !== "refuse") {
    throw new Fault("E_USAGE", `--audit on-failure: continue or refuse, not "${word}"`);
  }
  return {
    file: resolve(file),
    bytesMax,
    filesMax,
    queries: parseSwitch("--audit queries", values.get("queries") ?? "off"),
    isRequired: word === "refuse",
  };
}
