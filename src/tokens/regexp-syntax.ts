/**
 * As much of RE2's syntax as is needed to see which texts an expression can match. What is read has been compiled
 * before, so it is well-formed; what this file does not know counts as any character or as nothing.
 */

export type RegexpNode =
  /** Matches without a character: anchors, word boundaries, the empty expression. */
  | { readonly kind: "empty" }
  /** One of few characters; several by classes and by ignoring case. */
  | { readonly kind: "characters"; readonly characters: readonly string[] }
  /** One of many characters. */
  | { readonly kind: "any" }
  | { readonly kind: "concat"; readonly parts: readonly RegexpNode[] }
  | { readonly kind: "alternate"; readonly parts: readonly RegexpNode[] }
  /** max undefined: without end. */
  | {
      readonly kind: "repeat";
      readonly part: RegexpNode;
      readonly min: number;
      readonly max: number | undefined;
    };

const empty: RegexpNode = { kind: "empty" };
const any: RegexpNode = { kind: "any" };

/** Characters of a class beyond which it counts as any character. */
const classSizeMax = 100;

interface Scan {
  readonly source: readonly string[];
  at: number;
  ignoreCase: boolean;
}

/** The tree of a well-formed expression. */
export function parseRegexp(source: string, ignoreCase: boolean): RegexpNode {
  const scan: Scan = { source: [...source], at: 0, ignoreCase };
  const parts: RegexpNode[] = [];
  while (scan.at < scan.source.length) {
    parts.push(parseAlternatives(scan));
    // A bracket that closes nothing cannot be in a well-formed expression; step over it all the same.
    scan.at++;
  }
  return parts.length === 1 ? (parts[0] ?? empty) : { kind: "concat", parts };
}

function peek(scan: Scan, offset = 0): string {
  return scan.source[scan.at + offset] ?? "";
}

function parseAlternatives(scan: Scan): RegexpNode {
  const parts = [parseConcat(scan)];
  while (peek(scan) === "|") {
    scan.at++;
    parts.push(parseConcat(scan));
  }
  return parts.length === 1 ? (parts[0] ?? empty) : { kind: "alternate", parts };
}

function parseConcat(scan: Scan): RegexpNode {
  const parts: RegexpNode[] = [];
  while (scan.at < scan.source.length && peek(scan) !== "|" && peek(scan) !== ")") {
    if (peek(scan) === "\\" && peek(scan, 1) === "Q") parts.push(...parseQuoted(scan));
    else parts.push(parseRepeats(scan, parseAtom(scan)));
  }
  return parts.length === 1 ? (parts[0] ?? empty) : { kind: "concat", parts };
}

/** `\Q…\E`: characters as they stand. An operator behind it belongs to the last one. */
function parseQuoted(scan: Scan): RegexpNode[] {
  scan.at += 2;
  const parts: RegexpNode[] = [];
  while (scan.at < scan.source.length && !(peek(scan) === "\\" && peek(scan, 1) === "E")) {
    parts.push(makeCharacter(scan, peek(scan)));
    scan.at++;
  }
  scan.at += 2;
  const last = parts.pop();
  if (last !== undefined) parts.push(parseRepeats(scan, last));
  return parts;
}

function parseRepeats(scan: Scan, atom: RegexpNode): RegexpNode {
  let part = atom;
  for (;;) {
    const range = readRepeat(scan);
    if (range === undefined) return part;
    part = { kind: "repeat", part, ...range };
    if (peek(scan) === "?") scan.at++;
  }
}

function readRepeat(scan: Scan): { min: number; max: number | undefined } | undefined {
  const operator = peek(scan);
  if (operator === "*" || operator === "+" || operator === "?") {
    scan.at++;
    return { min: operator === "+" ? 1 : 0, max: operator === "?" ? 1 : undefined };
  }
  if (operator !== "{") return undefined;
  const rest = scan.source.slice(scan.at, scan.at + 12).join("");
  const match = /^\{(\d+)(,(\d*))?\}/.exec(rest);
  if (match === null) return undefined;
  scan.at += match[0].length;
  const min = Number(match[1]);
  if (match[2] === undefined) return { min, max: min };
  return { min, max: match[3] === "" ? undefined : Number(match[3]) };
}

function parseAtom(scan: Scan): RegexpNode {
  const character = peek(scan);
  scan.at++;
  switch (character) {
    case "(":
      return parseGroup(scan);
    case "[":
      return parseClass(scan);
    case ".":
      return any;
    case "^":
    case "$":
      return empty;
    case "\\":
      return parseEscape(scan);
    default:
      return makeCharacter(scan, character);
  }
}

function parseGroup(scan: Scan): RegexpNode {
  const outer = scan.ignoreCase;
  if (peek(scan) === "?") {
    scan.at++;
    if (/[P<]/.test(peek(scan))) {
      while (scan.at < scan.source.length && peek(scan) !== ">") scan.at++;
      scan.at++;
    } else if (!readFlags(scan)) {
      // `(?i)` holds to the end of the group around it.
      return empty;
    }
  }
  const inner = parseAlternatives(scan);
  scan.at++;
  scan.ignoreCase = outer;
  return inner;
}

/** Whether a group's body follows the flags. */
function readFlags(scan: Scan): boolean {
  let on = true;
  for (;;) {
    const flag = peek(scan);
    scan.at++;
    if (flag === "-") on = false;
    else if (flag === "i") scan.ignoreCase = on;
    else if (flag === ":") return true;
    else if (flag === ")" || flag === "") return false;
  }
}

const escapedControls: Readonly<Record<string, string>> = {
  a: "\u0007",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
};

function parseEscape(scan: Scan): RegexpNode {
  const letter = peek(scan);
  if (/[AzbBCE]/.test(letter)) {
    scan.at++;
    return letter === "C" ? any : empty;
  }
  if (letter === "d") {
    scan.at++;
    return { kind: "characters", characters: [..."0123456789"] };
  }
  if (letter === "p" || letter === "P") {
    skipProperty(scan);
    return any;
  }
  if (/[DsSwW]/.test(letter)) {
    scan.at++;
    if (letter === "w") return { kind: "characters", characters: wordCharacters };
    return letter === "s" ? { kind: "characters", characters: [..."\t\n\f\r "] } : any;
  }
  return makeCharacter(scan, readEscapedCharacter(scan));
}

const wordCharacters = [..."0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz"];

function skipProperty(scan: Scan): void {
  scan.at++;
  if (peek(scan) === "{") {
    while (scan.at < scan.source.length && peek(scan) !== "}") scan.at++;
  }
  scan.at++;
}

/** Behind a backslash: a control, a code in octal or hexadecimal, or the character itself. */
function readEscapedCharacter(scan: Scan): string {
  const letter = peek(scan);
  const rest = scan.source.slice(scan.at, scan.at + 12).join("");
  const code = /^x\{([0-9a-fA-F]+)\}|^x([0-9a-fA-F]{2})|^([0-7]{1,3})/.exec(rest);
  if (code !== null) {
    scan.at += code[0].length;
    const octal = code[3];
    if (octal !== undefined) return String.fromCodePoint(parseInt(octal, 8));
    return String.fromCodePoint(Math.min(parseInt(code[1] ?? code[2] ?? "0", 16), 0x10ffff));
  }
  scan.at++;
  return escapedControls[letter] ?? letter;
}

/** `[…]` with its closing bracket. Negated, or with more characters than are worth listing: any. */
function parseClass(scan: Scan): RegexpNode {
  const isNegated = peek(scan) === "^";
  if (isNegated) scan.at++;
  const characters = new Set<string>();
  let isWide = isNegated;
  for (let first = true; scan.at < scan.source.length; first = false) {
    if (peek(scan) === "]" && !first) break;
    const low = readClassMember(scan);
    if (low === undefined) {
      isWide = true;
      continue;
    }
    if (typeof low !== "string") {
      for (const character of low) characters.add(character);
      continue;
    }
    const isRange = peek(scan) === "-" && peek(scan, 1) !== "]" && peek(scan, 1) !== "";
    let high: string | readonly string[] | undefined = low;
    if (isRange) {
      scan.at++;
      high = readClassMember(scan);
    }
    if (!addRange(characters, low, typeof high === "string" ? high : low)) isWide = true;
  }
  scan.at++;
  if (isWide || characters.size > classSizeMax || characters.size === 0) return any;
  const variants = [...characters].flatMap((character) => casesOf(scan, character));
  return { kind: "characters", characters: [...new Set(variants)] };
}

/** A character, a listed set (`\d`), or undefined for a set too large to list. */
function readClassMember(scan: Scan): string | readonly string[] | undefined {
  const character = peek(scan);
  scan.at++;
  if (character === "[" && peek(scan) === ":") {
    while (scan.at < scan.source.length && !(peek(scan) === ":" && peek(scan, 1) === "]"))
      scan.at++;
    scan.at += 2;
    return undefined;
  }
  if (character !== "\\") return character;
  if (/[pP]/.test(peek(scan))) {
    skipProperty(scan);
    return undefined;
  }
  if (/[dDsSwW]/.test(peek(scan))) {
    const node = parseEscape(scan);
    return node.kind === "characters" ? node.characters : undefined;
  }
  return readEscapedCharacter(scan);
}

function addRange(characters: Set<string>, low: string, high: string): boolean {
  const from = low.codePointAt(0) ?? 0;
  const to = high.codePointAt(0) ?? 0;
  if (to - from > classSizeMax) return false;
  for (let code = from; code <= to; code++) characters.add(String.fromCodePoint(code));
  return true;
}

function makeCharacter(scan: Scan, character: string): RegexpNode {
  return { kind: "characters", characters: casesOf(scan, character) };
}

/** Letters whose case folds to a letter that is not their plain upper or lower case. */
const furtherCases = [
  "kK\u212a",
  "sS\u017f",
  "\u00e5\u00c5\u212b",
  "\u03c9\u03a9\u2126",
  "\u03c3\u03a3\u03c2",
];

function casesOf(scan: Scan, character: string): string[] {
  if (!scan.ignoreCase) return [character];
  const further = furtherCases.find((letters) => letters.includes(character));
  if (further !== undefined) return [...further];
  const cases = new Set([character, character.toLowerCase(), character.toUpperCase()]);
  const single = [...cases].filter((variant) => [...variant].length === 1);
  return single;
}
