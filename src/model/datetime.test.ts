import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { compareDateTimes, dateTimeFromMs, parseDateTime, printDateTime } from "./datetime.ts";

describe("forms", () => {
  test.each([
    ["2006", "2006-01-01T00:00:00Z"],
    ["2006-07", "2006-07-01T00:00:00Z"],
    ["2006-07-08", "2006-07-08T00:00:00Z"],
    ["2006-07-08T09:10:11", "2006-07-08T09:10:11Z"],
    ["2006-07-08T09:10:11.123456789", "2006-07-08T09:10:11.123456789Z"],
    ["2006-07-08T09:10:11.120000Z", "2006-07-08T09:10:11.12Z"],
    ["2006-07-08T09:10:11-11:30", "2006-07-08T09:10:11-11:30"],
    ["2006-07-08 09:10:11 +0200 CEST", "2006-07-08T09:10:11+02:00"],
    ["2006-07-08T09:10:11-24:00", "2006-07-08T09:10:11-24:00"],
    ["0001-01-01", "0001-01-01T00:00:00Z"],
    ["0000-02-29", "0000-02-29T00:00:00Z"],
    ["9999-12-31T23:59:59Z", "9999-12-31T23:59:59Z"],
    ["2000-01-01T00:30:00+00:00", "2000-01-01T00:30:00Z"],
  ])("%s reads as %s", (text, printed) => {
    expect(printDateTime(parseDateTime(text))).toBe(printed);
  });

  const zoneless = '" as "2006-01-02T15:04:05": cannot parse "';
  test.each([
    ["2006-7-8", `parsing time "2006-7-8${zoneless}7-8" as "01"`],
    ["09:10:11", `parsing time "09:10:11${zoneless}09:10:11" as "2006"`],
    ["2006-07-08T09:10", `parsing time "2006-07-08T09:10${zoneless}" as ":"`],
    ["2006-07-08T09:10Z", `parsing time "2006-07-08T09:10Z${zoneless}Z" as ":"`],
    ["2006-07-08 09:10:11", `parsing time "2006-07-08 09:10:11${zoneless} 09:10:11" as "T"`],
    ["12006-07-08", `parsing time "12006-07-08${zoneless}6-07-08" as "-"`],
    ["", `parsing time "${zoneless}" as "2006"`],
    ["soon", 'parsing time "soon" as "2006": cannot parse "soon" as "2006"'],
    ["2006-13-01", 'parsing time "2006-13-01": month out of range'],
    ["2001-02-29", 'parsing time "2001-02-29": day out of range'],
    [
      "2006-07-08T09:10:11+25:00",
      'parsing time "2006-07-08T09:10:11+25:00": time zone offset hour out of range',
    ],
    [
      "2006-07-08T09:10:1xZZ",
      'parsing time "2006-07-08T09:10:1xZZ" as "2006-01-02T15:04:05Z07:00": cannot parse "1xZZ" as "05"',
    ],
    ["2006-07-08T24:00:00Z", 'parsing time "2006-07-08T24:00:00Z": hour out of range'],
    ["2006-12-31T23:59:60Z", 'parsing time "2006-12-31T23:59:60Z": second out of range'],
  ])("%j is refused", (text, message) => {
    expect(() => parseDateTime(text)).toThrow(message);
  });

  test("a zone must be a name when it follows an offset", () => {
    expect(() => parseDateTime("2006-07-08 09:10:11 -0300 -0300")).toThrow("cannot parse");
  });
});

test("instants compare without regard to their offsets", () => {
  const a = parseDateTime("2000-01-01T00:30:00+01:00");
  const b = parseDateTime("1999-12-31T23:30:00Z");
  expect(compareDateTimes(a, b)).toBe(0);
  expect(compareDateTimes(a, parseDateTime("1999-12-31T23:30:00.000000001Z"))).toBeLessThan(0);
});

test("dates agree with the platform's calendar and read back", () => {
  const ms = fc.integer({ min: -62167219200000, max: 253402300799999 });
  fc.assert(
    fc.property(ms, (instant) => {
      const time = dateTimeFromMs(instant);
      const printed = printDateTime(time);
      expect(new Date(printed).getTime()).toBe(instant);
      expect(parseDateTime(printed)).toEqual(time);
    }),
  );
});
