/**
 * What is wrong with a JSON text, in the words that clients of the reference know. Reading is `JSON.parse`'s work; this
 * walks the text a second time, only when that has failed, to say where and why.
 */
interface JsonSyntaxFault {
  /** Bytes of UTF-8 up to and including the one that does not fit; all of them when the text ends too early. */
  readonly offset: number;
  readonly detail: string;
}

/** What is told of a text that ends too early. */
export const jsonEnd = "unexpected end of JSON input";

type State =
  "value" | "valueOrEnd" | "key" | "keyOrEnd" | "colon" | "afterMember" | "afterElement" | "end";

/** The first fault of `text`; undefined when it is well-formed. */
export function findJsonSyntaxFault(text: string): JsonSyntaxFault | undefined {
  const bytes = new TextEncoder().encode(text);
  const scan = new Scan(bytes);
  try {
    scan.run();
    return undefined;
  } catch (error) {
    if (error instanceof Unfit) return { offset: error.offset, detail: error.message };
    throw error;
  }
}

/** Line and character of an offset, both from 1, as the reference counts them: a line feed is its line's first. */
export function locateOffset(text: string, offset: number): { line: number; character: number } {
  let line = 1;
  let lineStart = 0;
  let lineOffset = 0;
  for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n", end + 1)) {
    const next = lineOffset + utf8Length(text, lineStart, end);
    if (next > offset) break;
    line++;
    lineStart = end;
    lineOffset = next;
  }
  let character = 0;
  let at = lineOffset;
  for (let i = lineStart; i < text.length;) {
    const point = text.codePointAt(i) ?? 0;
    character++;
    if (at === offset) break;
    i += point > 0xffff ? 2 : 1;
    at += pointLength(point);
  }
  return { line, character };
}

class Unfit extends Error {
  readonly offset: number;
  constructor(offset: number, message: string) {
    super(message);
    this.offset = offset;
  }
}

class Scan {
  readonly #bytes: Uint8Array;
  #at = 0;
  /** One entry per open bracket: true for an object. */
  readonly #open: boolean[] = [];

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  run(): void {
    let state: State = "value";
    for (;;) {
      this.#skipBlanks();
      if (this.#at >= this.#bytes.length) {
        if (state === "end") return;
        throw new Unfit(this.#bytes.length, jsonEnd);
      }
      state = this.#step(state, this.#bytes[this.#at] ?? 0);
    }
  }

  #step(state: State, byte: number): State {
    switch (state) {
      case "value":
      case "valueOrEnd":
        if (state === "valueOrEnd" && byte === 0x5d) return this.#close();
        return this.#beginValue(byte);
      case "key":
      case "keyOrEnd":
        if (state === "keyOrEnd" && byte === 0x7d) return this.#close();
        if (byte !== 0x22) throw this.#unfit("looking for beginning of object key string");
        this.#string();
        return "colon";
      case "colon":
        if (byte !== 0x3a) throw this.#unfit("after object key");
        this.#at++;
        return "value";
      case "afterMember":
        if (byte === 0x7d) return this.#close();
        if (byte !== 0x2c) throw this.#unfit("after object key:value pair");
        this.#at++;
        return "key";
      case "afterElement":
        if (byte === 0x5d) return this.#close();
        if (byte !== 0x2c) throw this.#unfit("after array element");
        this.#at++;
        return "value";
      case "end":
        throw this.#unfit("after top-level value");
    }
  }

  #beginValue(byte: number): State {
    if (byte === 0x7b || byte === 0x5b) {
      this.#open.push(byte === 0x7b);
      this.#at++;
      return byte === 0x7b ? "keyOrEnd" : "valueOrEnd";
    }
    if (byte === 0x22) this.#string();
    else if (byte === 0x2d || isDigit(byte)) this.#number();
    else if (byte === 0x74) this.#word("true");
    else if (byte === 0x66) this.#word("false");
    else if (byte === 0x6e) this.#word("null");
    else throw this.#unfit("looking for beginning of value");
    return this.#afterValue();
  }

  #close(): State {
    this.#at++;
    this.#open.pop();
    return this.#afterValue();
  }

  #afterValue(): State {
    const inside = this.#open.at(-1);
    if (inside === undefined) return "end";
    return inside ? "afterMember" : "afterElement";
  }

  #string(): void {
    this.#at++;
    for (;;) {
      const byte = this.#need();
      if (byte === 0x22) break;
      if (byte < 0x20) throw this.#unfit("in string literal");
      this.#at++;
      if (byte !== 0x5c) continue;
      const escape = this.#need();
      if (!'bfnrt\\/"u'.includes(String.fromCharCode(escape))) {
        throw this.#unfit("in string escape code");
      }
      this.#at++;
      if (escape !== 0x75) continue;
      for (let i = 0; i < 4; i++, this.#at++) {
        if (!isHex(this.#need())) throw this.#unfit("in \\u hexadecimal character escape");
      }
    }
    this.#at++;
  }

  #number(): void {
    if (this.#peek() === 0x2d) this.#at++;
    const first = this.#need();
    if (!isDigit(first)) throw this.#unfit("in numeric literal");
    this.#at++;
    if (first !== 0x30) this.#digits();
    if (this.#peek() === 0x2e) {
      this.#at++;
      if (!isDigit(this.#need())) throw this.#unfit("after decimal point in numeric literal");
      this.#digits();
    }
    const exponent = this.#peek();
    if (exponent === 0x65 || exponent === 0x45) {
      this.#at++;
      const sign = this.#need();
      if (sign === 0x2b || sign === 0x2d) this.#at++;
      if (!isDigit(this.#need())) throw this.#unfit("in exponent of numeric literal");
      this.#digits();
    }
  }

  #digits(): void {
    while (isDigit(this.#peek())) this.#at++;
  }

  #word(word: string): void {
    for (let i = 0; i < word.length; i++, this.#at++) {
      if (this.#need() === word.charCodeAt(i)) continue;
      throw this.#unfit(`in literal ${word} (expecting ${quote(word.charCodeAt(i))})`);
    }
  }

  #skipBlanks(): void {
    for (; this.#at < this.#bytes.length; this.#at++) {
      const byte = this.#bytes[this.#at];
      if (byte !== 0x20 && byte !== 0x09 && byte !== 0x0a && byte !== 0x0d) return;
    }
  }

  #peek(): number {
    return this.#bytes[this.#at] ?? -1;
  }

  #need(): number {
    const byte = this.#bytes[this.#at];
    if (byte === undefined) throw new Unfit(this.#bytes.length, jsonEnd);
    return byte;
  }

  #unfit(where: string): Unfit {
    return new Unfit(this.#at + 1, `invalid character ${quote(this.#peek())} ${where}`);
  }
}

function isDigit(byte: number): boolean {
  return byte >= 0x30 && byte <= 0x39;
}

function isHex(byte: number): boolean {
  return isDigit(byte) || (byte >= 0x41 && byte <= 0x46) || (byte >= 0x61 && byte <= 0x66);
}

/** A byte in single quotes, as the reference writes it: bytes beyond ASCII as the Latin-1 letter of that number. */
function quote(byte: number): string {
  if (byte === 0x27) return "'\\''";
  if (byte === 0x22) return "'\"'";
  const short: Record<number, string> = {
    7: "\\a",
    8: "\\b",
    9: "\\t",
    10: "\\n",
    11: "\\v",
    12: "\\f",
    13: "\\r",
    0x5c: "\\\\",
  };
  const known = short[byte];
  if (known !== undefined) return `'${known}'`;
  if (byte < 0x20 || byte === 0x7f) return `'\\x${byte.toString(16).padStart(2, "0")}'`;
  if ((byte >= 0x80 && byte <= 0xa0) || byte === 0xad) {
    return `'\\u${byte.toString(16).padStart(4, "0")}'`;
  }
  return `'${String.fromCharCode(byte)}'`;
}

function pointLength(point: number): number {
  if (point < 0x80) return 1;
  if (point < 0x800) return 2;
  return point < 0x10000 ? 3 : 4;
}

function utf8Length(text: string, from: number, to: number): number {
  let length = 0;
  for (let i = from; i < to; i++) {
    const code = text.charCodeAt(i);
    // Each half of a pair is two bytes of four.
    length += code < 0x80 ? 1 : code < 0x800 || (code & 0xf800) === 0xd800 ? 2 : 3;
  }
  return length;
}
