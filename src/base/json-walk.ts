/**
 * JSON read piece by piece: `JSON.parse` of 64 MB keeps everybody else waiting for a second and more. The walk goes as
 * far as it is told and comes back; what objects, lists and numbers become is the caller's. It keeps a stack of its own,
 * so that no text can exhaust the engine's.
 */
import { must } from "./assert.ts";

/** What a text is made into. `T` is any value, `O` what stands for an object while its members come. */
export interface JsonMaker<T, O extends T> {
  makeObject(): O;
  setMember(object: O, key: string, value: T): void;
  /** The text as it stands there: a number of JSON's grammar. */
  makeNumber(text: string): T;
  /** A list that is complete; its array is the caller's. */
  makeList(items: T[]): T;
  /** A text, or a word that says it by itself. */
  makePlain(value: string | boolean | null): T;
  /** Open objects and lists, the new one included; throws where they are too many. */
  enter(depth: number): void;
}

/** The text is no JSON; where and why is found by who wants to tell it. */
export class JsonMalformed extends Error {
  override readonly name = "JsonMalformed";
}

/** Where the value of a member of the outermost object stands. */
export interface JsonSpan {
  readonly start: number;
  readonly end: number;
}

const atValue = 0;
const atFirstElement = 1;
const atFirstKey = 2;
const atKey = 3;
const afterValue = 4;
const inText = 5;
const inKey = 6;
const atEnd = 7;

/** Escaped texts are unquoted in pieces of so many characters. */
const pieceLength = 65_536;

interface Open<T, O> {
  readonly items: T[] | undefined;
  readonly object: O | undefined;
  key: string;
}

/** What is open is a list or an object. */
const noOther = "what is no list is an object";

export class JsonWalk<T, O extends T> {
  readonly #text: string;
  readonly #maker: JsonMaker<T, O>;
  readonly #open: Open<T, O>[] = [];
  #top: Open<T, O> | undefined;
  #state = atValue;
  #position = 0;
  #value: T | undefined;
  /** Of the text or key that is being read: where it, and the piece that was not unquoted yet, begin. */
  #textStart = 0;
  #pieceStart = 0;
  #isEscaped = false;
  #pieces = "";
  #spanStart = 0;
  /** Of the value that was read last, where it is a number; −1 otherwise. */
  #numberStart = -1;
  /** Of the outermost object's members, where they are asked for. */
  readonly spans: Map<string, JsonSpan> | undefined;

  constructor(text: string, maker: JsonMaker<T, O>, spans?: Map<string, JsonSpan>) {
    this.#text = text;
    this.#maker = maker;
    this.spans = spans;
  }

  /** Characters that were read. */
  get position(): number {
    return this.#position;
  }

  /** Whether the outermost value was read: what does not fit, then, is behind it. */
  get isTrailing(): boolean {
    return this.#state === afterValue && this.#top === undefined && this.#numberStart < 0;
  }

  /** The outermost value, once `step` has said that the text is read. */
  get value(): T {
    return must(this.#value, "the text is read");
  }

  /**
   * Where what does not fit begins, after JsonMalformed, and a text to set before it that opens what is open there: the
   * fault can be looked for in little more than itself.
   */
  get fault(): { readonly prefix: string; readonly from: number } {
    const isList = this.#top?.items !== undefined;
    const open = this.#top === undefined ? "" : isList ? "[" : '{"":';
    if (this.#numberStart >= 0) return { prefix: open, from: this.#numberStart };
    switch (this.#state) {
      case atFirstKey:
        return { prefix: "{", from: this.#position };
      case atKey:
        return { prefix: '{"":0,', from: this.#position };
      case inKey:
        return { prefix: "{", from: this.#textStart - 1 };
      case inText:
        return { prefix: open, from: this.#textStart - 1 };
      case afterValue:
        return { prefix: `${open}""`, from: this.#position };
      case atFirstElement:
        return { prefix: "[", from: this.#position };
      default:
        return { prefix: isList ? "[0," : open, from: this.#position };
    }
  }

  /** Reads on at least until `until`; true when the whole text was read. Throws JsonMalformed. */
  step(until: number): boolean {
    while (this.#state !== atEnd) {
      if (this.#position >= until && this.#position < this.#text.length) return false;
      switch (this.#state) {
        case afterValue:
          this.#goOn();
          break;
        case inText:
        case inKey:
          this.#readText(until);
          break;
        case atFirstKey:
        case atKey:
          this.#beginKey();
          break;
        default:
          this.#beginValue();
      }
    }
    return true;
  }

  /** The next character that is no blank; −1 at the end. */
  #nextCode(): number {
    const text = this.#text;
    let i = this.#position;
    for (;;) {
      const code = text.charCodeAt(i);
      if (code !== 32 && code !== 10 && code !== 13 && code !== 9) {
        this.#position = i;
        return i < text.length ? code : -1;
      }
      i++;
    }
  }

  #beginValue(): void {
    const code = this.#nextCode();
    if (this.#open.length === 1) this.#spanStart = this.#position;
    switch (code) {
      case 123:
        this.#enter({ items: undefined, object: this.#maker.makeObject(), key: "" }, atFirstKey);
        return;
      case 91:
        this.#enter({ items: [], object: undefined, key: "" }, atFirstElement);
        return;
      case 93:
        if (this.#state !== atFirstElement) throw new JsonMalformed();
        this.#position++;
        this.#close();
        return;
      case 34:
        this.#beginText(inText);
        return;
      case 116:
        this.#take(this.#readWord("true", true));
        return;
      case 102:
        this.#take(this.#readWord("false", false));
        return;
      case 110:
        this.#take(this.#readWord("null", null));
        return;
      default:
        this.#take(this.#readNumber());
    }
  }

  #beginKey(): void {
    const code = this.#nextCode();
    if (code === 34) this.#beginText(inKey);
    else if (code === 125 && this.#state === atFirstKey) {
      this.#position++;
      this.#close();
    } else throw new JsonMalformed();
  }

  /** Behind a value: what follows in its container, or nothing at all. */
  #goOn(): void {
    const code = this.#nextCode();
    const top = this.#top;
    if (top === undefined) {
      if (code !== -1) throw new JsonMalformed();
      this.#state = atEnd;
      return;
    }
    if (code === 44) this.#state = top.items === undefined ? atKey : atValue;
    else if (code === (top.items === undefined ? 125 : 93)) {
      this.#position++;
      this.#close();
      return;
    } else throw new JsonMalformed();
    this.#position++;
    this.#numberStart = -1;
  }

  #enter(open: Open<T, O>, state: number): void {
    this.#open.push(open);
    this.#maker.enter(this.#open.length);
    this.#top = open;
    this.#position++;
    this.#state = state;
  }

  #close(): void {
    this.#numberStart = -1;
    const { items, object } = must(this.#open.pop(), "what is closed was opened");
    this.#top = this.#open.at(-1);
    this.#take(items === undefined ? must(object, noOther) : this.#maker.makeList(items));
  }

  #take(value: T): void {
    const top = this.#top;
    if (top === undefined) this.#value = value;
    else if (top.items !== undefined) top.items.push(value);
    else {
      this.#maker.setMember(must(top.object, noOther), top.key, value);
      if (this.spans !== undefined && this.#open.length === 1) {
        this.spans.set(top.key, { start: this.#spanStart, end: this.#position });
      }
    }
    this.#state = afterValue;
  }

  #beginText(state: number): void {
    this.#textStart = this.#pieceStart = ++this.#position;
    this.#isEscaped = false;
    this.#state = state;
  }

  /** Goes on in a text; one that reaches beyond `until` is left there. */
  #readText(until: number): void {
    const text = this.#text;
    let i = this.#position;
    for (;;) {
      // NaN at the end, which no comparison lets pass.
      const code = text.charCodeAt(i);
      if (code === 34) break;
      if (!(code >= 32)) throw new JsonMalformed();
      if (code === 92) {
        this.#isEscaped = true;
        // Behind the digits of a `\u`: what is none is found when the piece is unquoted.
        i += text.charCodeAt(i + 1) === 117 ? 5 : 1;
      }
      i++;
      if (i >= until && i < text.length) {
        this.#position = i;
        if (this.#isEscaped && i - this.#pieceStart >= pieceLength) this.#unquotePiece(i);
        return;
      }
    }
    this.#position = i + 1;
    const value = this.#isEscaped ? this.#unquote(i) : text.slice(this.#textStart, i);
    if (this.#state === inText) this.#take(this.#maker.makePlain(value));
    else {
      if (this.#nextCode() !== 58) throw new JsonMalformed();
      this.#position++;
      must(this.#top, "a key is a member's").key = value;
      this.#state = atValue;
    }
  }

  #unquotePiece(end: number): void {
    const piece = this.#text.slice(this.#pieceStart, end);
    try {
      this.#pieces += JSON.parse(`"${piece}"`) as string;
    } catch {
      throw new JsonMalformed();
    }
    this.#pieceStart = end;
  }

  #unquote(end: number): string {
    this.#unquotePiece(end);
    // Halves of surrogate pairs cannot be stored as UTF-8.
    const value = this.#pieces.toWellFormed();
    this.#pieces = "";
    return value;
  }

  #readWord(word: string, value: boolean | null): T {
    if (!this.#text.startsWith(word, this.#position)) throw new JsonMalformed();
    this.#position += word.length;
    return this.#maker.makePlain(value);
  }

  #readNumber(): T {
    numberPattern.lastIndex = this.#position;
    const match = numberPattern.exec(this.#text);
    if (match === null) throw new JsonMalformed();
    this.#numberStart = this.#position;
    this.#position = numberPattern.lastIndex;
    return this.#maker.makeNumber(match[0]);
  }
}

const numberPattern = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
