/**
 * N-Quads and JSON → facts. Here: one fact as it was written, before its names and places are judged, and the
 * judgements that come after all of a request was read (reference/dql 3.1 – 3.5).
 */
import { quoteGo } from "../model/conversion-error.ts";
import { ConversionError } from "../model/conversion-error.ts";
import type { Facet, Facets } from "../model/facet.ts";
import { Fault, type FaultCode } from "../model/fault.ts";
import { parseUint64 } from "../model/int.ts";
import type { NodeRef, NQuad, ObjectRef } from "../model/nquad.ts";
import { printValueText } from "../model/print-value.ts";
import type { Value } from "../model/value.ts";
import { quoteWire, wireBytes } from "../model/wire-bytes.ts";
import { printFacet } from "./print-facet.ts";

/** A fact as it was written. Names are `0x1`, `_:b`, `uid(v)` or `val(v)`; `star` is `*`. */
export interface Statement {
  readonly subject: string;
  readonly predicate: string;
  readonly language: string;
  /** "" where the object is a value or a star. */
  readonly objectId: string;
  readonly value: Value | undefined;
  readonly isStarObject: boolean;
  /** In the order given. */
  readonly facets: readonly Facet[] | undefined;
}

/** How `*` is kept in place of a subject or predicate; no name can be written so by mistake. */
export const star = "_STAR_ALL";

export type FactOperation = "set" | "delete";

/** Language tags stand behind the last `@` of a predicate. */
export function splitLanguage(predicate: string): { predicate: string; language: string } {
  // Most have none, and looking from the front is cheaper.
  if (!predicate.includes("@")) return { predicate, language: "" };
  const at = predicate.lastIndexOf("@");
  if (at <= 0) return { predicate, language: "" };
  return { predicate: predicate.slice(0, at), language: predicate.slice(at + 1) };
}

/**
 * Statements → facts. What is wrong with a fact (stars, names, uids, facets) is only told when everything has been
 * read: `finish` throws the first refusal in the reference's order: sets, deletes, then names of nodes.
 */
export class FactSink {
  readonly set: NQuad[] = [];
  readonly delete: NQuad[] = [];
  private setFault: Fault | undefined;
  private deleteFault: Fault | undefined;
  /** Of names of nodes: those of sets are looked at first. */
  private setNodeFault: Fault | undefined;
  private deleteNodeFault: Fault | undefined;

  add(statement: Statement, operation: FactOperation): void {
    if (operation === "set") this.setFault ??= judgeSet(statement);
    else this.deleteFault ??= judgeDelete(statement);
    const fact = this.toFact(statement, operation);
    if (fact !== undefined) this[operation].push(fact);
  }

  finish(): void {
    const fault = this.setFault ?? this.deleteFault ?? this.setNodeFault ?? this.deleteNodeFault;
    if (fault !== undefined) throw fault;
  }

  private toFact(statement: Statement, operation: FactOperation): NQuad | undefined {
    try {
      return toFact(statement, operation);
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      if (operation === "set") this.setNodeFault ??= error;
      else this.deleteNodeFault ??= error;
      return undefined;
    }
  }
}

/** One statement on its own. Throws Fault E_MUTATION. */
export function toSingleFact(statement: Statement, operation: FactOperation): NQuad {
  const fault = operation === "set" ? judgeSet(statement) : judgeDelete(statement);
  if (fault !== undefined) throw fault;
  return toFact(statement, operation);
}

function toFact(statement: Statement, operation: FactOperation): NQuad {
  return {
    subject: toNode(statement.subject, operation),
    predicate: statement.predicate === star ? "*" : statement.predicate,
    language: statement.language,
    object: toObject(statement, operation),
    // What is removed has no facets.
    facets: operation === "set" ? toFacets(statement.facets) : undefined,
  };
}

function judgeSet(statement: Statement): Fault | undefined {
  const { subject, predicate, isStarObject } = statement;
  if (predicate.length > 16384) {
    const fault = judgeLength(predicate);
    if (fault !== undefined) return fault;
  }
  if (isStarObject || subject === star || predicate === star) {
    return refuse(`Cannot use star in set n-quad: ${print(statement)}`);
  }
  const wrong = judgeKey(predicate);
  if (wrong !== undefined) {
    return refuse(`key error: ${print(statement)}: predicate ${quoteGo(predicate)}: ${wrong}`);
  }
  if (!isLanguageTag(statement.language)) {
    const tag = quoteGo(statement.language);
    return refuse(`key error: ${print(statement)}: language tag ${tag}: Has invalid characters`);
  }
  for (const { key } of statement.facets ?? []) {
    const reason = judgeKey(key);
    if (reason !== undefined) {
      return refuse(`key error: ${print(statement)}: Facet ${quoteGo(key)}, ${reason}`);
    }
  }
  return undefined;
}

function judgeDelete(statement: Statement): Fault | undefined {
  const { subject, predicate, isStarObject } = statement;
  const fault = judgeLength(predicate);
  if (fault !== undefined) return fault;
  if (subject !== star && (predicate !== star || isStarObject)) return undefined;
  return refuse(`Only valid wildcard delete patterns are 'S * *' and 'S P *': ${print(statement)}`);
}

const predicateBytesMax = 65535;

function judgeLength(predicate: string): Fault | undefined {
  // A UTF-16 unit is at most three bytes: short names need no counting.
  if (predicate.length * 3 <= predicateBytesMax) return undefined;
  const bytes = new TextEncoder().encode(predicate);
  if (bytes.length <= predicateBytesMax) return undefined;
  const start = new TextDecoder().decode(bytes.subarray(0, 80));
  return refuse(`Predicate name length cannot be bigger than 2^16. Predicate: ${start}`);
}

const suspicious = /[~@\s]/;

/** Tags of BCP 47, and lists of them, which JSON keys may hold; `_` for what other systems write. */
function isLanguageTag(tag: string): boolean {
  return tag === "" || /^[\w:-]+$/.test(tag);
}

function judgeKey(key: string): string | undefined {
  if (key === "") return "Has zero length";
  if (!suspicious.test(key)) return undefined;
  return /[~@]/.test(key) ? "Has invalid characters" : "Must not contain spaces";
}

function refuse(message: string, code: FaultCode = "E_MUTATION"): Fault {
  return new Fault(code, message);
}

function toNode(name: string, operation: FactOperation): NodeRef {
  const first = name.charCodeAt(0);
  if (first === 95 && name.charCodeAt(1) === 58) return { kind: "blank", label: name.slice(2) };
  if (first === 117 && name.startsWith("uid(")) {
    return { kind: "variable", name: name.slice(4, -1) };
  }
  return { kind: "uid", uid: parseUid(name, operation) };
}

function toObject(statement: Statement, operation: FactOperation): ObjectRef {
  const { objectId, value } = statement;
  if (statement.isStarObject) return { kind: "star" };
  if (value !== undefined) return { kind: "value", value };
  if (objectId.startsWith("val(")) return { kind: "val", name: objectId.slice(4, -1) };
  return { kind: "node", node: toNode(objectId, operation) };
}

/**
 * Hexadecimal, decimal, octal or binary, from 1 to 2^53 − 1. Sets are judged before anything is done, deletes when their
 * edges are made: what is no number there is a name that nobody gave.
 */
function parseUid(text: string, operation: FactOperation): number {
  const plain = readPlainUid(text);
  if (plain > 0) return plain;
  let uid: bigint;
  try {
    uid = parseUint64(text, 0);
  } catch (error) {
    if (!(error instanceof ConversionError)) throw error;
    if (operation === "set") throw refuse(error.message);
    throw refuse(`UID not found/generated for xid ${text}\n`, "E_MUTATION_ENGINE");
  }
  if (uid === 0n) {
    const code = operation === "set" ? "E_MUTATION" : "E_MUTATION_ENGINE";
    throw refuse("UID must to be greater than 0", code);
  }
  if (uid > BigInt(Number.MAX_SAFE_INTEGER)) {
    throw refuse(
      `Uid: [${uid}] cannot be greater than lease: [${String(Number.MAX_SAFE_INTEGER)}]`,
    );
  }
  return Number(uid);
}

/** The common forms, by their codes; 0 sends the text to the full reader. */
function readPlainUid(text: string): number {
  const isHex = text.charCodeAt(0) === 48;
  const { length } = text;
  if (isHex ? length < 3 || length > 15 || text.charCodeAt(1) !== 120 : length > 15) return 0;
  const base = isHex ? 16 : 10;
  let uid = 0;
  for (let i = isHex ? 2 : 0; i < length; i++) {
    const code = text.charCodeAt(i);
    if (code >= 48 && code <= 57) uid = uid * base + code - 48;
    else if (isHex && code >= 97 && code <= 102) uid = uid * 16 + code - 87;
    else if (isHex && code >= 65 && code <= 70) uid = uid * 16 + code - 55;
    else return 0;
  }
  return uid;
}

function toFacets(facets: readonly Facet[] | undefined): Facets | undefined {
  if (facets === undefined || facets.length === 0) return undefined;
  if (facets.length === 1) return facets;
  const sorted = facets.toSorted((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
  for (let i = 1; i < sorted.length; i++) {
    if (sorted[i]?.key === sorted[i - 1]?.key) {
      throw refuse(`Repeated keys are not allowed in facets. But got ${sorted[i]?.key ?? ""}`);
    }
  }
  return sorted;
}

/** A fact as messages show it. */
function print(statement: Statement): string {
  const { subject, predicate, language, objectId, value, isStarObject, facets } = statement;
  const parts: string[] = [];
  if (subject !== "") parts.push(`subject:${quoteGo(subject)}`);
  if (predicate !== "") parts.push(`predicate:${quoteGo(predicate)}`);
  if (objectId !== "") parts.push(`object_id:${quoteGo(objectId)}`);
  if (isStarObject) parts.push(`object_value:{default_val:${quoteGo(star)}}`);
  else if (value !== undefined) parts.push(`object_value:{${printValue(value)}}`);
  if (language !== "") parts.push(`lang:${quoteGo(language)}`);
  for (const facet of facets ?? []) parts.push(printFacet(facet));
  return parts.join(" ");
}

const valueNames: Readonly<Record<Value["kind"], string>> = {
  default: "default_val",
  string: "str_val",
  int: "int_val",
  float: "double_val",
  bool: "bool_val",
  datetime: "datetime_val",
  geo: "geo_val",
  password: "password_val",
  bigfloat: "bigfloat_val",
  float32vector: "vfloat32_val",
  binary: "bytes_val",
};

function printValue(value: Value): string {
  return `${valueNames[value.kind]}:${printValueBody(value)}`;
}

/** Passwords are not shown. */
function printValueBody(value: Value): string {
  switch (value.kind) {
    case "int":
    case "float":
    case "bool":
      return printValueText(value);
    case "password":
      return '""';
    default:
      return quoteWire(wireBytes(value));
  }
}
