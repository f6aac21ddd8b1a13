/**
 * Facts as JSON (reference/dql 3.4): a list of objects, each with one predicate of one node. What JSON would give back
 * as something else (passwords, facets of list values, values that are not of their predicate's kind, …) is not
 * written; the caller puts it beside, as RDF.
 */
import { encodeUtf8 } from "../base/bytes.ts";
import type { StoredCell } from "../codec/cell.ts";
import { decodeFacets } from "../codec/facets.ts";
import type { Predicate } from "../graph/schema.ts";
import type { Facets } from "../model/facet.ts";
import { quoteJson } from "../model/print-value.ts";
import { printFacetValue, writeJson, writeQuoted } from "./fact-values.ts";
import type { TextBuffer } from "./text-buffer.ts";

export const jsonOpen = encodeUtf8("[\n");
export const jsonClose = encodeUtf8("\n]\n");

export class JsonPrinter {
  readonly buffer: TextBuffer;
  readonly #namespace: string;
  /** Whether an object was written before the next one. */
  #hasOne: boolean;

  constructor(buffer: TextBuffer, namespace: number, hasOne: boolean) {
    this.buffer = buffer;
    this.#namespace = `0x${namespace.toString(16)}`;
    this.#hasOne = hasOne;
  }

  get hasOne(): boolean {
    return this.#hasOne;
  }

  /** False where nothing was written. */
  cell(uid: number, predicate: Predicate, cell: StoredCell): boolean {
    const { facets } = cell;
    if (!isSafe(predicate, cell, facets)) return false;
    const { name, list } = predicate.definition;
    const key = cell.language === "" ? name : `${name}@${cell.language}`;
    this.#begin(uid, key);
    if (list) this.buffer.u8(squareOpen);
    writeValue(this.buffer, cell);
    if (list) this.buffer.u8(squareClose);
    this.#writeFacets(key, facets);
    this.buffer.u8(curlyClose);
    return true;
  }

  edge(
    uid: number,
    predicate: Predicate,
    target: number,
    encoded: Uint8Array | undefined,
  ): boolean {
    const { name, list } = predicate.definition;
    const facets = encoded && decodeFacets(encoded);
    if (!isSafeName(name) || !(facets ?? []).every(isSafeFacet)) return false;
    const { buffer } = this;
    this.#begin(uid, name);
    if (list) buffer.u8(squareOpen);
    buffer.raw(uidOpen);
    buffer.uid(target);
    buffer.u8(quote);
    this.#writeFacets(name, facets);
    buffer.u8(curlyClose);
    if (list) buffer.u8(squareClose);
    buffer.u8(curlyClose);
    return true;
  }

  #begin(uid: number, key: string): void {
    const { buffer } = this;
    if (this.#hasOne) buffer.raw(between);
    this.#hasOne = true;
    buffer.raw(uidOpen);
    buffer.uid(uid);
    buffer.raw(encodeUtf8(`","namespace":"${this.#namespace}",${quoteJson(key)}:`));
  }

  #writeFacets(key: string, facets: Facets | undefined): void {
    for (const facet of facets ?? []) {
      const name = quoteJson(`${key}|${facet.key}`);
      this.buffer.raw(encodeUtf8(`,${name}:${jsonOfFacet(facet)}`));
    }
  }
}

const between = encodeUtf8(",\n");
const uidOpen = encodeUtf8('{"uid":"');
const quote = 0x22;
const squareOpen = 0x5b;
const squareClose = 0x5d;
const curlyClose = 0x7d;

function jsonOfFacet(facet: Facets[number]): string {
  const text = printFacetValue(facet);
  return facet.value.kind === "datetime" ? `"${text}"` : text;
}

function writeValue(buffer: TextBuffer, cell: StoredCell): void {
  switch (cell.kind) {
    case "int":
    case "bool":
    case "geo":
      return writeJson(buffer, cell);
    case "float":
      return buffer.raw(encodeUtf8(printFacetValue({ key: "", value: cell.value })));
    default:
      return writeQuoted(buffer, cell);
  }
}

function isSafe(predicate: Predicate, cell: StoredCell, facets: Facets | undefined): boolean {
  const { kind, name, list } = predicate.definition;
  if (!isSafeName(name) || !(facets ?? []).every(isSafeFacet)) return false;
  if (list && facets !== undefined) return false;
  switch (cell.kind) {
    case "string":
      return isPlainText(cell.text);
    case "default":
      return kind === "default" && isPlainText(cell.text);
    case "int":
    case "bool":
      return true;
    case "float":
      return Number.isFinite(cell.number);
    case "datetime":
    case "bigfloat":
      return kind === cell.kind;
    case "float32vector":
      return kind === cell.kind && cell.text !== "[]";
    case "geo":
      return (
        kind === cell.kind && cell.value.kind === "geo" && "coordinates" in cell.value.geometry
      );
    default:
      return false;
  }
}

/** Texts that read as a vector, or as a variable of an upsert, are something else. */
function isPlainText(text: string): boolean {
  return !/^\s*(?:\[|u\s*i\s*d\s*\(|v\s*a\s*l\s*\()/.test(text);
}

function isSafeName(name: string): boolean {
  return name !== "namespace" && !name.includes("|");
}

/** A text that may read as a date is one. */
function isSafeFacet({ value }: Facets[number]): boolean {
  if (value.kind === "string" || value.kind === "default") return !/^[0-9]/.test(value.text);
  return value.kind !== "float" || Number.isFinite(value.float);
}
