import { readDurationNs } from "../http/parameters.ts";
import { Fault } from "../model/fault.ts";

export function parseDurationMs(flag: string, text: string): number {
  const ns = readDurationNs(text);
  if (typeof ns === "number" && ns >= 0) return ns / 1e6;
  throw new Fault("E_USAGE", `${flag}: "${text}" is not a duration (as 500ms, 20s or 5m)`);
}

const dayMs = 24 * 60 * 60 * 1000;

/** As `parseDurationMs`, and days and weeks: how long a key lives. */
export function parseLifetimeMs(flag: string, text: string): number {
  const match = /^(?<count>\d{1,6})(?<unit>[dw])$/.exec(text.trim());
  const count = Number(match?.groups?.["count"]);
  const ms =
    match === null
      ? parseDurationMs(flag, text)
      : count * dayMs * (match.groups?.["unit"] === "w" ? 7 : 1);
  if (ms > 0) return ms;
  throw new Fault("E_USAGE", `${flag}: "${text}" is no time from now (as 12h, 30d or 8w)`);
}
