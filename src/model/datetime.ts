import { civilFromDay, dayNumber, daysIn } from "./calendar.ts";
import { ConversionError } from "./conversion-error.ts";
import { parseLayout } from "./time-layout.ts";
import type { DateTime } from "./value.ts";

const rfc3339 = "2006-01-02T15:04:05Z07:00";
const withZoneName = "2006-01-02 15:04:05 -0700 MST";
const withoutZone = "2006-01-02T15:04:05";

const plain =
  /^(\d{4})(?:-(\d\d)(?:-(\d\d)(?:T(\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?(?:Z|([+-])(\d\d):(\d\d))?)?)?)?$/;

/** The forms of reference/dql 2.12, chosen by length; no zone means UTC. Errors are the texts of Go's time.Parse. */
export function parseDateTime(text: string): DateTime {
  return parseUtc(text) ?? parsePlain(text) ?? parseByLayout(text);
}

/** `2006-01-02T15:04:05Z`, what programs send: without the pattern, whose match costs 5 µs. */
function parseUtc(text: string): DateTime | undefined {
  if (text.length !== 20 || text.charCodeAt(19) !== 0x5a || text.charCodeAt(10) !== 0x54) {
    return undefined;
  }
  const dash = 0x2d;
  const colon = 0x3a;
  if (text.charCodeAt(4) !== dash || text.charCodeAt(7) !== dash) return undefined;
  if (text.charCodeAt(13) !== colon || text.charCodeAt(16) !== colon) return undefined;
  const century = twoDigits(text, 0);
  const ofCentury = twoDigits(text, 2);
  const month = twoDigits(text, 5);
  const day = twoDigits(text, 8);
  const hour = twoDigits(text, 11);
  const minute = twoDigits(text, 14);
  const second = twoDigits(text, 17);
  if ((century | ofCentury | month | day | hour | minute | second) < 0) return undefined;
  const year = century * 100 + ofCentury;
  if (month < 1 || month > 12 || day < 1 || day > daysIn(year, month)) return undefined;
  if (hour > 23 || minute > 59 || second > 59) return undefined;
  const seconds = dayNumber(year, month, day) * 86400 + hour * 3600 + minute * 60 + second;
  return { seconds, nanos: 0, offsetMinutes: 0 };
}

/** Negative where they are none. */
function twoDigits(text: string, at: number): number {
  const tens = text.charCodeAt(at) - 0x30;
  const ones = text.charCodeAt(at + 1) - 0x30;
  return tens < 0 || tens > 9 || ones < 0 || ones > 9 ? -1 : tens * 10 + ones;
}

/** The well-formed common forms in one pass; undefined sends the text through the layouts, which tell the error. */
function parsePlain(text: string): DateTime | undefined {
  const match = plain.exec(text);
  if (match === null) return undefined;
  const month = Number(match[2] ?? 1);
  const day = Number(match[3] ?? 1);
  const hour = Number(match[4] ?? 0);
  const minute = Number(match[5] ?? 0);
  const second = Number(match[6] ?? 0);
  const year = Number(match[1]);
  if (month < 1 || month > 12 || day < 1 || day > daysIn(year, month)) return undefined;
  const zoneHour = Number(match[9] ?? 0);
  const zoneMinute = Number(match[10] ?? 0);
  if (hour > 23 || minute > 59 || second > 59 || zoneHour > 23 || zoneMinute > 59) return undefined;
  const zone = (zoneHour * 60 + zoneMinute) * (match[8] === "-" ? -1 : 1) + 0;
  const seconds = dayNumber(year, month, day) * 86400 + hour * 3600 + minute * 60 + second;
  const nanos = match[7] === undefined ? 0 : Number(match[7].padEnd(9, "0"));
  return { seconds: seconds - zone * 60, nanos, offsetMinutes: zone };
}

function parseByLayout(text: string): DateTime {
  const length = byteLength(text);
  if (length === 4) return orThrow(parseLayout("2006", text));
  if (length === 7) return orThrow(parseLayout("2006-01", text));
  if (length === 10) return orThrow(parseLayout("2006-01-02", text));
  const hasZone = text.endsWith("Z") || text.at(-3) === ":";
  if (length > withoutZone.length && text[10] === "T" && hasZone) {
    return orThrow(parseLayout(rfc3339, text));
  }
  const named = parseLayout(withZoneName, text);
  return typeof named === "string" ? orThrow(parseLayout(withoutZone, text)) : named;
}

function orThrow(result: DateTime | string): DateTime {
  if (typeof result === "string") throw new ConversionError(result);
  return result;
}

function byteLength(text: string): number {
  let length = 0;
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    length += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  }
  return length;
}

/** RFC 3339 with as many digits of fraction as are not zero, and the stored offset. */
export function printDateTime(time: DateTime): string {
  const local = time.seconds + time.offsetMinutes * 60;
  const day = Math.floor(local / 86400);
  const rest = local - day * 86400;
  const date = civilFromDay(day);
  let text = `${printYear(date.year)}-${two(date.month)}-${two(date.day)}T`;
  text += `${two(Math.floor(rest / 3600))}:${two(Math.floor(rest / 60) % 60)}:${two(rest % 60)}`;
  if (time.nanos !== 0) {
    text += "." + String(time.nanos).padStart(9, "0").replace(/0+$/, "");
  }
  if (time.offsetMinutes === 0) return text + "Z";
  const offset = Math.abs(time.offsetMinutes);
  const sign = time.offsetMinutes < 0 ? "-" : "+";
  return `${text}${sign}${two(Math.floor(offset / 60))}:${two(offset % 60)}`;
}

function printYear(year: number): string {
  return year < 0 ? "-" + String(-year).padStart(4, "0") : String(year).padStart(4, "0");
}

function two(number: number): string {
  return number < 10 ? "0" + String(number) : String(number);
}

/** By instant: the offset plays no part. Negative, zero or positive. */
export function compareDateTimes(a: DateTime, b: DateTime): number {
  return a.seconds !== b.seconds ? a.seconds - b.seconds : a.nanos - b.nanos;
}

/** Seconds since 1970 with fraction; for `since`, floats and sortable numbers. */
export function secondsOf(time: DateTime): number {
  return time.seconds + time.nanos / 1e9;
}

/** Milliseconds since 1970, UTC, as a DateTime. */
export function dateTimeFromMs(ms: number): DateTime {
  const seconds = Math.floor(ms / 1000);
  return { seconds, nanos: Math.round((ms - seconds * 1000) * 1e6), offsetMinutes: 0 };
}
