/** `--log`: a level, or `"level=info; format=json; access=on; slow=200ms"`. */
import { Fault } from "../model/fault.ts";
import { parseDurationMs } from "./duration.ts";
import { parseSuperflag, parseSwitch } from "./superflag.ts";

/** Plain data: it travels to the children as a message. */
export interface LogConfig {
  readonly level: LogLevel;
  /** json: for machines. text: for people. dev: for who writes resolvers and schemas (`weft dev`). */
  readonly format: "json" | "text" | "dev";
  /** Whether each request gets a line. */
  readonly access: boolean;
  /** Requests that take as long get a line with their plans; undefined: none does. */
  readonly slowMs: number | undefined;
}

const levels = ["debug", "info", "warn", "error", "silent"] as const;

type LogLevel = (typeof levels)[number];

const keys = ["level", "format", "access", "slow"] as const;

/** `isTerminal`: whether the lines go to one. */
export function parseLog(text: string, isTerminal: boolean): LogConfig {
  const word = text.trim();
  const values: ReadonlyMap<string, string> = word.includes("=")
    ? parseSuperflag("log", text, keys)
    : new Map([["level", word === "" ? defaultLevel : word]]);
  const level = values.get("level") ?? defaultLevel;
  const known = levels.find((one) => one === level);
  if (known === undefined) {
    throw new Fault("E_USAGE", `--log level: one of ${levels.join(", ")}, not "${level}"`);
  }
  const format = values.get("format") ?? (isTerminal ? "text" : "json");
  if (format !== "json" && format !== "text") {
    throw new Fault("E_USAGE", `--log format: json or text, not "${format}"`);
  }
  const slow = values.get("slow") ?? "";
  return {
    level: known,
    format,
    access: parseSwitch("--log access", values.get("access") ?? "off"),
    slowMs: slow === "" ? undefined : parseDurationMs("--log slow", slow),
  };
}

const defaultLevel: LogLevel = "info";
