/**
 * Facts whose predicates the schema does not know: kept aside while the others are read, then read again with the
 * definitions that follow from them, as those of a mutation do (reference/dql 2.9).
 */
import { closeSync, openSync, readFileSync, writeSync } from "node:fs";
import { must } from "../base/assert.ts";
import { encodeUtf8 } from "../base/bytes.ts";
import type { Schema } from "../graph/schema.ts";
import { NQuadReader } from "../intake/nquad-reader.ts";
import { toSingleFact } from "../intake/statement.ts";
import type { PredicateDefinition } from "../model/definition.ts";
import type { NQuad } from "../model/nquad.ts";
import { inferDefinitions } from "../write/infer.ts";
import { sealOf, type SpillSeal } from "./spill-seal.ts";

/** What the first fact of a predicate says of it, and whether a node has it twice. */
interface Seen {
  readonly first: NQuad;
  subject: string;
  isList: boolean;
}

export class UnknownFacts {
  readonly #path: string;
  readonly #seal: SpillSeal | undefined;
  /** Bytes of each piece, as it lies in the file. */
  readonly #pieces: number[] = [];
  readonly #reader = new NQuadReader();
  readonly #seen = new Map<string, Seen>();
  #file: number | undefined = undefined;

  /** `key`: of a load into a store that is encrypted. */
  constructor(path: string, key?: Uint8Array) {
    this.#path = path;
    this.#seal = sealOf(key, path);
  }

  get isEmpty(): boolean {
    return this.#file === undefined;
  }

  /** Lines that were read once, so that nothing is wrong with their form. */
  add(lines: string): void {
    if (lines === "") return;
    this.#file ??= openSync(this.#path, "w", 0o600);
    const plain = encodeUtf8(`${lines}\n`);
    const bytes = this.#seal?.close(this.#pieces.length, plain) ?? plain;
    writeSync(this.#file, bytes);
    this.#pieces.push(bytes.length);
    for (const line of lines.split("\n")) this.#note(line);
  }

  #note(line: string): void {
    const statement = this.#reader.read(line);
    if (statement === undefined) return;
    const { predicate, subject, objectId } = statement;
    const seen = this.#seen.get(predicate);
    if (seen === undefined) {
      const plain = { ...statement, subject: "0x1", objectId: objectId === "" ? "" : "0x1" };
      this.#seen.set(predicate, { first: toSingleFact(plain, "set"), subject, isList: false });
    } else if (seen.subject === subject) seen.isList = true;
    else seen.subject = subject;
  }

  /** Throws Fault for a name that may not be. */
  infer(schema: Schema): readonly PredicateDefinition[] {
    const hints = new Map<string, "list" | "single">();
    const set: NQuad[] = [];
    for (const [name, { first, isList }] of this.#seen) {
      set.push(first);
      if (isList) hints.set(name, "list");
    }
    return inferDefinitions(schema, [{ set, hints }]);
  }

  /** All lines, in their order. */
  read(): Uint8Array {
    closeSync(must(this.#file, "there are facts to read"));
    this.#file = undefined;
    const bytes = readFileSync(this.#path);
    const seal = this.#seal;
    if (seal === undefined) return bytes;
    let at = 0;
    const opened = this.#pieces.map((length, number) => {
      const piece = seal.open(number, bytes.subarray(at, at + length));
      at += length;
      return piece;
    });
    return Buffer.concat(opened);
  }
}
