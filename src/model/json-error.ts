import { quoteGo } from "./conversion-error.ts";

/**
 * What Go's encoding/json says about a text that is not JSON; undefined for one that is. Only the first fault is
 * told, by the character it was met at and by what was being read.
 */
export function describeJsonError(text: string): string | undefined {
  try {
    JSON.parse(text);
    return undefined;
  } catch {
    const scan: Scan = { text, at: 0 };
    const fault = scanValue(scan, 0);
    if (fault !== undefined) return fault;
    skipSpace(scan);
    return scan.at < text.length
      ? met(scan, "after top-level value")
      : "unexpected end of JSON input";
  }
}

interface Scan {
  readonly text: string;
  at: number;
}

const depthMax = 10_000;

function skipSpace(scan: Scan): void {
  while (/[ \t\r\n]/.test(scan.text[scan.at] ?? "")) scan.at++;
}

/** `invalid character 'x' <where>`, or the end of the text. */
function met(scan: Scan, where: string): string {
  const code = scan.text.codePointAt(scan.at);
  if (code === undefined) return "unexpected end of JSON input";
  return `invalid character ${quoteCharacter(String.fromCodePoint(code))} ${where}`;
}

function quoteCharacter(character: string): string {
  if (character === "'") return `'\\''`;
  if (character === '"') return `'"'`;
  const first = new TextEncoder().encode(character)[0] ?? 0;
  const shown = first < 0x80 ? character : String.fromCharCode(first);
  return `'${quoteGo(shown).slice(1, -1)}'`;
}

function scanValue(scan: Scan, depth: number): string | undefined {
  if (depth > depthMax) return "exceeded max depth";
  skipSpace(scan);
  const character = scan.text[scan.at] ?? "";
  if (character === "{") return scanObject(scan, depth);
  if (character === "[") return scanArray(scan, depth);
  if (character === '"') return scanString(scan);
  if (character === "-" || (character >= "0" && character <= "9")) return scanNumber(scan);
  for (const word of ["true", "false", "null"]) {
    if (word.startsWith(character) && character !== "") return scanWord(scan, word);
  }
  return met(scan, "looking for beginning of value");
}

function scanWord(scan: Scan, word: string): string | undefined {
  for (let i = 0; i < word.length; i++, scan.at++) {
    const expected = word[i] ?? "";
    if (scan.text[scan.at] !== expected) {
      return met(scan, `in literal ${word} (expecting '${expected}')`);
    }
  }
  return undefined;
}

function scanString(scan: Scan): string | undefined {
  for (scan.at++; ; scan.at++) {
    const character = scan.text[scan.at] ?? "";
    if (character === "" || character < " ") return met(scan, "in string literal");
    if (character === '"') break;
    if (character !== "\\") continue;
    scan.at++;
    if (scan.text[scan.at] === "u") {
      for (let digit = 0; digit < 4; digit++) {
        scan.at++;
        if (!/[0-9a-fA-F]/.test(scan.text[scan.at] ?? "")) {
          return met(scan, "in \\u hexadecimal character escape");
        }
      }
    } else if (!/["\\/bfnrt]/.test(scan.text[scan.at] ?? "")) {
      return met(scan, "in string escape code");
    }
  }
  scan.at++;
  return undefined;
}

function scanNumber(scan: Scan): string | undefined {
  if (scan.text[scan.at] === "-") scan.at++;
  if (scan.text[scan.at] === "0") scan.at++;
  else if (!skipDigits(scan)) return met(scan, "in numeric literal");
  if (scan.text[scan.at] === ".") {
    scan.at++;
    if (!skipDigits(scan)) return met(scan, "after decimal point in numeric literal");
  }
  if (/[eE]/.test(scan.text[scan.at] ?? "")) {
    scan.at++;
    if (/[+-]/.test(scan.text[scan.at] ?? "")) scan.at++;
    if (!skipDigits(scan)) return met(scan, "in exponent of numeric literal");
  }
  return undefined;
}

function skipDigits(scan: Scan): boolean {
  const start = scan.at;
  while (/[0-9]/.test(scan.text[scan.at] ?? "")) scan.at++;
  return scan.at > start;
}

function scanObject(scan: Scan, depth: number): string | undefined {
  scan.at++;
  skipSpace(scan);
  if (scan.text[scan.at] === "}") {
    scan.at++;
    return undefined;
  }
  for (;;) {
    skipSpace(scan);
    if (scan.text[scan.at] !== '"') return met(scan, "looking for beginning of object key string");
    const key = scanString(scan);
    if (key !== undefined) return key;
    skipSpace(scan);
    if (scan.text[scan.at] !== ":") return met(scan, "after object key");
    scan.at++;
    const value = scanValue(scan, depth + 1);
    if (value !== undefined) return value;
    skipSpace(scan);
    const next = scan.text[scan.at++];
    if (next === "}") return undefined;
    if (next !== ",") {
      scan.at--;
      return met(scan, "after object key:value pair");
    }
  }
}

function scanArray(scan: Scan, depth: number): string | undefined {
  scan.at++;
  skipSpace(scan);
  if (scan.text[scan.at] === "]") {
    scan.at++;
    return undefined;
  }
  for (;;) {
    const value = scanValue(scan, depth + 1);
    if (value !== undefined) return value;
    skipSpace(scan);
    const next = scan.text[scan.at++];
    if (next === "]") return undefined;
    if (next !== ",") {
      scan.at--;
      return met(scan, "after array element");
    }
  }
}
