/** Dates in a given form (`DD.MM.YYYY HH:mm`), read strictly: a 31st of February is none. */
import { dayNumber, daysIn } from "../model/calendar.ts";
import { parseDateTime, printDateTime } from "../model/datetime.ts";
import type { DateTime } from "../model/value.ts";
import { Fault } from "../model/fault.ts";

/** Text → RFC 3339, or undefined where it is no date of the form. */
export type DateReader = (text: string) => string | undefined;

/** What a form may hold; every other character stands for itself. */
const parts: Readonly<Record<string, string>> = {
  YYYY: "(?<year>\\d{4})",
  YY: "(?<short>\\d{2})",
  MMM: "(?<name>[A-Za-z]{3})",
  MM: "(?<month>\\d{2})",
  M: "(?<month>\\d{1,2})",
  DD: "(?<day>\\d{2})",
  D: "(?<day>\\d{1,2})",
  HH: "(?<hour>\\d{2})",
  H: "(?<hour>\\d{1,2})",
  mm: "(?<minute>\\d{2})",
  ss: "(?<second>\\d{2})",
  S: "(?<fraction>\\d{1,9})",
  Z: "(?<zone>Z|[+-]\\d{2}:?\\d{2})",
};
const partPattern = /YYYY|YY|MMM|MM|M|DD|D|HH|H|mm|ss|S|Z/g;

const monthNames = "jan feb mar apr may jun jul aug sep oct nov dec".split(" ");

/**
 * `iso`: what the server reads by itself. `unix`, `unix-ms`: seconds or milliseconds since 1970. Times without a zone
 * are UTC; of years of two digits those from 70 on are of the last century. Fault E_STARTUP for a form without a year.
 */
export function makeDateReader(form: string, place: string): DateReader {
  if (form === "iso") return readIso;
  if (form === "unix") return (text) => readCount(text, 1);
  if (form === "unix-ms") return (text) => readCount(text, 1000);
  if (!form.includes("YY")) {
    const wanted = 'a form of YYYY, MM, DD, HH, mm, ss, S and Z, or "iso", "unix", "unix-ms"';
    throw new Fault("E_STARTUP", `${place}: the date "${form}" is not ${wanted}`);
  }
  const pattern = compileForm(form);
  return (text) => {
    const groups = pattern.exec(text)?.groups;
    const time = groups === undefined ? undefined : makeTime(groups);
    return time === undefined ? undefined : printDateTime(time);
  };
}

function compileForm(form: string): RegExp {
  let pattern = "";
  let end = 0;
  for (const match of form.matchAll(partPattern)) {
    pattern += escapePattern(form.slice(end, match.index)) + (parts[match[0]] ?? "");
    end = match.index + match[0].length;
  }
  return new RegExp(`^${pattern}${escapePattern(form.slice(end))}$`);
}

function escapePattern(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
}

function makeTime(groups: Readonly<Record<string, string | undefined>>): DateTime | undefined {
  const number = (name: string, otherwise: number): number => Number(groups[name] ?? otherwise);
  const short = number("short", 0);
  const year =
    groups["year"] === undefined ? short + (short < 70 ? 2000 : 1900) : number("year", 0);
  const name = groups["name"]?.toLowerCase();
  const month = name === undefined ? number("month", 1) : monthNames.indexOf(name) + 1;
  const day = number("day", 1);
  const [hour, minute, second] = [number("hour", 0), number("minute", 0), number("second", 0)];
  if (month < 1 || month > 12 || day < 1 || day > daysIn(year, month)) return undefined;
  if (hour > 23 || minute > 59 || second > 59) return undefined;
  const offsetMinutes = readZone(groups["zone"] ?? "Z");
  if (offsetMinutes === undefined) return undefined;
  const local = dayNumber(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second;
  const nanos = Number((groups["fraction"] ?? "0").padEnd(9, "0"));
  return { seconds: local - offsetMinutes * 60, nanos, offsetMinutes };
}

function readZone(text: string): number | undefined {
  if (text === "Z") return 0;
  const hours = Number(text.slice(1, 3));
  const minutes = Number(text.slice(-2));
  if (hours > 23 || minutes > 59) return undefined;
  return (hours * 60 + minutes) * (text.startsWith("-") ? -1 : 1);
}

function readCount(text: string, perSecond: number): string | undefined {
  const match = /^(?<whole>-?\d{1,14})(?:\.(?<fraction>\d{1,9}))?$/.exec(text);
  if (match === null) return undefined;
  const count = Number(match.groups?.["whole"]);
  const seconds = Math.floor(count / perSecond);
  const fraction = perSecond > 1 ? "" : (match.groups?.["fraction"] ?? "");
  const nanos = (count - seconds * perSecond) * (1e9 / perSecond) + Number(fraction.padEnd(9, "0"));
  return printDateTime({ seconds, nanos, offsetMinutes: 0 });
}

const readIso: DateReader = (text) => {
  try {
    return printDateTime(parseDateTime(text));
  } catch {
    return undefined;
  }
};
