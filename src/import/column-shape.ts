/** What the values of a column look like, for drafts. */
import { type BooleanWords, findBooleanWords } from "./boolean-words.ts";
import { makeDateReader } from "./date-form.ts";

export interface ColumnShape {
  readonly name: string;
  readonly scalar: "Boolean" | "Int" | "Int64" | "Float" | "DateTime" | "String";
  /** Forms that read most of its values, the best of them first. */
  readonly dates: readonly string[];
  readonly isUnsureDate: boolean;
  readonly isList: boolean;
  /** Of lists in a text. */
  readonly listSeparator: string | undefined;
  /** Those that it says yes and no with, where they are no `true` and `false`. */
  readonly words: BooleanWords | undefined;
  /** Numbers like 1,75. */
  readonly hasDecimalComma: boolean;
  /** Its name and values look like a key's. */
  readonly isKey: boolean;
}

const dateForms = [
  "iso",
  "YYYY-MM-DD HH:mm:ss",
  "YYYY-MM-DD HH:mm",
  "YYYY/MM/DD",
  "DD.MM.YYYY",
  "D.M.YYYY",
  "DD.MM.YYYY HH:mm",
  "DD.MM.YYYY HH:mm:ss",
  "DD/MM/YYYY",
  "MM/DD/YYYY",
  "M/D/YYYY",
  "DD-MM-YYYY",
  "D MMM YYYY",
  "YYYYMMDD",
] as const;
const listSeparators = ["|", ";"] as const;

export function shapeColumn(name: string, given: readonly unknown[]): ColumnShape {
  const values = given.filter((one) => one !== undefined && one !== null && one !== "");
  const texts = values.flat().map(String);
  const dates = texts.every(isNumber) ? [] : findForms(texts);
  const scalar = dates.length > 0 ? "DateTime" : scalarOf(texts);
  const listSeparator = listSeparators.find(
    (one) => texts.filter((text) => text.split(one).length > 1).length * 10 > texts.length,
  );
  return {
    name,
    scalar: listSeparator === undefined ? scalar : "String",
    dates: dates.slice(0, 1),
    isUnsureDate: dates.includes("DD/MM/YYYY") && dates.includes("MM/DD/YYYY"),
    isList: listSeparator !== undefined || values.some((value) => Array.isArray(value)),
    listSeparator,
    words: findBooleanWords(texts),
    hasDecimalComma:
      texts.some(hasComma) && texts.every((text) => hasComma(text) || isNumber(text)),
    isKey:
      /^(?:id|key|code|email|e-mail|isbn|sku|uuid|slug|.*[_ -]id)$/i.test(name) &&
      texts.length === given.length &&
      new Set(texts).size === texts.length,
  };
}

function hasComma(text: string): boolean {
  return /^[+-]?\d+,\d+$/.test(text.trim());
}

function isNumber(text: string): boolean {
  return /^[+-]?\d+(?:\.\d+)?$/.test(text);
}

/** A faulty value among many does not hide what the others are. */
function findForms(texts: readonly string[]): string[] {
  const counted = dateForms.map((form) => {
    const reader = makeDateReader(form, "");
    return { form, count: texts.filter((text) => reader(text.trim()) !== undefined).length };
  });
  return counted
    .filter(({ count }) => count * 2 > texts.length)
    .toSorted((a, b) => b.count - a.count)
    .map(({ form }) => form);
}

function scalarOf(texts: readonly string[]): ColumnShape["scalar"] {
  if (texts.length === 0) return "String";
  if (texts.every((text) => /^(?:true|false)$/i.test(text))) return "Boolean";
  if (findBooleanWords(texts) !== undefined) return "Boolean";
  // Leading zeros are of codes, not of numbers.
  if (texts.every((text) => /^[+-]?(?:0|[1-9]\d{0,17})$/.test(text))) {
    return texts.every((text) => Math.abs(Number(text)) < 2 ** 31) ? "Int" : "Int64";
  }
  return texts.every(
    (text) => /^[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(text) && !/^0\d/.test(text),
  )
    ? "Float"
    : "String";
}
