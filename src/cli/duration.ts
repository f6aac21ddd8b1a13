import { readDurationNs } from "../http/parameters.ts";
import { Fault } from "../model/fault.ts";

export function parseDurationMs(flag: string, text: string): number {
  const ns = readDurationNs(text);
  if (typeof ns === "number" && ns >= 0) return ns / 1e6;
  throw new Fault("E_STARTUP", `${flag}: "${text}" is not a duration (as 500ms, 20s or 5m)`);
}
