/** Events in the form that Dgraph's change data capture has: each fact a message of its own, with what was set alone. */
import type { FeedLine } from "./sink.ts";

interface ToldFact {
  readonly operation: string;
  readonly uid: string;
  readonly predicate: string;
  readonly type: string;
  readonly before?: unknown;
  readonly after?: unknown;
  readonly hidden?: boolean;
}

interface ToldEvent {
  readonly kind: string;
  readonly commitTs: number;
  readonly facts?: readonly ToldFact[];
  readonly operation?: string;
  readonly predicate?: string;
  readonly type?: string;
}

/** None for what it does not tell: passwords, and changes of a schema. */
export function printReferenceForm({ text }: FeedLine): readonly string[] {
  return printEvents(JSON.parse(text.replaceAll(longInteger, keepDigits)) as ToldEvent).map((one) =>
    one.replaceAll(keptInteger, "$1"),
  );
}

/** A member whose number has more digits than a number of JavaScript. In texts its quotes would be escaped. */
const longInteger = /(?<member>"(?:before|after)":)(?<digits>-?\d{16,})(?=[,}])/g;
const keptInteger = /\{"digits":"(-?\d+)"\}/g;

function keepDigits(_all: string, member: string, digits: string): string {
  return `${member}{"digits":"${digits}"}`;
}

function printEvents(told: ToldEvent): readonly string[] {
  const meta = { commit_ts: told.commitTs };
  if (told.kind === "drop") {
    const { operation, type = "", predicate = "" } = told;
    return [JSON.stringify({ meta, type: "drop", event: { operation, type, pred: predicate } })];
  }
  return (told.facts ?? []).flatMap((fact) => {
    if (fact.hidden === true) return [];
    const { operation, predicate: attr, type: valueType } = fact;
    const value = operation === "set" ? fact.after : fact.before;
    const uid = Number(fact.uid);
    const event = { operation, uid, attr, value, value_type: valueType };
    return [JSON.stringify({ meta, type: "mutation", event })];
  });
}

/** The same with its key, as a line of a file. */
export function printReferenceLine(line: FeedLine): readonly string[] {
  return printReferenceForm(line).map(
    (value) => `{ "key": "${line.namespace}", "value": ${value}}`,
  );
}
