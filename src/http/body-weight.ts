/**
 * What becomes of a body, in bytes of memory: a text, a tree, facts. Estimated from the body's bytes while they come, so
 * that room is made before the first object is.
 */
import type { IncomingMessage } from "node:http";

/** json: objects and lists. facts: N-Quads. text: queries, schemas, administration. */
type BodyForm = "json" | "facts" | "text";

export function formOf(req: IncomingMessage): BodyForm {
  const type = req.headers["content-type"];
  if (type === undefined) return "text";
  if (type.includes("json")) return "json";
  return type.includes("rdf") ? "facts" : "text";
}

/** A member or an element of JSON, a fact, a byte of a text: measured on mutations of a million facts, rounded up. */
const bytesOfMember = 300;
const bytesOfFact = 600;
const bytesOfTextByte = 8;
/** Of the text itself, in strings of which a part may be in two bytes for each character. */
const bytesOfStringByte = 2;

/** Weighs a body chunk by chunk. */
export class BodyWeight {
  readonly #form: BodyForm;
  #size = 0;
  #count = 0;
  #last = 0;

  constructor(form: BodyForm) {
    this.#form = form;
  }

  add(chunk: Uint8Array): void {
    this.#size += chunk.length;
    if (this.#form === "json") this.#count += countMembers(chunk);
    else if (this.#form === "facts") this.#count += this.#countFacts(chunk);
  }

  /** Beside the body's own bytes. */
  get bytes(): number {
    switch (this.#form) {
      case "json":
        return this.#size * bytesOfStringByte + this.#count * bytesOfMember;
      case "facts":
        return this.#size * bytesOfStringByte + this.#count * bytesOfFact;
      case "text":
        return this.#size * bytesOfTextByte;
    }
  }

  /** A full stop behind a term or a blank: those within literals count too often, which is on the safe side. */
  #countFacts(chunk: Uint8Array): number {
    let count = 0;
    let last = this.#last;
    for (let i = 0; i < chunk.length; i++) {
      const byte = chunk[i]!;
      if (byte === fullStop && (last <= space || last === quote || last === greater)) count++;
      last = byte;
    }
    this.#last = last;
    return count;
  }
}

const space = 0x20;
const quote = 0x22;
const comma = 0x2c;
const fullStop = 0x2e;
const greater = 0x3e;
const bracket = 0x5b;
const brace = 0x7b;

/** By index: an iterator takes five times as long, a tenth of what a large document costs in all. */
function countMembers(chunk: Uint8Array): number {
  let count = 0;
  for (let i = 0; i < chunk.length; i++) {
    const byte = chunk[i]!;
    if (byte === comma || byte === brace || byte === bracket) count++;
  }
  return count;
}

/** Of a small body, without looking at it. */
export function weighSmall(size: number): number {
  return size * bytesOfTextByte;
}
