/** JSON objects → facts (reference/dql 3.4). */
import type { Steps } from "../base/maybe.ts";
import { systemRandom } from "../base/random.ts";
import { attempt, ConversionError, quoteGo } from "../model/conversion-error.ts";
import type { Facet } from "../model/facet.ts";
import { Fault } from "../model/fault.ts";
import { checkGeometry } from "../model/geometry.ts";
import { isInt64, normalizeInt64, parseUint64 } from "../model/int.ts";
import type { Look } from "../model/request-budget.ts";
import type { Value } from "../model/value.ts";
import { isVectorText, parseVector } from "../model/vector.ts";
import { readDateTime } from "./facet-reader.ts";
import { JsonNumber, type JsonMembers, type JsonTree } from "./json-reader.ts";
import { type FactOperation, type FactSink, splitLanguage, star } from "./statement.ts";

/** Names for objects without uid: `_:dg.<random>.<counter>`, unlike any that a client would write. */
const labelPrefix = `_:dg.${Math.floor(systemRandom.next() * 2 ** 32)}.`;
let labelCount = 0;

/** So many members and elements are read between two looks. */
const seenMax = 256;

/** What a request says about predicates that the schema may not know yet. */
export type Hints = Map<string, "list" | "single">;

/** An object's name, and the facets that it carries for the edge that leads to it. */
interface ReadObject {
  readonly name: string;
  readonly facets: readonly Facet[];
}

/** What stands at an object's key: the object part of a statement. */
type ObjectPart =
  | { readonly kind: "value"; readonly value: Value }
  | { readonly kind: "reference"; readonly id: string }
  | { readonly kind: "star" };

/** Reads the `set` or the `delete` of one JSON mutation. */
export class JsonFactReader {
  private readonly sink: FactSink;
  private readonly operation: FactOperation;
  private readonly hints: Hints;
  private readonly look: Look | undefined;
  /** Members and elements since the last look. */
  private seen = 0;

  /** `look`: asked on the way through many members. */
  constructor(sink: FactSink, operation: FactOperation, hints: Hints, look?: Look) {
    this.sink = sink;
    this.operation = operation;
    this.hints = hints;
    this.look = look;
  }

  /** One object or an array of them; anything else says nothing. Throws Fault E_JSON_FACTS. */
  *read(json: JsonTree): Steps<void> {
    if (json instanceof Map) {
      yield* this.readRoot(json);
    } else if (Array.isArray(json)) {
      for (const item of json as readonly JsonTree[]) {
        if (!(item instanceof Map)) refuse("only array of map allowed at root");
        if (++this.seen >= seenMax) yield this.rest();
        yield* this.readRoot(item);
      }
    }
  }

  private rest(): Promise<void> | undefined {
    const { seen } = this;
    this.seen = 0;
    return this.look?.(seen);
  }

  /** In a delete, an object with nothing but its uid means all that the node has. */
  private *readRoot(object: JsonMembers): Steps<void> {
    const { name } = yield* this.readObject(object, "");
    if (this.operation === "delete" && object.size === 1 && object.has("uid")) {
      this.add(name, { predicate: star, language: "" }, { kind: "star" }, []);
    }
  }

  private *readObject(object: JsonMembers, parentPredicate: string): Steps<ReadObject> {
    const name = this.readName(object.get("uid"));
    checkNamespace(object.get("namespace"));
    const facets = takeFacetKeys(object);
    for (const [key, value] of object) {
      if (++this.seen >= seenMax) yield this.rest();
      if (key === "uid" || key === "namespace" || key.includes("|")) continue;
      const own = facets?.get(key);
      if (value === null) this.readNull(name, key);
      else if (Array.isArray(value)) {
        yield* this.readList(name, key, value as readonly JsonTree[], own);
      } else if (!(value instanceof Map)) {
        const facetsOf = readScalarFacets(own);
        const part = this.readScalar(key, value as string | boolean | JsonNumber);
        this.add(name, splitLanguage(key), part, facetsOf);
        this.hint(key, "single");
      } else if (value.size === 0) readScalarFacets(own);
      else yield* this.readMap(name, key, value, own);
    }
    return { name, facets: readScalarFacets(facets?.get(parentPredicate)) };
  }

  /** `uid` as text or number; a new label where it is absent, empty or zero. */
  private readName(uid: JsonTree | undefined): string {
    const name = nameOf(uid);
    if (name !== "") return name;
    if (this.operation === "delete") {
      refuse("UID must be present and non-zero while deleting edges");
    }
    labelCount++;
    return labelPrefix + String(labelCount);
  }

  /** Nothing in a set; in a delete all values of the predicate. */
  private readNull(name: string, key: string): void {
    if (this.operation === "delete") this.add(name, splitLanguage(key), { kind: "star" }, []);
  }

  private *readMap(
    name: string,
    key: string,
    value: JsonMembers,
    facets: FacetKeys | undefined,
  ): Steps<void> {
    const own = readScalarFacets(facets);
    const target = splitLanguage(key);
    const geometry = readGeometry(value);
    if (geometry !== undefined) {
      this.add(name, target, { kind: "value", value: geometry }, own);
    } else {
      const child = yield* this.readObject(value, key);
      this.add(name, target, { kind: "reference", id: child.name }, child.facets);
    }
    this.hint(key, "single");
  }

  private *readList(
    name: string,
    key: string,
    items: readonly JsonTree[],
    facets: FacetKeys | undefined,
  ): Steps<void> {
    this.hint(key, "list");
    // Tags are not split off here: a list has no languages, and the name is refused with its `@`.
    const target = { predicate: key, language: "" };
    const isScalars = typeof items[0] === "string" || items[0] instanceof JsonNumber;
    const byIndex = isScalars ? readListFacets(facets) : undefined;
    for (const [i, item] of items.entries()) {
      if (++this.seen >= seenMax) yield this.rest();
      if (item instanceof Map) {
        const geometry = readGeometry(item);
        if (geometry !== undefined) {
          this.add(name, target, { kind: "value", value: geometry }, []);
          continue;
        }
        const child = yield* this.readObject(item, key);
        this.add(name, target, { kind: "reference", id: child.name }, child.facets);
      } else if (typeof item === "string" || (item instanceof JsonNumber && isKnownNumber(item))) {
        this.add(name, target, this.readScalar(key, item), byIndex?.get(i) ?? noFacets);
      } else {
        refuse(`got unsupported type for list: ${key}`);
      }
    }
  }

  /** In a delete, `""`, `false` and `0.0` stand for all values of the predicate; the integer 0 does not. */
  private readScalar(key: string, scalar: string | boolean | JsonNumber): ObjectPart {
    const isDelete = this.operation === "delete";
    if (typeof scalar === "string") {
      return isDelete && scalar === "" ? { kind: "star" } : readText(scalar);
    }
    if (typeof scalar === "boolean") {
      if (isDelete && !scalar) return { kind: "star" };
      return { kind: "value", value: { kind: "bool", bool: scalar } };
    }
    const value = toNumber(scalar);
    if (value === undefined) {
      refuse(`unexpected type for val for attr: ${key} while converting to nquad`);
    }
    if (isDelete && value.kind === "float" && value.float === 0) return { kind: "star" };
    return { kind: "value", value };
  }

  private add(
    subject: string,
    target: { readonly predicate: string; readonly language: string },
    object: ObjectPart,
    facets: readonly Facet[],
  ): void {
    this.sink.add(
      {
        subject,
        predicate: target.predicate,
        language: target.language,
        objectId: object.kind === "reference" ? object.id : "",
        value: object.kind === "value" ? object.value : undefined,
        isStarObject: object.kind === "star",
        facets: facets.length === 0 ? undefined : facets,
      },
      this.operation,
    );
  }

  /** Two different hints make a list. */
  private hint(key: string, hint: "list" | "single"): void {
    if (this.operation === "delete") return;
    const known = this.hints.get(key);
    this.hints.set(key, known !== undefined && known !== hint ? "list" : hint);
  }
}

function refuse(message: string): never {
  throw new Fault("E_JSON_FACTS", message);
}

function nameOf(uid: JsonTree | undefined): string {
  if (uid instanceof JsonNumber) {
    const value = toNumber(uid);
    return value?.kind === "int" && value.int !== 0
      ? BigInt.asUintN(64, BigInt(value.int)).toString()
      : "";
  }
  if (typeof uid !== "string" || uid === "") return "";
  if (uid.startsWith("_:")) return uid;
  const packed = uid.replace(/\s/g, "");
  if (packed.startsWith("uid(")) return packed;
  try {
    const number = parseUint64(uid, 0);
    return number === 0n ? "" : number.toString();
  } catch (error) {
    if (error instanceof ConversionError) return refuse(error.message);
    throw error;
  }
}

/** Whose facts they are says the sender's token; here it only has to be a number. */
function checkNamespace(namespace: JsonTree | undefined): void {
  if (typeof namespace !== "string") return;
  const packed = namespace.replace(/\s/g, "");
  if (packed === "") return;
  try {
    parseUint64(packed, 0);
  } catch (error) {
    if (error instanceof ConversionError) refuse(error.message);
    throw error;
  }
}

/** A text, which may also be a vector or name a variable. */
function readText(text: string): ObjectPart {
  const first = text.charCodeAt(0);
  // `[`, or a blank in front of one.
  if ((first === 91 || first <= 32) && isVectorText(text.trim())) {
    const vector = parseVector(text);
    if (vector.length > 0) return { kind: "value", value: { kind: "float32vector", vector } };
  }
  if (first === 117 || first === 118 || first <= 32) {
    const packed = text.replace(/\s/g, "");
    if (packed.startsWith("uid(") || packed.startsWith("val(")) {
      if (!packed.endsWith(")")) {
        refuse(`while processing '${packed}', brackets are not closed properly`);
      }
      return { kind: "reference", id: packed };
    }
  }
  return { kind: "value", value: { kind: "string", text } };
}

const uint64Max = 2n ** 64n - 1n;

/** An int where the text is a whole number within 64 bits; beyond that the reference knows no type for it. */
function toNumber(number: JsonNumber): Extract<Value, { kind: "int" | "float" }> | undefined {
  const { text } = number;
  if (text.length < 16) {
    const plain = Number(text);
    return /[.eE]/.test(text) ? { kind: "float", float: plain } : { kind: "int", int: plain + 0 };
  }
  if (/[.eE]/.test(text)) return { kind: "float", float: Number(text) };
  // More digits are no int, and reading them takes the square of their number.
  if (text.length > 24) return { kind: "float", float: Number(text) };
  const int = BigInt(text);
  if (isInt64(int)) return { kind: "int", int: normalizeInt64(int) };
  return int > 0n && int <= uint64Max ? undefined : { kind: "float", float: Number(text) };
}

function isKnownNumber(number: JsonNumber): boolean {
  return toNumber(number) !== undefined;
}

/** `{"type": …, "coordinates": …}` and nothing else, if it is GeoJSON; otherwise it is an ordinary object. */
function readGeometry(object: JsonMembers): Value | undefined {
  if (object.size !== 2 || !object.has("type") || !object.has("coordinates")) return undefined;
  const json = toPlain(object);
  const geometry = attempt(() => checkGeometry(json, ""));
  return geometry === undefined ? undefined : { kind: "geo", geometry };
}

function toPlain(json: JsonTree): unknown {
  if (json instanceof JsonNumber) return Number(json.text);
  if (json instanceof Map) {
    return Object.fromEntries([...json].map(([key, value]) => [key, toPlain(value)]));
  }
  return Array.isArray(json) ? (json as readonly JsonTree[]).map(toPlain) : json;
}

/** Of one predicate: facet keys, which may hold a `|` themselves, with their names in the object and their values. */
type FacetKeys = readonly {
  readonly name: string;
  readonly facet: string;
  readonly value: JsonTree;
}[];

/** The members of an object whose keys hold a `|`, by what stands in front of the first. */
function takeFacetKeys(object: JsonMembers): ReadonlyMap<string, FacetKeys> | undefined {
  let facets: Map<string, FacetKeys[number][]> | undefined;
  for (const [name, value] of object) {
    const bar = name.indexOf("|");
    if (bar < 0) continue;
    facets ??= new Map();
    const key = name.slice(0, bar);
    const entry = { name, facet: name.slice(bar + 1), value };
    const known = facets.get(key);
    if (known === undefined) facets.set(key, [entry]);
    else known.push(entry);
  }
  return facets;
}

const noFacets: readonly Facet[] = [];

/** Facets of an edge or of a single value: `pred|facet` beside it. */
function readScalarFacets(facets: FacetKeys | undefined): readonly Facet[] {
  if (facets === undefined) return noFacets;
  const result: Facet[] = [];
  for (const { name, facet, value } of facets) {
    if (value === null) continue;
    try {
      result.push({ key: facet, value: readFacetValue(value) });
    } catch (error) {
      if (!(error instanceof ConversionError)) throw error;
      refuse(`facet: ${name}: ${error.message}`);
    }
  }
  return result;
}

/** Facets of a list: index → its facets, in the order of their keys. */
function readListFacets(facets: FacetKeys | undefined): Map<number, Facet[]> | undefined {
  if (facets === undefined) return undefined;
  const byIndex = new Map<number, Facet[]>();
  for (const { name, facet, value: members } of facets) {
    if (members === null) continue;
    if (!(members instanceof Map)) {
      refuse(
        `facets format should be of type map for scalarlist predicates, found: ${describe(members)} for facet: ${name}`,
      );
    }
    const own = new Map<number, Facet>();
    for (const [index, value] of members) {
      try {
        const read = { key: facet, value: readFacetValue(value) };
        own.set(parseIndex(index), read);
      } catch (error) {
        if (!(error instanceof ConversionError)) throw error;
        refuse(`facet: ${name}, index: ${index}: ${error.message}`);
      }
    }
    for (const [index, read] of own) {
      const known = byIndex.get(index);
      if (known === undefined) byIndex.set(index, [read]);
      else known.push(read);
    }
  }
  return byIndex;
}

function parseIndex(text: string): number {
  if (/^[+-]?[0-9]{1,15}$/.test(text)) return Number(text);
  throw new ConversionError(`strconv.Atoi: parsing ${quoteGo(text)}: invalid syntax`);
}

/** A value as Go's fmt prints it. */
function describe(json: JsonTree): string {
  if (json instanceof JsonNumber) return json.text;
  if (Array.isArray(json)) {
    return `[${(json as readonly JsonTree[]).map(describe).join(" ")}]`;
  }
  if (json instanceof Map) {
    return `map[${[...json].map(([key, value]) => `${key}:${describe(value)}`).join(" ")}]`;
  }
  if (json === null) return "<nil>";
  return typeof json === "string" ? json : json === true ? "true" : "false";
}

/** Texts that read as a date are dates. */
function readFacetValue(json: JsonTree): Value {
  if (typeof json === "string") {
    const time = readDateTime(json);
    return time === undefined ? { kind: "string", text: json } : { kind: "datetime", time };
  }
  if (typeof json === "boolean") return { kind: "bool", bool: json };
  const number = json instanceof JsonNumber ? toNumber(json) : undefined;
  if (number === undefined) {
    throw new ConversionError("facet value can only be string/number/bool");
  }
  return number;
}
