/**
 * JSON as a request carries it: numbers keep their digits (an Int64 has more than a double holds), and refusals have
 * the texts that clients know. `JSON.parse` serves every body that it can serve without loss.
 */

import { JsonMalformed, type JsonMaker, JsonWalk } from "../../base/json-walk.ts";
import type { Steps } from "../../base/maybe.ts";
import type { Look } from "../../model/request-budget.ts";

/** A number whose digits a double would not keep, or whose form matters (`1.0` is no Int64). */
export class NumberText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export type JsonValue =
  | null
  | boolean
  | string
  | number
  | NumberText
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue };

export type JsonObject = { readonly [key: string]: JsonValue };

/** Why a text is not JSON; the message is complete. */
export class JsonSyntaxError extends Error {
  override readonly name = "JsonSyntaxError";
}

// Outside of strings too: a false alarm costs a slower decoding, nothing else.
const needsDigits = /[0-9](?:\.|[eE]|[0-9]{15})/;

/** The first JSON value of a text; what follows it is ignored. Throws JsonSyntaxError. */
export function decodeJson(text: string): JsonValue {
  if (!needsDigits.test(text)) {
    try {
      return JSON.parse(text) as JsonValue;
    } catch {
      // Trailing text is allowed and faults have their own texts: the slow way knows both.
    }
  }
  return new JsonDecoder(text).decode();
}

/** Longer texts are decoded in steps. */
const unitsAtOnce = 65_536;

/** `decodeJson` that rests every few milliseconds on its way through a long text. */
export function* decodeJsonInSteps(text: string, look: Look): Steps<JsonValue> {
  if (text.length <= unitsAtOnce) return decodeJson(text);
  const walk = new JsonWalk(text, plainMaker);
  try {
    for (let until = unitsAtOnce; !walk.step(until); until = walk.position + unitsAtOnce) {
      yield look(unitsAtOnce >> 6);
    }
    return walk.value;
  } catch (error) {
    if (!(error instanceof JsonMalformed)) throw error;
  }
  // What follows the value is ignored; what is wrong within it is told from its place.
  if (walk.isTrailing) return walk.value;
  const { prefix, from } = walk.fault;
  return new JsonDecoder(prefix + text.slice(from)).decode();
}

const plainMaker: JsonMaker<JsonValue, Record<string, JsonValue>> = {
  makeObject: () => ({}),
  setMember: setMember,
  makeNumber: toNumber,
  makeList: (items) => items,
  makePlain: (value) => value,
  enter: (depth) => {
    if (depth > depthMax) throw new JsonSyntaxError("exceeded max depth");
  },
};

function setMember(object: Record<string, JsonValue>, key: string, value: JsonValue): void {
  // A plain assignment to "__proto__" would set the prototype.
  if (key === "__proto__") {
    Object.defineProperty(object, key, { value, enumerable: true, configurable: true });
  } else object[key] = value;
}

function toNumber(text: string): number | NumberText {
  return text.length < 16 && text !== "-0" && !/[.eE]/.test(text)
    ? Number(text)
    : new NumberText(text);
}

export function isJsonObject(value: JsonValue | undefined): value is JsonObject {
  return (
    typeof value === "object" &&
    value !== null &&
    !Array.isArray(value) &&
    !(value instanceof NumberText)
  );
}

export function isJsonArray(value: JsonValue | undefined): value is readonly JsonValue[] {
  return Array.isArray(value);
}

/** The text of a value, numbers in the digits that they came in. */
export function encodeJson(value: JsonValue): string {
  if (value instanceof NumberText) return value.text;
  if (isJsonArray(value)) return `[${value.map(encodeJson).join()}]`;
  if (!isJsonObject(value)) return JSON.stringify(value);
  const members: string[] = [];
  for (const [name, member] of Object.entries(value)) {
    members.push(`${JSON.stringify(name)}:${encodeJson(member)}`);
  }
  return `{${members.join()}}`;
}

/** Objects nested deeper are refused before the stack is in danger. */
const depthMax = 10_000;

class JsonDecoder {
  readonly #text: string;
  #at = 0;
  #depth = 0;

  constructor(text: string) {
    this.#text = text;
  }

  decode(): JsonValue {
    this.#skipBlanks();
    if (this.#at >= this.#text.length) throw new JsonSyntaxError("EOF");
    return this.#value();
  }

  #value(): JsonValue {
    this.#skipBlanks();
    const c = this.#peek();
    switch (c) {
      case "{":
        return this.#object();
      case "[":
        return this.#array();
      case '"':
        return this.#string();
      case "t":
        return this.#word("true", true);
      case "f":
        return this.#word("false", false);
      case "n":
        return this.#word("null", null);
      default:
        if (c === "-" || isDigit(c)) return this.#number();
        throw this.#unexpected("looking for beginning of value");
    }
  }

  #object(): JsonValue {
    this.#enter();
    const result: Record<string, JsonValue> = {};
    this.#at++;
    this.#skipBlanks();
    if (this.#peek() === "}") {
      this.#leave();
      return result;
    }
    for (;;) {
      this.#skipBlanks();
      if (this.#peek() !== '"')
        throw this.#unexpected("looking for beginning of object key string");
      const key = this.#string();
      this.#skipBlanks();
      if (this.#peek() !== ":") throw this.#unexpected("after object key");
      this.#at++;
      const value = this.#value();
      setMember(result, key, value);
      this.#skipBlanks();
      const c = this.#peek();
      if (c !== "," && c !== "}") throw this.#unexpected("after object key:value pair");
      if (c === "}") break;
      this.#at++;
    }
    this.#leave();
    return result;
  }

  #array(): JsonValue {
    this.#enter();
    const result: JsonValue[] = [];
    this.#at++;
    this.#skipBlanks();
    if (this.#peek() === "]") {
      this.#leave();
      return result;
    }
    for (;;) {
      result.push(this.#value());
      this.#skipBlanks();
      const c = this.#peek();
      if (c !== "," && c !== "]") throw this.#unexpected("after array element");
      if (c === "]") break;
      this.#at++;
    }
    this.#leave();
    return result;
  }

  #enter(): void {
    if (++this.#depth > depthMax) throw new JsonSyntaxError("exceeded max depth");
  }

  #leave(): void {
    this.#at++;
    this.#depth--;
  }

  #string(): string {
    const start = this.#at++;
    for (;;) {
      const c = this.#peek();
      if (c === '"') break;
      if (c < " ") throw this.#unexpected("in string literal");
      this.#at++;
      if (c === "\\") this.#escape();
    }
    this.#at++;
    return JSON.parse(this.#text.slice(start, this.#at)) as string;
  }

  #escape(): void {
    const c = this.#peek();
    if (c === "u") {
      for (let i = 0; i < 4; i++) {
        this.#at++;
        if (!/^[0-9a-fA-F]$/.test(this.#peek())) {
          throw this.#unexpected("in \\u hexadecimal character escape");
        }
      }
    } else if (!'"\\/bfnrt'.includes(c)) throw this.#unexpected("in string escape code");
    this.#at++;
  }

  #word<T>(word: string, value: T): T {
    for (let i = 1; i < word.length; i++) {
      this.#at++;
      if (this.#peek() !== word[i]) {
        throw this.#unexpected(`in literal ${word} (expecting '${word[i]}')`);
      }
    }
    this.#at++;
    return value;
  }

  #number(): number | NumberText {
    const start = this.#at;
    if (this.#peek() === "-") this.#at++;
    if (this.#at >= this.#text.length) throw new JsonSyntaxError("unexpected EOF");
    if (this.#peek() === "0") this.#at++;
    else if (isDigit(this.#peek())) this.#digits();
    else throw this.#unexpected("in numeric literal");
    let plain = true;
    if (this.#text[this.#at] === ".") {
      plain = false;
      this.#at++;
      if (!isDigit(this.#peek())) throw this.#unexpected("after decimal point in numeric literal");
      this.#digits();
    }
    const e = this.#text[this.#at];
    if (e === "e" || e === "E") {
      plain = false;
      this.#at++;
      const sign = this.#peek();
      if (sign === "+" || sign === "-") this.#at++;
      if (!isDigit(this.#peek())) throw this.#unexpected("in exponent of numeric literal");
      this.#digits();
    }
    const text = this.#text.slice(start, this.#at);
    return plain && text.length < 16 && text !== "-0" ? Number(text) : new NumberText(text);
  }

  #digits(): void {
    while (isDigit(this.#text[this.#at] ?? "")) this.#at++;
  }

  #skipBlanks(): void {
    for (;;) {
      const c = this.#text.charCodeAt(this.#at);
      if (c !== 32 && c !== 10 && c !== 13 && c !== 9) return;
      this.#at++;
    }
  }

  #peek(): string {
    const c = this.#text[this.#at];
    if (c === undefined) throw new JsonSyntaxError("unexpected EOF");
    return c;
  }

  #unexpected(where: string): JsonSyntaxError {
    const point = this.#text.codePointAt(this.#at) ?? 0;
    return new JsonSyntaxError(`invalid character ${quoteCharacter(point)} ${where}`);
  }
}

function isDigit(c: string): boolean {
  return c >= "0" && c <= "9" && c.length === 1;
}

function quoteCharacter(point: number): string {
  const character = String.fromCodePoint(point);
  if (character === "'") return "'\\''";
  if (character === '"') return "'\"'";
  if (point < 0x20) return `'${JSON.stringify(character).slice(1, -1)}'`;
  return `'${character}'`;
}
