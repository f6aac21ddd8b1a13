/**
 * A JSON reader that keeps the text of numbers, since an int64 does not fit into a double, and tells objects by their
 * keys in order (the last of equal keys counts). `JSON.parse` can do neither.
 */
import { findJsonSyntaxFault, locateOffset } from "../base/json-syntax.ts";
import { Fault } from "../model/fault.ts";
import { defaultLimits, makeLimitFault } from "../model/limits.ts";

export type JsonValue = string | boolean | null | JsonNumber | readonly JsonValue[] | JsonObject;

export type JsonObject = Map<string, JsonValue>;

export class JsonNumber {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** A member of the outermost object, with the text of its value as it stands there. */
export interface JsonMember {
  readonly value: JsonValue;
  readonly text: string;
}

/** Any JSON text. Throws Fault E_HTTP_REQUEST (`Error parsing JSON at line …`), or E_LIMIT where it nests too deep. */
export function readJson(text: string, depthMax: number = defaultLimits.depthMax): JsonValue {
  const reader = new JsonReader(text, depthMax);
  return reader.readAll();
}

/** An object, whose members also keep their text; undefined where the text is no object. */
export function readJsonMembers(
  text: string,
  depthMax: number = defaultLimits.depthMax,
): ReadonlyMap<string, JsonMember> | undefined {
  const reader = new JsonReader(text, depthMax);
  return reader.readMembers();
}

/** Unwinds to where the text is known as a whole; the message is found by a second walk. */
class Malformed extends Error {}

class JsonReader {
  private readonly text: string;
  private position = 0;
  private depth = 0;
  private readonly depthMax: number;

  constructor(text: string, depthMax: number) {
    this.text = text;
    this.depthMax = depthMax;
  }

  readAll(): JsonValue {
    return this.guard(() => {
      const value = this.readValue();
      this.expectEnd();
      return value;
    });
  }

  readMembers(): ReadonlyMap<string, JsonMember> | undefined {
    return this.guard(() => {
      if (this.nextCode() !== 123) {
        this.readValue();
        this.expectEnd();
        return undefined;
      }
      const members = new Map<string, JsonMember>();
      this.readObject((key, value, text) => members.set(key, { value, text: text() }));
      this.expectEnd();
      return members;
    });
  }

  private guard<T>(read: () => T): T {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof Malformed)) throw error;
      const fault = findJsonSyntaxFault(this.text);
      const offset = fault?.offset ?? this.position;
      const detail = fault?.detail ?? "invalid JSON";
      throw jsonFault(this.text, offset, detail);
    }
  }

  private expectEnd(): void {
    if (this.nextCode() !== -1) throw new Malformed();
  }

  /** The next character that is no blank; −1 at the end. */
  private nextCode(): number {
    const { text } = this;
    while (this.position < text.length) {
      const code = text.charCodeAt(this.position);
      if (code !== 32 && code !== 10 && code !== 13 && code !== 9) return code;
      this.position++;
    }
    return -1;
  }

  private readValue(): JsonValue {
    const code = this.nextCode();
    switch (code) {
      case 123: {
        const object: JsonObject = new Map();
        this.readObject((key, value) => object.set(key, value));
        return object;
      }
      case 91:
        return this.readArray();
      case 34:
        return this.readString();
      case 116:
        return this.readWord("true", true);
      case 102:
        return this.readWord("false", false);
      case 110:
        return this.readWord("null", null);
      default:
        return this.readNumber();
    }
  }

  private readObject(take: (key: string, value: JsonValue, text: () => string) => void): void {
    this.enter();
    this.position++;
    if (this.nextCode() === 125) {
      this.position++;
      this.depth--;
      return;
    }
    for (;;) {
      if (this.nextCode() !== 34) throw new Malformed();
      const key = this.readString();
      if (this.nextCode() !== 58) throw new Malformed();
      this.position++;
      this.nextCode();
      const start = this.position;
      const value = this.readValue();
      const end = this.position;
      take(key, value, () => this.text.slice(start, end));
      const code = this.nextCode();
      this.position++;
      if (code === 125) break;
      if (code !== 44) throw new Malformed();
    }
    this.depth--;
  }

  private readArray(): JsonValue[] {
    this.enter();
    this.position++;
    const items: JsonValue[] = [];
    if (this.nextCode() === 93) {
      this.position++;
      this.depth--;
      return items;
    }
    for (;;) {
      items.push(this.readValue());
      const code = this.nextCode();
      this.position++;
      if (code === 93) break;
      if (code !== 44) throw new Malformed();
    }
    this.depth--;
    return items;
  }

  private readString(): string {
    const { text } = this;
    const start = this.position + 1;
    let isEscaped = false;
    let i = start;
    for (;;) {
      // NaN at the end, which no comparison lets pass.
      const code = text.charCodeAt(i);
      if (code === 34) break;
      if (!(code >= 32)) throw new Malformed();
      if (code === 92) {
        isEscaped = true;
        i++;
      }
      i++;
    }
    this.position = i + 1;
    return isEscaped ? this.unescape(start - 1, i + 1) : text.slice(start, i);
  }

  private unescape(from: number, to: number): string {
    try {
      const string = JSON.parse(this.text.slice(from, to)) as string;
      // Halves of surrogate pairs cannot be stored as UTF-8.
      return string.replace(/\p{Cs}/gu, "\ufffd");
    } catch {
      throw new Malformed();
    }
  }

  private readWord<V extends boolean | null>(word: string, value: V): V {
    if (!this.text.startsWith(word, this.position)) throw new Malformed();
    this.position += word.length;
    return value;
  }

  private readNumber(): JsonNumber {
    numberPattern.lastIndex = this.position;
    const match = numberPattern.exec(this.text);
    if (match === null) throw new Malformed();
    this.position = numberPattern.lastIndex;
    return new JsonNumber(match[0]);
  }

  private enter(): void {
    if (++this.depth > this.depthMax) {
      throw makeLimitFault("depth", `Exceeded mutation depth limit = ${this.depthMax}.`);
    }
  }
}

const numberPattern = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;

/** `Error parsing JSON at line L, character C: …`, as the reference words what is wrong with a body. */
export function jsonFault(text: string, offset: number, detail: string): Fault {
  const { line, character } = locateOffset(text, offset);
  return new Fault(
    "E_HTTP_REQUEST",
    `Error parsing JSON at line ${line}, character ${character}: ${detail}\n`,
  );
}
