/**
 * Input → facts in columns. Hot: most lines are a node, a plain name and a short text or another node; those are read
 * from their bytes, without a text for each piece. Everything else goes the way of every mutation (`intake`, `write`),
 * which also judges it.
 */
import { must } from "../base/assert.ts";
import { decodeUtf8, emptyBytes, varintSize, writeVarint } from "../base/bytes.ts";
import { encodeCell, encodePlainBytes, plainBytesSize } from "../codec/cell.ts";
import { encodeFacets } from "../codec/facets.ts";
import { isServerOnly } from "../graph/reserved.ts";
import { explainLengths, metricOf } from "../graph/vector-metric.ts";
import type { Predicate, Schema } from "../graph/schema.ts";
import { parseJsonMutation } from "../intake/json-mutation.ts";
import { NQuadReader } from "../intake/nquad-reader.ts";
import { toSingleFact, type Statement } from "../intake/statement.ts";
import { isVectorIndex } from "../model/definition.ts";
import { Fault } from "../model/fault.ts";
import type { NodeRef, NQuad } from "../model/nquad.ts";
import { fingerprintValue } from "../tokens/fingerprint.ts";
import { resolveSet } from "../write/resolve.ts";
import { ChunkBuilder, noTarget, type ParsedChunk } from "./parsed-chunk.ts";

interface ParseOptions {
  readonly schema: Schema;
  /** Facts with the number of another namespace are refused; a label on a line says it. */
  readonly namespace: number;
  /** `<0x1a>` is a name like any other. */
  readonly newUids: boolean;
}

interface Known {
  readonly predicate: Predicate;
  /** A text without an index becomes a cell as it is. */
  readonly isPlain: boolean;
  readonly isEdge: boolean;
}

/** What a fast reading found: it is done, or another way has to be tried. */
const isDone = true;

export class FactParser {
  readonly #options: ParseOptions;
  readonly #known = new Map<number, { readonly name: Uint8Array; readonly known: Known }[]>();
  readonly #slow = new NQuadReader();
  #builder = new ChunkBuilder();
  #bytes = emptyBytes;
  /** Of the name that was read last. */
  #low = 0;
  #high = 0;
  #uid = 0;

  constructor(options: ParseOptions) {
    this.#options = options;
    for (const predicate of options.schema.predicates) {
      if (!isServerOnly(predicate.definition.name)) this.#addKnown(predicate);
    }
  }

  #addKnown(predicate: Predicate): void {
    const { name: text, kind, list } = predicate.definition;
    const name = new TextEncoder().encode(text);
    const isText = kind === "string" || kind === "default";
    const isPlain = isText && !list && predicate.indexes.length === 0;
    const bucket = hashOf(name, 0, name.length);
    const known = { predicate, isPlain, isEdge: kind === "uid" };
    const others = this.#known.get(bucket);
    if (others === undefined) this.#known.set(bucket, [{ name, known }]);
    else others.push({ name, known });
  }

  /** Whole lines of RDF. Rejects with Fault E_STARTUP, with the file and the line in front. */
  async parseLines(bytes: Uint8Array, file: string, firstLine: number): Promise<ParsedChunk> {
    const builder = (this.#builder = new ChunkBuilder());
    this.#bytes = bytes;
    let line = firstLine;
    for (let from = 0; from < bytes.length; line++) {
      const found = bytes.indexOf(0x0a, from);
      const end = found < 0 ? bytes.length : found;
      if (this.#parseFast(from, end) !== isDone) {
        try {
          const slow = this.#parseSlow(decodeUtf8(bytes.subarray(from, end)));
          if (slow !== undefined) await slow;
        } catch (error) {
          throw explainPlace(error, `${file}:${line}`);
        }
      }
      from = end + 1;
    }
    return builder.finish();
  }

  /** Objects of JSON, `[{…}, …]`. */
  async parseJson(text: string, file: string, firstLine: number): Promise<ParsedChunk> {
    const builder = (this.#builder = new ChunkBuilder());
    try {
      const request = parseJsonMutation(`{"set":${text}}`);
      for (const { set } of request.mutations) {
        for (const fact of set) {
          const done = this.#addFact(fact);
          if (done !== undefined) await done;
        }
      }
    } catch (error) {
      throw explainPlace(error, `${file}:${firstLine} or behind it`);
    }
    return builder.finish();
  }

  /** True where the line is done with. */
  #parseFast(from: number, lineEnd: number): boolean {
    const bytes = this.#bytes;
    let end = lineEnd;
    while (end > from && bytes[end - 1]! <= 32) end--;
    if (end - from < 2 || bytes[end - 1] !== dot || bytes[end - 2] !== blank) return false;
    end -= 2;
    let at = this.#readName(from, end);
    if (at < 0 || bytes[at] !== blank || bytes[at + 1] !== angleOpen) return false;
    const [low, high, uid] = [this.#low, this.#high, this.#uid];
    const nameFrom = at + 2;
    at = nameFrom;
    while (at < end && bytes[at] !== angleClose) at++;
    const known = this.#find(nameFrom, at);
    if (known === undefined || bytes[at + 1] !== blank) return false;
    at += 2;
    if (bytes[at] === quote) {
      if (!known.isPlain) return false;
      const close = this.#plainEnd(at + 1, end);
      if (close < 0) return false;
      const after = this.#skipString(close + 1, end, known);
      if (after !== end && this.#skipLabel(after, end) !== end) return false;
      const isTyped = after > close + 1;
      const subject = this.#builder.label(low, high, uid);
      this.#addPlain(known, at + 1, close, isTyped);
      this.#builder.addFact(subject, known.predicate.id, noTarget);
      return isDone;
    }
    if (!known.isEdge) return false;
    at = this.#readName(at, end);
    if (at < 0 || (at !== end && this.#skipLabel(at, end) !== end)) return false;
    const [targetLow, targetHigh, targetUid] = [this.#low, this.#high, this.#uid];
    // In the order of the line, in which labels are numbered.
    const subject = this.#builder.label(low, high, uid);
    const target = this.#builder.label(targetLow, targetHigh, targetUid);
    this.#builder.addFact(subject, known.predicate.id, target);
    return isDone;
  }

  /** The name of a node that begins at `from`; gives what stands behind it, −1 for any other thing. */
  #readName(from: number, end: number): number {
    const bytes = this.#bytes;
    let at = from;
    if (bytes[at] === underscore) {
      while (at < end && bytes[at]! > blank) at++;
      if (at - from < 3 || bytes[from + 1] !== colon || bytes[at - 1] === dot) return -1;
      return this.#name(from, at) ? at : -1;
    }
    if (bytes[at] !== angleOpen) return -1;
    const first = ++at;
    while (at < end && bytes[at] !== angleClose) at++;
    if (at === end || at === first) return -1;
    const isHex = bytes[first] === zero && bytes[first + 1] === letterX;
    if (isHex && !this.#options.newUids) {
      const uid = readHex(bytes, first + 2, at);
      if (uid === 0) return -1;
      this.#low = this.#high = 0;
      this.#uid = uid;
      return at + 1;
    }
    // What begins with a digit may be a number.
    if (bytes[first]! <= 0x39 && !isHex) return -1;
    return this.#name(first, at) ? at + 1 : -1;
  }

  /** Only ASCII: other names are read as texts. */
  #name(from: number, to: number): boolean {
    const bytes = this.#bytes;
    let low = seedLow;
    let high = seedHigh;
    for (let at = from; at < to; at++) {
      const byte = bytes[at]!;
      if (byte >= 0x80 || byte <= blank || byte === backslash) return false;
      low = Math.imul(low ^ byte, 0x9e3779b1);
      high = Math.imul(high ^ byte, 0x5f356495);
    }
    this.#mix(low, high);
    return true;
  }

  #mix(low: number, high: number): void {
    low = Math.imul(low ^ (low >>> 16), 0x85ebca6b) ^ Math.imul(high ^ (high >>> 13), 0xc2b2ae35);
    high = Math.imul(high ^ (high >>> 16), 0x85ebca6b) ^ Math.imul(low ^ (low >>> 13), 0xc2b2ae35);
    this.#low = low >>> 0;
    this.#high = high >>> 0;
    this.#uid = 0;
  }

  #find(from: number, to: number): Known | undefined {
    const bytes = this.#bytes;
    for (const { name, known } of this.#known.get(hashOf(bytes, from, to)) ?? []) {
      if (name.length !== to - from) continue;
      let i = 0;
      while (i < name.length && name[i] === bytes[from + i]) i++;
      if (i === name.length) return known;
    }
    return undefined;
  }

  /** The closing quote of a text of plain ASCII; −1 for another text. */
  #plainEnd(from: number, end: number): number {
    const bytes = this.#bytes;
    let at = from;
    for (; at < end && bytes[at] !== quote; at++) {
      const byte = bytes[at]!;
      if (byte === backslash || byte < blank) return -1;
    }
    return at < end ? at : -1;
  }

  /** Behind the type of a text. */
  #skipString(at: number, end: number, { predicate }: Known): number {
    if (at + stringType.length > end || this.#bytes[at] !== caret) return at;
    for (let i = 0; i < stringType.length; i++) {
      if (this.#bytes[at + i] !== stringType[i]) return -1;
    }
    return predicate.definition.kind === "string" ? at + stringType.length : -1;
  }

  /** ` <0x0>`, the own namespace. */
  #skipLabel(at: number, end: number): number {
    const bytes = this.#bytes;
    if (at < 0 || bytes[at] !== blank || bytes[at + 1] !== angleOpen) return -1;
    if (bytes[end - 1] !== angleClose || bytes[at + 2] !== zero || bytes[at + 3] !== letterX) {
      return -1;
    }
    const text = bytes.subarray(at + 4, end - 1);
    const isZero = text.length === 1 && text[0] === zero;
    const namespace = isZero ? 0 : readHex(bytes, at + 4, end - 1);
    return (isZero || namespace > 0) && namespace === this.#options.namespace ? end : -1;
  }

  #addPlain(known: Known, from: number, to: number, isTyped: boolean): void {
    const { kind } = known.predicate.definition;
    const cellKind = kind === "string" || isTyped ? "string" : "default";
    const size = plainBytesSize(this.#bytes, from, to);
    const builder = this.#builder;
    if (size > 0) {
      const at = builder.takePayload(1 + size);
      builder.payload[at] = 0;
      encodePlainBytes(cellKind, this.#bytes, { from, to }, builder.payload, at + 1);
      return;
    }
    const text = decodeUtf8(this.#bytes.subarray(from, to));
    this.#addCell("", encodeCell({ kind: cellKind, text }));
  }

  #addCell(slot: string, cell: Uint8Array): void {
    const builder = this.#builder;
    const at = builder.takePayload(varintSize(slot.length) + slot.length + cell.length);
    const { payload } = builder;
    let to = writeVarint(payload, at, slot.length);
    for (let i = 0; i < slot.length; i++) payload[to++] = slot.charCodeAt(i);
    payload.set(cell, to);
  }

  #parseSlow(text: string): Promise<void> | undefined {
    const statement = this.#slow.read(text);
    if (statement === undefined) return undefined;
    this.#judgeNamespace();
    const known = this.#options.schema.predicate(statement.predicate);
    if (known === undefined) {
      this.#builder.unknown.push(text);
      return undefined;
    }
    const { subject, objectId } = statement;
    for (const name of [subject, objectId]) {
      if (/^(?:uid|val)\(/.test(name)) throw refuseVariable();
    }
    refuseOwn(known.definition.name);
    const plain: Statement = {
      ...statement,
      subject: this.#isNumber(subject) ? subject : placeholder,
      objectId: objectId === "" || this.#isNumber(objectId) ? objectId : placeholder,
    };
    const fact = toSingleFact(plain, "set");
    return this.#addNamed(fact, this.#labelOf(subject), objectId);
  }

  #judgeNamespace(): void {
    const { label } = this.#slow;
    if (label === undefined || label === this.#options.namespace) return;
    const own = `this load is for ${this.#options.namespace} (--namespace)`;
    throw new Fault("E_STARTUP", `a fact of namespace ${label}; ${own}`);
  }

  /** Names that are numbers are uids; all others are labels. */
  #isNumber(name: string): boolean {
    return !this.#options.newUids && /^(?:0[xX][\da-fA-F]+|\d+)$/.test(name);
  }

  #labelOf(name: string): number {
    if (this.#isNumber(name)) {
      const uid = Number(name);
      if (!Number.isSafeInteger(uid) || uid === 0) {
        throw new Fault("E_STARTUP", `${name} is no uid: they go from 1 to 2^53 − 1`);
      }
      return this.#builder.label(0, 0, uid);
    }
    let low = seedLow;
    let high = seedHigh;
    for (let i = 0; i < name.length; i++) {
      const code = name.charCodeAt(i);
      low = Math.imul(low ^ code, 0x9e3779b1);
      high = Math.imul(high ^ code, 0x5f356495);
    }
    this.#mix(low, high);
    return this.#builder.label(this.#low, this.#high, 0);
  }

  /** Of JSON. */
  #addFact(fact: NQuad): Promise<void> | undefined {
    const { subject, object } = fact;
    if (this.#options.schema.predicate(fact.predicate) === undefined) {
      throw new Fault(
        "E_STARTUP",
        `the schema has no predicate ${fact.predicate}: facts in JSON need one (--schema)`,
      );
    }
    const target = object.kind === "node" ? nameOf(object.node) : "";
    refuseOwn(fact.predicate);
    return this.#addNamed(fact, this.#labelOf(nameOf(subject)), target);
  }

  #addNamed(fact: NQuad, subject: number, objectId: string): Promise<void> | undefined {
    const { schema } = this.#options;
    const target = fact.object.kind === "node" ? 1 : undefined;
    const edit = resolveSet(schema, fact, { uid: 1, target });
    if (!(edit instanceof Promise)) {
      this.#addEdit(edit, subject, objectId);
      return undefined;
    }
    return edit.then((made) => this.#addEdit(made, subject, objectId));
  }

  #addEdit(edit: ReturnType<typeof resolveSet>, subject: number, objectId: string): void {
    if (edit instanceof Promise) return;
    const builder = this.#builder;
    if (edit.kind === "setEdge") {
      const target = this.#labelOf(objectId);
      const facets = encodeFacets(edit.facets);
      const at = builder.takePayload(facets.length);
      builder.payload.set(facets, at);
      builder.addFact(subject, edit.predicate, target);
      return;
    }
    const predicate = must(
      this.#options.schema.predicateById(edit.predicate),
      "an edit is of a predicate of the schema",
    );
    const { list } = predicate.definition;
    if (edit.value.kind === "float32vector") this.#noteVector(predicate, edit.value.vector.length);
    const slot = list ? fingerprintValue(edit.value) : edit.language;
    this.#addCell(slot, encodeCell(edit.value, list ? "" : edit.language, edit.facets));
    builder.addFact(subject, edit.predicate, noTarget);
  }

  #noteVector(predicate: Predicate, length: number): void {
    const index = predicate.indexes.find(isVectorIndex);
    if (index === undefined || length === 0) return;
    const { vectorLengths } = this.#builder;
    const known = vectorLengths.get(predicate.id);
    if (known === undefined) vectorLengths.set(predicate.id, length);
    else if (known !== length) {
      throw new Fault("E_STARTUP", explainLengths(metricOf(index.options)));
    }
  }
}

function nameOf(node: NodeRef): string {
  switch (node.kind) {
    case "uid":
      return `0x${node.uid.toString(16)}`;
    case "blank":
      return `_:${node.label}`;
    case "variable":
      throw refuseVariable();
  }
}

function refuseVariable(): Fault {
  return new Fault("E_STARTUP", "variables have no place in a load");
}

function refuseOwn(name: string): void {
  if (isServerOnly(name)) throw new Fault("E_STARTUP", `only the server itself writes ${name}`);
}

function explainPlace(error: unknown, place: string): unknown {
  if (!(error instanceof Fault)) return error;
  const message = error.message.trim().replaceAll(/\s*\n\s*/g, " ");
  return new Fault("E_STARTUP", `${place}: ${message}`, { cause: error });
}

/** Stands for a node while the rest of a fact is judged. */
const placeholder = "0x1";

const blank = 0x20;
const quote = 0x22;
const dot = 0x2e;
const zero = 0x30;
const colon = 0x3a;
const angleOpen = 0x3c;
const angleClose = 0x3e;
const backslash = 0x5c;
const caret = 0x5e;
const underscore = 0x5f;
const letterX = 0x78;
const stringType = new TextEncoder().encode("^^<xs:string>");

const seedLow = 0xdeadbeef;
const seedHigh = 0x41c6ce57;

function hashOf(bytes: Uint8Array, from: number, to: number): number {
  let hash = to - from;
  for (let at = from; at < to; at++) hash = (Math.imul(hash, 31) + bytes[at]!) | 0;
  return hash;
}

/** 0 for what is none, or not safe. */
function readHex(bytes: Uint8Array, from: number, to: number): number {
  if (to - from > 13) return 0;
  let value = 0;
  for (let at = from; at < to; at++) {
    const byte = bytes[at]!;
    const digit =
      byte >= 0x30 && byte <= 0x39
        ? byte - 0x30
        : byte >= 0x61 && byte <= 0x66
          ? byte - 0x57
          : byte >= 0x41 && byte <= 0x46
            ? byte - 0x37
            : -1;
    if (digit < 0) return 0;
    value = value * 16 + digit;
  }
  return value;
}
