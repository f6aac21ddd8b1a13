/** Facts that come as messages rather than as text, written as the N-Quads that they are. */
import { Buffer } from "node:buffer";
import { Fault } from "../model/fault.ts";
import { type ApiFacet, type ApiNQuad, type ApiValue, toNumber } from "./api.ts";
import { printGobFloat } from "./big-float.ts";
import { printShape } from "./wkb.ts";

/** One line for each fact. Throws Fault E_MUTATION for values that have no text. */
export function printNQuads(facts: readonly ApiNQuad[]): string {
  let text = "";
  for (const fact of facts) text += `${printNQuad(fact)}\n`;
  return text;
}

function printNQuad({ subject, predicate, objectId, objectValue, lang, facets }: ApiNQuad): string {
  const object =
    objectValue?.val === undefined ? printNode(objectId) : printValue(objectValue, lang);
  const where = predicate === star ? "*" : `<${expectName(predicate)}>`;
  return `${printNode(subject)} ${where} ${object}${printFacets(facets)} .`;
}

/** What stands for everything in deletes. */
const star = "_STAR_ALL";

function printNode(name: string): string {
  if (name === star || name === "*") return "*";
  if (name.startsWith("_:") || /^(?:uid|val)\(/.test(name)) return expectName(name);
  return `<${expectName(name)}>`;
}

/** A name is one term of its line, whatever its sender has put into it. */
function expectName(name: string): string {
  if (name !== "" && !/[\s<>"]/.test(name)) return name;
  throw new Fault("E_MUTATION", `the name ${JSON.stringify(name)} of a fact is empty or no name`);
}

function printValue(value: ApiValue, lang: string): string {
  const tag = lang === "" ? "" : `@${expectName(lang)}`;
  switch (value.val) {
    case "defaultVal":
      if (value.defaultVal === star) return "*";
      return quote(value.defaultVal) + tag;
    case "strVal":
      return quote(value.strVal) + (tag === "" ? "^^<xs:string>" : tag);
    case "passwordVal":
      return `${quote(value.passwordVal)}^^<xs:password>`;
    case "intVal":
      return `"${toNumber(value.intVal)}"^^<xs:int>`;
    case "boolVal":
      return `"${value.boolVal}"^^<xs:boolean>`;
    case "doubleVal":
      return `"${value.doubleVal}"^^<xs:float>`;
    case "uidVal":
      return `<0x${toNumber(value.uidVal).toString(16)}>`;
    case "bytesVal":
      return quote(Buffer.from(value.bytesVal).toString());
    case "dateVal":
      return `"${readTime(value.dateVal)}"^^<xs:dateTime>`;
    case "datetimeVal":
      return `"${readTime(value.datetimeVal)}"^^<xs:dateTime>`;
    case "vfloat32Val":
      return `"${readVector(value.vfloat32Val)}"^^<xs:[]float32>`;
    case "geoVal":
      return `${quote(printShape(Buffer.from(value.geoVal)))}^^<geo:geojson>`;
    case "bigfloatVal":
      return `"${printGobFloat(Buffer.from(value.bigfloatVal))}"^^<xs:decimal>`;
    default:
      throw new Fault("E_MUTATION", "a fact has no value");
  }
}

function quote(text: string): string {
  return JSON.stringify(text);
}

/** Seconds from the year 1, by which the sender counts, to 1970. */
const yearOneSeconds = 62_135_596_800n;

/** A version byte, seconds, nanoseconds, minutes east: 15 bytes, the numbers with their highest byte first. */
function readTime(bytes: Uint8Array): string {
  const data = Buffer.from(bytes);
  if (!isTime(data)) throw new Fault("E_MUTATION", "a time of a fact is not 15 bytes of version 1");
  const seconds = data.readBigInt64BE(1) - yearOneSeconds;
  const ms = Number(seconds) * 1000;
  const nanoseconds = String(data.readUInt32BE(9)).padStart(9, "0");
  const date = new Date(ms);
  if (Number.isNaN(date.getTime()))
    throw new Fault("E_MUTATION", "a time of a fact is out of range");
  return date.toISOString().replace(/\.\d+Z$/, `.${nanoseconds}Z`);
}

/** Numbers of four bytes, the lowest first. */
function readVector(bytes: Uint8Array): string {
  const data = Buffer.from(bytes);
  const numbers: number[] = [];
  for (let at = 0; at + 4 <= data.length; at += 4) numbers.push(data.readFloatLE(at));
  return `[${numbers.join(", ")}]`;
}

function printFacets(facets: readonly ApiFacet[]): string {
  if (facets.length === 0) return "";
  return ` (${facets.map((facet) => `${expectName(facet.key)}=${printFacet(facet)}`).join(", ")})`;
}

/** In the form of its type, or where it has not that form as text, of which the type is guessed as in N-Quads. */
function printFacet({ value, valType }: ApiFacet): string {
  const data = Buffer.from(value);
  if (valType === 1 && data.length === 8) return String(data.readBigInt64LE(0));
  if (valType === 2 && data.length === 8) return printFloat(data.readDoubleLE(0));
  if (valType === 3 && data.length === 1) return data[0] === 1 ? "true" : "false";
  if (valType === 4 && isTime(data)) return readTime(value);
  const text = data.toString();
  return valType !== 0 && /^[\w.:+-]+$/.test(text) ? text : quote(text);
}

/** A whole number, too, is no integer. */
function printFloat(value: number): string {
  const text = String(value);
  return /^-?\d+$/.test(text) ? `${text}.0` : text;
}

/** Fifteen bytes of version 1; version 2 has the seconds of its zone behind them. */
function isTime(data: Buffer): boolean {
  return (data.length === 15 && data[0] === 1) || (data.length === 16 && data[0] === 2);
}
