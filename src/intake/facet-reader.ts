/** `(since=2006-01-02, close=true, note="x")` behind an edge or value (reference/dql 3.1). */
import { unquote } from "../base/unquote.ts";
import { attempt, ConversionError, quoteGo } from "../model/conversion-error.ts";
import { parseDateTime } from "../model/datetime.ts";
import type { Facet } from "../model/facet.ts";
import { readGoFloat } from "../model/float.ts";
import { parseInt64 } from "../model/int.ts";
import { type DateTime, makeInt, type Value } from "../model/value.ts";

/** Why facets cannot be read. Those of the grammar stand at `start`, and come before all others of the line. */
interface FacetRefusal {
  readonly message: string;
  readonly isGrammar: boolean;
  readonly start: number;
}

type Token = { readonly kind: "text" | "=" | "," | ")" | "end"; readonly text: string };

export class FacetReader {
  readonly facets: Facet[] = [];
  position: number;
  private readonly line: string;
  private readonly tokens: Token[] = [];

  /** `position` is that of the opening bracket. */
  constructor(line: string, position: number) {
    this.line = line;
    this.position = position + 1;
  }

  /** Reads up to the closing bracket, or to the end of the line. */
  readAll(): FacetRefusal | undefined {
    const grammar = this.scan();
    if (grammar !== undefined) return grammar;
    try {
      this.parse();
      return undefined;
    } catch (error) {
      if (!(error instanceof ConversionError)) throw error;
      return { message: error.message, isGrammar: false, start: 0 };
    }
  }

  private scan(): FacetRefusal | undefined {
    const { line } = this;
    while (this.position < line.length) {
      const start = this.position;
      const character = line.charAt(start);
      if (character === " " || character === "\t") {
        this.position++;
      } else if (character === "=" || character === "," || character === ")") {
        this.position++;
        this.tokens.push({ kind: character, text: character });
        if (character === ")") return undefined;
      } else if (character === '"') {
        const message = this.scanQuoted();
        if (message !== undefined) return { message, isGrammar: true, start };
        this.tokens.push({ kind: "text", text: line.slice(start, this.position) });
      } else {
        this.position++;
        while (this.position < line.length && !" \t=,)".includes(line.charAt(this.position))) {
          this.position++;
        }
        this.tokens.push({ kind: "text", text: line.slice(start, this.position) });
      }
    }
    this.tokens.push({ kind: "end", text: "" });
    return undefined;
  }

  private scanQuoted(): string | undefined {
    const { line } = this;
    for (let i = this.position + 1; i < line.length; i++) {
      const character = line.charAt(i);
      if (character === '"') {
        this.position = i + 1;
        return undefined;
      }
      if (character !== "\\") continue;
      i++;
      const escaped = line.charAt(i);
      if (escaped === "" || !"uvtbnrf\"'\\".includes(escaped)) {
        return `Not a valid escape char: '${escaped === "" ? "\ufffd" : escaped}'`;
      }
    }
    return "Unexpected end of input.";
  }

  private parse(): void {
    let i = 0;
    const next = (): Token => {
      const token = this.tokens[i++];
      if (token === undefined) throw new ConversionError("unexpected end of facets");
      return token;
    };
    for (;;) {
      const name = next();
      if (name.kind !== "text") throw new ConversionError(`expected key but found ${name.text}`);
      const key = name.text.trim();
      if (key === "") throw new ConversionError("empty facetKeys not allowed");
      const equal = next();
      if (equal.kind !== "=") {
        throw new ConversionError(`expected = after facetKey. Found ${equal.text}`);
      }
      const value = next();
      this.facets.push({ key, value: parseFacetValue(value.kind === "text" ? value.text : "") });
      if (value.kind === ")") return;
      if (value.kind === ",") continue;
      if (value.kind !== "text") {
        throw new ConversionError(`expected , or ) or text but found ${value.text}`);
      }
      const end = next();
      if (end.kind === ")") return;
      if (end.kind !== ",") {
        throw new ConversionError(`expected , or ) after facet. Received ${end.text}`);
      }
    }
  }
}

/** A facet's value by its looks: text in quotes, else int, float, bool or date. Throws ConversionError. */
function parseFacetValue(text: string): Value {
  if (text === "") return { kind: "string", text };
  if (text.length >= 2 && text.startsWith('"') && text.endsWith('"')) {
    const unquoted = unquote(text);
    if (unquoted === undefined) {
      throw new ConversionError(`could not unquote ${quoteGo(text)}:: invalid syntax`);
    }
    return { kind: "string", text: unquoted };
  }
  // What can be told from the first characters is not tried: a failed conversion costs microseconds.
  const date = looksLikeDate.test(text) ? readDateTime(text) : undefined;
  if (date !== undefined) return { kind: "datetime", time: date };
  if (looksLikeNumber.test(text)) {
    const number = parseFacetNumber(text);
    if (number !== undefined) return number;
  }
  if (text === "true" || text === "false") return { kind: "bool", bool: text === "true" };
  const time = readDateTime(text);
  if (time !== undefined) return { kind: "datetime", time };
  throw new ConversionError(`Could not parse the facet value : [${text}]`);
}

/** No number begins like this. */
const looksLikeDate = /^[0-9]{4}-[0-9]{2}/;
const looksLikeNumber = /^[+-]?(?:[0-9.]|inf|nan)/i;
const looksLikeTime = /^[0-9]/;
const plainInteger = /^-?(?:[1-9][0-9]{0,14}|0)$/;

function parseFacetNumber(text: string): Value | undefined {
  if (plainInteger.test(text)) return makeInt(Number(text) + 0);
  const int = attempt(() => parseInt64(text, 0));
  if (int !== undefined) return makeInt(int);
  // Digits alone that are no int64 are a mistake, not a float.
  if (/^\p{Nd}+$/u.test(text)) parseInt64(text, 0);
  const float = readGoFloat(text);
  if (float === undefined) return undefined;
  if (Number.isNaN(float)) throw new ConversionError("Got invalid value: NaN");
  return { kind: "float", float };
}

/** A text that reads as a date, as a date; every date begins with a digit. */
export function readDateTime(text: string): DateTime | undefined {
  return looksLikeTime.test(text) ? attempt(() => parseDateTime(text)) : undefined;
}
