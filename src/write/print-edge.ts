/** A refused fact as the reference prints it inside its messages (reference/dql 2.11). */
import { encodeUtf8 } from "../base/bytes.ts";
import { printFacet } from "../intake/print-facet.ts";
import type { NQuad } from "../model/nquad.ts";
import type { Value } from "../model/value.ts";
import { quoteWire, wireBytes } from "../model/wire-bytes.ts";

interface EdgePlace {
  readonly namespace: number;
  readonly uid: number;
  readonly target: number | undefined;
  readonly isDelete: boolean;
}

const typeNames: Readonly<Record<Value["kind"], string>> = {
  default: "",
  binary: "BINARY",
  int: "INT",
  float: "FLOAT",
  bool: "BOOL",
  datetime: "DATETIME",
  geo: "GEO",
  password: "PASSWORD",
  string: "STRING",
  bigfloat: "BIGFLOAT",
  float32vector: "VFLOAT",
};

export function printEdge(fact: NQuad, place: EdgePlace): string {
  const pieces = [
    `entity:${place.uid}`,
    `attr:${quoteWire(encodeUtf8(`${place.namespace}-${fact.predicate}`))}`,
  ];
  if (place.target !== undefined) {
    pieces.push("value_type:UID", `value_id:${place.target}`);
  } else if (fact.object.kind === "value") {
    const { value } = fact.object;
    const bytes = wireBytes(value);
    if (bytes.length > 0) pieces.push(`value:${quoteWire(bytes)}`);
    if (typeNames[value.kind] !== "") pieces.push(`value_type:${typeNames[value.kind]}`);
  }
  if (fact.language !== "") pieces.push(`lang:${quoteWire(encodeUtf8(fact.language))}`);
  if (place.isDelete) pieces.push("op:DEL");
  for (const facet of fact.facets ?? []) pieces.push(printFacet(facet));
  return pieces.join(" ");
}
