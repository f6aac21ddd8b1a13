/**
 * Lifts the literals out of a document's text, so that requests that differ in them alone share what was prepared:
 * a template (the cache's key, compared whole) and the literals in textual order. Costs one pass over the text.
 */

interface LiftedText {
  /** The text with a mark for each literal: strings, integers and other numbers have marks of their own. */
  readonly template: string;
  /** Values of the strings, digits of the numbers. */
  readonly literals: readonly string[];
}

const stringMark = "\u0000s";
const intMark = "\u0000i";
const floatMark = "\u0000f";

const numberPattern =
  /-?(?:0|[1-9][0-9]*)(?<fraction>(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)(?![0-9A-Za-z_.])/y;

/**
 * undefined where the text has something that the pass does not understand (block strings, malformed literals,
 * nesting beyond `depthMax`): the parser judges such texts.
 */
export function liftLiterals(text: string, depthMax: number): LiftedText | undefined {
  if (text.includes("\u0000")) return undefined;
  const literals: string[] = [];
  let template = "";
  let copied = 0;
  let depth = 0;
  let i = 0;
  while (i < text.length) {
    const c = text.charCodeAt(i);
    if (isNameStart(c)) {
      i++;
      while (i < text.length && isNamePart(text.charCodeAt(i))) i++;
    } else if (c === 34) {
      const end = stringEnd(text, i);
      if (end < 0) return undefined;
      const value = stringValue(text, i, end);
      if (value === undefined) return undefined;
      literals.push(value);
      template += text.slice(copied, i) + stringMark;
      copied = i = end;
    } else if (c === 45 || (c >= 48 && c <= 57)) {
      numberPattern.lastIndex = i;
      const match = numberPattern.exec(text);
      if (match === null) return undefined;
      literals.push(match[0]);
      template += text.slice(copied, i) + (match[1] === "" ? intMark : floatMark);
      copied = i = i + match[0].length;
    } else if (c === 35) {
      while (i < text.length && text.charCodeAt(i) !== 10 && text.charCodeAt(i) !== 13) i++;
    } else {
      if (c === 123 || c === 91 || c === 40) {
        if (++depth > depthMax) return undefined;
      } else if (c === 125 || c === 93 || c === 41) depth--;
      i++;
    }
  }
  return { template: literals.length === 0 ? text : template + text.slice(copied), literals };
}

/** Whether braces nest deeper than allowed; strings and comments are not looked into. */
export function isTooDeep(text: string, depthMax: number): boolean {
  let depth = 0;
  nestingPattern.lastIndex = 0;
  for (;;) {
    if (!nestingPattern.test(text)) return false;
    const i = nestingPattern.lastIndex - 1;
    const c = text.charCodeAt(i);
    if (c === 34) nestingPattern.lastIndex = skipString(text, i) + 1;
    else if (c === 35) {
      let end = i;
      while (end + 1 < text.length && !isLineEnd(text.charCodeAt(end + 1))) end++;
      nestingPattern.lastIndex = end + 1;
    } else if (c === 123 || c === 91 || c === 40) {
      if (++depth > depthMax) return true;
    } else depth--;
  }
}

/** What changes the depth, and what hides it. The engine's search takes a quarter of a loop's time over a long text. */
const nestingPattern = /["#{}[\]()]/g;

/** The last place of a string that begins at `start`; of one that does not end, the last of its line or of the text. */
function skipString(text: string, start: number): number {
  if (!text.startsWith('""', start + 1)) {
    for (let i = start + 1; i < text.length; i++) {
      const c = text.charCodeAt(i);
      if (c === 34) return i;
      if (c === 92) i++;
      else if (isLineEnd(c)) return i - 1;
    }
    return text.length;
  }
  for (let i = start + 3; ; i += 3) {
    i = text.indexOf('"""', i);
    if (i < 0) return text.length;
    if (text.charCodeAt(i - 1) !== 92) return i + 2;
  }
}

function isLineEnd(c: number): boolean {
  return c === 10 || c === 13;
}

/** The place behind the closing quote; −1 for block strings and strings that do not end in their line. */
function stringEnd(text: string, start: number): number {
  if (text.startsWith('""', start + 1)) return -1;
  for (let i = start + 1; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c === 34) return i + 1;
    if (c === 92) i++;
    else if (c < 32) return -1;
  }
  return -1;
}

function stringValue(text: string, start: number, end: number): string | undefined {
  const inner = text.slice(start + 1, end - 1);
  if (!inner.includes("\\")) return inner;
  try {
    // GraphQL's escapes are JSON's, but for \u{…}, which the parser is left to read.
    return JSON.parse(text.slice(start, end)) as string;
  } catch {
    return undefined;
  }
}

function isNameStart(c: number): boolean {
  return (c >= 97 && c <= 122) || (c >= 65 && c <= 90) || c === 95;
}

function isNamePart(c: number): boolean {
  return isNameStart(c) || (c >= 48 && c <= 57);
}
