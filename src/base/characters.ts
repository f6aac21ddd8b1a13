/** Character codes, and characters as they are named in messages. */

/** A letter, `_` or `~`. */
export function isNameBegin(code: number): boolean {
  return (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || code === 95 || code === 126;
}

/** What may follow in a name: the same, digits and `.`. */
export function isNamePart(code: number): boolean {
  return isNameBegin(code) || (code >= 48 && code <= 57) || code === 46;
}

export function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}

export function isHexDigit(code: number): boolean {
  return (code >= 48 && code <= 57) || (code >= 97 && code <= 102) || (code >= 65 && code <= 70);
}

/**
 * The offset at which an IRI that begins at `from` (behind its `<`) ends: at the first character that it may not
 * hold. Backslashes stand only in `\uXXXX` and `\UXXXXXXXX`.
 */
export function skipIri(text: string, from: number): number {
  let i = from;
  while (i < text.length) {
    const code = text.charCodeAt(i);
    if (code <= 32) return i;
    switch (code) {
      case 34: // "
      case 60: // <
      case 62: // >
      case 94: // ^
      case 96: // `
      case 123: // {
      case 124: // |
      case 125: // }
        return i;
      case 92: {
        const letter = text.charCodeAt(i + 1);
        const digits = letter === 117 ? 4 : letter === 85 ? 8 : 0;
        if (digits === 0) return i;
        for (let k = 0; k < digits; k++) {
          // The character before the wrong one is the one that is complained about.
          if (!isHexDigit(text.charCodeAt(i + 2 + k))) return i + 1 + k;
        }
        i += 2 + digits;
        break;
      }
      default:
        i++;
    }
  }
  return i;
}

const unprintable = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}]|(?! )\p{Zs}/u;

/** `U+0041 'A'`; the character itself only where it can be seen. */
export function printRune(code: number): string {
  if (code < 0) return "U+FFFFFFFFFFFFFFFF";
  const hex = "U+" + code.toString(16).toUpperCase().padStart(4, "0");
  const character = String.fromCodePoint(code);
  return unprintable.test(character) ? hex : `${hex} '${character}'`;
}

const namedEscapes: Readonly<Record<number, string>> = {
  7: "\\a",
  8: "\\b",
  9: "\\t",
  10: "\\n",
  11: "\\v",
  12: "\\f",
  13: "\\r",
  39: "\\'",
  92: "\\\\",
};

/** A character in single quotes, escaped where it cannot be seen. */
export function quoteRune(code: number): string {
  const named = namedEscapes[code];
  if (named !== undefined) return `'${named}'`;
  const character = String.fromCodePoint(code);
  if (!unprintable.test(character)) return `'${character}'`;
  if (code < 0x80) return `'\\x${code.toString(16).padStart(2, "0")}'`;
  if (code < 0x10000) return `'\\u${code.toString(16).padStart(4, "0")}'`;
  return `'\\U${code.toString(16).padStart(8, "0")}'`;
}
