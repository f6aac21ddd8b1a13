/** The reference's grouped settings: `--security "token=…; whitelist=…"`. */
import { Fault } from "../model/fault.ts";

/**
 * Reads `key=value; key=value`. Keys may be written with `_` for `-` and in any case; a key that is not `known` ends
 * the start with its name.
 */
export function parseSuperflag<Key extends string>(
  flag: string,
  text: string,
  known: readonly Key[],
): ReadonlyMap<Key, string> {
  const values = new Map<Key, string>();
  for (const part of text.split(";")) {
    if (part.trim() === "") continue;
    const equals = part.indexOf("=");
    if (equals < 0) {
      throw new Fault("E_USAGE", `--${flag}: "${part.trim()}" is not of the form key=value`);
    }
    const key = part.slice(0, equals).trim().toLowerCase().replaceAll("_", "-");
    const found = known.find((name) => name === key);
    if (found === undefined) {
      throw new Fault("E_USAGE", `--${flag}: unknown key "${key}"; known are ${known.join(", ")}`);
    }
    values.set(found, part.slice(equals + 1).trim());
  }
  return values;
}

const sizeUnits: Readonly<Record<string, number>> = {
  "": 1,
  b: 1,
  kb: 1024,
  mb: 1024 ** 2,
  gb: 1024 ** 3,
  tb: 1024 ** 4,
};

/** A whole number, with a unit of size or without. */
export function parseCount(flag: string, text: string): number {
  const match = /^(?<number>\d+)\s*(?<unit>[a-z]*)$/i.exec(text);
  const unit = sizeUnits[match?.groups?.["unit"]?.toLowerCase() ?? ""];
  const value = Number(match?.groups?.["number"]) * (unit ?? Number.NaN);
  if (Number.isSafeInteger(value)) return value;
  throw new Fault("E_USAGE", `${flag}: "${text}" is not a number (as 1000 or 64MB)`);
}

export function parseSwitch(flag: string, text: string): boolean {
  if (/^(?:true|t|1|on|yes)$/i.test(text)) return true;
  if (/^(?:false|f|0|off|no)$/i.test(text)) return false;
  throw new Fault("E_USAGE", `${flag}: "${text}" is neither true nor false`);
}
