/** Facts of the change feed as JSON: what one says of a value before and after (docs/changes.md). */
import { Buffer } from "node:buffer";
import { StoredCell } from "../codec/cell.ts";
import { decodeFacets } from "../codec/facets.ts";
import type { PredicateDefinition } from "../model/definition.ts";
import type { Facets } from "../model/facet.ts";
import { printValuePlainJson, printValueText } from "../model/print-value.ts";
import { printUid } from "../model/uid.ts";
import type { Value } from "../model/value.ts";
import type { CellPatch, EdgePatch } from "../store/store.ts";
import type { RecordChange } from "./record-changes.ts";

export function printFact(change: RecordChange, { name }: PredicateDefinition): string {
  const { patch, after } = change;
  const operation = after === undefined ? "delete" : "set";
  const front = `{"operation":"${operation}","uid":"${printUid(patch.uid)}","predicate":${JSON.stringify(name)}`;
  const rest = patch.kind === "edge" ? printEdge(patch, change) : printCells(patch, change);
  return `${front}${rest}}`;
}

function printEdge({ target }: EdgePatch, { before, after }: RecordChange): string {
  const uid = `"${printUid(target)}"`;
  let text = `,"type":"uid"`;
  if (before !== undefined) text += `,"before":${uid}${printFacets("facetsBefore", before)}`;
  if (after !== undefined) text += `,"after":${uid}${printFacets("facets", after)}`;
  return text;
}

function printFacets(member: string, encoded: Uint8Array): string {
  return printFacetList(member, decodeFacets(encoded));
}

function printFacetList(member: string, facets: Facets | undefined): string {
  if (facets === undefined || facets.length === 0) return "";
  const members = facets.map(({ key, value }) => `${JSON.stringify(key)}:${printValue(value)}`);
  return `,"${member}":{${members.join(",")}}`;
}

function printCells(_patch: CellPatch, { before, after }: RecordChange): string {
  const old = before && new StoredCell(before);
  const now = after && new StoredCell(after);
  const shown = now ?? old;
  if (shown === undefined) return "";
  let text = shown.language === "" ? "" : `,"language":${JSON.stringify(shown.language)}`;
  text += `,"type":"${shown.kind}"`;
  // A value that was stored before its predicate got another type.
  if (old !== undefined && old.kind !== shown.kind) text += `,"typeBefore":"${old.kind}"`;
  if (shown.kind === "password" || old?.kind === "password") return `${text},"hidden":true`;
  if (old !== undefined) text += `,"before":${printValue(old.value)}`;
  if (old !== undefined) text += printFacetList("facetsBefore", old.facets);
  if (now !== undefined) text += `,"after":${printValue(now.value)}`;
  if (now !== undefined) text += printFacetList("facets", now.facets);
  return text;
}

/** Every value has a JSON text: what answers to queries leave out, as infinities, is a text. */
function printValue(value: Value): string {
  if (value.kind === "binary") return `"${Buffer.from(value.bytes).toString("base64")}"`;
  const json = printValuePlainJson(value);
  return json === "" ? JSON.stringify(printValueText(value)) : json;
}
