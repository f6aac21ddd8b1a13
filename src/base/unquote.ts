/**
 * What a text in double quotes says, read as Go's strconv.Unquote does; undefined where its syntax is wrong (raw
 * line feeds, unknown or short escapes, halves of surrogate pairs).
 */
export function unquote(quoted: string): string | undefined {
  const end = quoted.length - 1;
  if (end < 1 || quoted.charCodeAt(0) !== 34 || quoted.charCodeAt(end) !== 34) return undefined;
  const body = quoted.slice(1, end);
  if (!/["\\\n]/.test(body)) return body;
  return unescape(body);
}

const letters: Readonly<Record<string, string>> = {
  a: "\x07",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
  "\\": "\\",
  '"': '"',
};

// `\xHH` and `\OOO` give bytes, which several of them may make into one character.
const escape =
  /\\(?:([abfnrtv\\"])|x([0-9a-fA-F]{2})|([0-7]{3})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8}))|([^"\\\n]+)/uy;

function unescape(body: string): string | undefined {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  let result = "";
  let bytes: number[] = [];
  escape.lastIndex = 0;
  while (escape.lastIndex < body.length) {
    const match = escape.exec(body);
    if (match === null) return undefined;
    const [, letter, hexByte, octalByte, short, long, plain] = match;
    const byte = hexByte !== undefined ? parseInt(hexByte, 16) : parseInt(octalByte ?? "", 8);
    if (!Number.isNaN(byte)) {
      if (byte > 255) return undefined;
      bytes.push(byte);
      continue;
    }
    if (bytes.length > 0) {
      result += decoder.decode(Uint8Array.from(bytes));
      bytes = [];
    }
    if (plain !== undefined) result += plain;
    else if (letter !== undefined) result += letters[letter] ?? "";
    else {
      const code = parseInt(short ?? long ?? "", 16);
      if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) return undefined;
      result += String.fromCodePoint(code);
    }
  }
  return bytes.length === 0 ? result : result + decoder.decode(Uint8Array.from(bytes));
}
