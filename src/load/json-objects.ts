/** A long JSON text, cut into its top-level objects without being parsed: numbers keep their digits. */
import { printUid } from "../model/uid.ts";
import { Fault } from "../model/fault.ts";
import { uidPattern } from "./label-uids.ts";

interface JsonObjectText {
  readonly text: string;
  /** On which it begins. */
  readonly line: number;
  /** How many labels it can hold at most. */
  readonly labelCountMax: number;
}

// A quote before `uid` opens a key: inside a string it would be escaped, and after one it would not be JSON.
const labelPattern = /"uid"\s*:\s*"(?<name>[^"\\]*)"/g;

/** `"uid": "_:a"` becomes `"uid":"0x…"`; a number that stands for another node is that one's. */
export function rewriteJsonLabels(
  text: string,
  resolve: (label: string) => number,
  resolveNumber?: (name: string) => number | undefined,
): string {
  return text.replace(labelPattern, (match, name: string) => {
    const uid = name.startsWith("_:")
      ? resolve(name)
      : uidPattern.test(name)
        ? resolveNumber?.(name)
        : undefined;
    return uid === undefined ? match : `"uid":"${printUid(uid)}"`;
  });
}

/** Takes a list of objects, `[{…}, {…}]`, or objects one after another; in pieces cut anywhere. */
export class JsonSplitter {
  readonly #file: string;
  #depth = 0;
  #isList = false;
  #inString = false;
  #isEscaped = false;
  #line = 1;
  #beginLine = 1;
  /** Pieces of an object that began in an earlier chunk. */
  #pieces: string[] = [];

  constructor(file: string) {
    this.#file = file;
  }

  *push(chunk: string): Generator<JsonObjectText> {
    let begin = this.#depth > 0 ? 0 : -1;
    for (let i = 0; i < chunk.length; i++) {
      const code = chunk.charCodeAt(i);
      if (code === 0x0a) this.#line++;
      if (this.#inString) this.#passString(code);
      else if (code === 0x22) {
        if (this.#depth === 0) throw this.#misfit(chunk[i]);
        this.#inString = true;
      } else if (code === 0x7b || (code === 0x5b && this.#depth > 0)) {
        if (this.#depth++ > 0) continue;
        begin = i;
        this.#beginLine = this.#line;
      } else if ((code === 0x7d || code === 0x5d) && this.#depth > 0) {
        if (--this.#depth > 0) continue;
        yield this.#cut(chunk.slice(begin, i + 1));
        begin = -1;
      } else if (this.#depth === 0) this.#passBetween(chunk[i]);
    }
    if (begin >= 0) this.#pieces.push(chunk.slice(begin));
  }

  /** A text that ends inside an object is refused with the line on which that began. */
  end(): void {
    if (this.#depth === 0) return;
    throw new Fault(
      "E_STARTUP",
      `${this.#file}:${this.#beginLine}: the object that begins here has no end`,
    );
  }

  #passString(code: number): void {
    if (this.#isEscaped) this.#isEscaped = false;
    else if (code === 0x5c) this.#isEscaped = true;
    else if (code === 0x22) this.#inString = false;
  }

  #passBetween(character: string | undefined): void {
    if (character === "[" && !this.#isList) this.#isList = true;
    else if (!/[\s,\]\uFEFF]/.test(character ?? "")) throw this.#misfit(character);
  }

  #misfit(character: string | undefined): Fault {
    const what = `${character ?? ""} stands where an object should begin`;
    return new Fault("E_STARTUP", `${this.#file}:${this.#line}: ${what}`);
  }

  #cut(last: string): JsonObjectText {
    this.#pieces.push(last);
    const text = this.#pieces.join("");
    this.#pieces = [];
    let labelCountMax = 0;
    for (let at = text.indexOf('"_:'); at >= 0; at = text.indexOf('"_:', at + 1)) labelCountMax++;
    return { text, line: this.#beginLine, labelCountMax };
  }
}
