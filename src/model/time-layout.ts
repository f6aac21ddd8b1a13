import { dayNumber, daysIn } from "./calendar.ts";
import { quoteGo } from "./conversion-error.ts";
import type { DateTime } from "./value.ts";

const elements = ["2006", "01", "02", "15", "04", "05", "-0700", "Z07:00", "MST"] as const;
type Element = (typeof elements)[number];

interface Fields {
  year: number;
  month: number;
  day: number;
  hour: number;
  minute: number;
  second: number;
  nanos: number;
  offsetMinutes: number;
}

/** A part of the text did not have the form of a part of the layout. */
interface Mismatch {
  readonly rest: string;
  readonly expected: string;
}

/**
 * Reads a time by a layout in the reference's manner (year 2006, month 01, … ; a fraction may follow the seconds).
 * Gives the time, or the text of the error, whose parts tell how far the reading came (reference/dql 2.12).
 */
export function parseLayout(layout: string, text: string): DateTime | string {
  const fields: Fields = {
    year: 0,
    month: 1,
    day: 1,
    hour: 0,
    minute: 0,
    second: 0,
    nanos: 0,
    offsetMinutes: 0,
  };
  let rest = text;
  let range = "";
  for (let at = 0; at < layout.length;) {
    const element = elements.find((name) => layout.startsWith(name, at));
    const step =
      element === undefined
        ? readLiteral(layout[at] ?? "", rest)
        : readElement(element, rest, fields);
    if (typeof step !== "string" && "expected" in step) {
      const where = `parsing time ${quoteGo(text)} as ${quoteGo(layout)}`;
      return `${where}: cannot parse ${quoteGo(step.rest)} as ${quoteGo(step.expected)}`;
    }
    if (typeof step !== "string") range = step.range;
    if (range !== "") return `parsing time ${quoteGo(text)}: ${range} out of range`;
    rest = typeof step === "string" ? step : "";
    at += element === undefined ? 1 : element.length;
  }
  if (rest !== "") return `parsing time ${quoteGo(text)}: extra text: ${quoteGo(rest)}`;
  if (fields.day < 1 || fields.day > daysIn(fields.year, fields.month)) {
    return `parsing time ${quoteGo(text)}: day out of range`;
  }
  return toDateTime(fields);
}

function toDateTime(fields: Fields): DateTime {
  const days = dayNumber(fields.year, fields.month, fields.day);
  const seconds = days * 86400 + fields.hour * 3600 + fields.minute * 60 + fields.second;
  return {
    seconds: seconds - fields.offsetMinutes * 60,
    nanos: fields.nanos,
    offsetMinutes: fields.offsetMinutes,
  };
}

type Step = string | Mismatch | { readonly range: string };

function readLiteral(literal: string, rest: string): Step {
  if (rest.startsWith(literal)) return rest.slice(literal.length);
  return { rest, expected: literal };
}

function readElement(element: Element, rest: string, fields: Fields): Step {
  switch (element) {
    case "2006": {
      if (!/^\d{4}/.test(rest)) return { rest, expected: element };
      fields.year = Number(rest.slice(0, 4));
      return rest.slice(4);
    }
    case "01":
      return readTwo(element, rest, 1, 12, (value) => (fields.month = value));
    case "02":
      return readTwo(element, rest, 0, 99, (value) => (fields.day = value));
    case "15":
      return readTwo(element, rest, 0, 23, (value) => (fields.hour = value));
    case "04":
      return readTwo(element, rest, 0, 59, (value) => (fields.minute = value));
    case "05": {
      const step = readTwo(element, rest, 0, 59, (value) => (fields.second = value));
      return typeof step === "string" ? readFraction(step, fields) : step;
    }
    case "-0700":
      return readOffset(element, /^([+-])(\d\d)(\d\d)/, rest, fields);
    case "Z07:00":
      return rest.startsWith("Z")
        ? rest.slice(1)
        : readOffset(element, /^([+-])(\d\d):(\d\d)/, rest, fields);
    case "MST": {
      const length = zoneNameLength(rest);
      return length === 0 ? { rest, expected: element } : rest.slice(length);
    }
  }
}

const rangeNames: Partial<Record<Element, string>> = {
  "01": "month",
  "15": "hour",
  "04": "minute",
  "05": "second",
};

function readTwo(
  element: Element,
  rest: string,
  low: number,
  high: number,
  assign: (value: number) => void,
): Step {
  if (!/^\d\d/.test(rest)) return { rest, expected: element };
  const value = Number(rest.slice(0, 2));
  if (value < low || value > high) return { range: rangeNames[element] ?? "day" };
  assign(value);
  return rest.slice(2);
}

/** Digits beyond nanoseconds are cut. */
function readFraction(rest: string, fields: Fields): string {
  const match = /^[.,](\d+)/.exec(rest);
  if (match === null) return rest;
  fields.nanos = Number((match[1] ?? "").slice(0, 9).padEnd(9, "0"));
  return rest.slice(match[0].length);
}

function readOffset(element: Element, form: RegExp, rest: string, fields: Fields): Step {
  const match = form.exec(rest);
  if (match === null) return { rest, expected: element };
  const hours = Number(match[2]);
  const minutes = Number(match[3]);
  if (hours > 24) return { range: "time zone offset hour" };
  if (minutes > 60) return { range: "time zone offset minute" };
  fields.offsetMinutes = (hours * 60 + minutes) * (match[1] === "-" ? -1 : 1) + 0;
  return rest.slice(match[0].length);
}

/** Zone names are read and play no part: the offset stands before them. */
function zoneNameLength(rest: string): number {
  if (/^(ChST|MeST)/.test(rest)) return 4;
  const gmt = /^GMT([+-]\d{1,2}(?!\d))?/.exec(rest);
  if (gmt !== null) return gmt[0].length;
  const signed = /^[+-](\d+)/.exec(rest);
  if (signed !== null) return Number(signed[1]) > 23 ? 0 : signed[0].length;
  const letters = /^[A-Z]{0,6}/.exec(rest)?.[0] ?? "";
  if (letters.length === 5) return letters.endsWith("T") ? 5 : 0;
  if (letters.length === 4) return letters.endsWith("T") || letters === "WITA" ? 4 : 0;
  return letters.length === 3 ? 3 : 0;
}
