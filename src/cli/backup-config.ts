/** `--backup`: what a server archives of its store, and where to. */
import { openPlace } from "../backup/open-place.ts";
import { Fault } from "../model/fault.ts";
import { parseDurationMs, parseLifetimeMs } from "./duration.ts";
import { parseCount, parseSuperflag } from "./superflag.ts";

/** Plain data: it travels to the child as a message. */
export interface BackupConfig {
  /** As `weft backup --to` takes it. */
  readonly to: string;
  readonly keyFile: string | undefined;
  readonly everyMs: number;
  /** Between two whole backups. */
  readonly fullMs: number;
  /** Whole backups that stay; undefined: all. */
  readonly keep: number | undefined;
}

const keys = ["to", "key-file", "every", "full", "keep"] as const;

/** undefined: nothing is archived. Fault E_USAGE for what cannot be. */
export function parseBackup(text: string): BackupConfig | undefined {
  const given = parseSuperflag("backup", text, keys);
  if (given.size === 0) return undefined;
  const to = given.get("to");
  if (to === undefined || to === "") {
    throw new Fault("E_USAGE", "--backup: to says where, as dir:/mnt/backups or s3://bucket/weft");
  }
  // A place that cannot be one, or lacks its credentials, is told at the start.
  openPlace(to, process.env);
  const everyMs = parseDurationMs("--backup every", given.get("every") ?? "10s");
  if (everyMs < 100) throw new Fault("E_USAGE", "--backup every: 100ms at least");
  const keepText = given.get("keep");
  const keep = keepText === undefined ? undefined : parseCount("--backup keep", keepText);
  if (keep === 0) throw new Fault("E_USAGE", "--backup keep: 1 at least");
  return {
    to,
    keyFile: given.get("key-file"),
    everyMs,
    fullMs: parseLifetimeMs("--backup full", given.get("full") ?? "24h"),
    keep,
  };
}
