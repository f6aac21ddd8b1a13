/** A refused fact as the reference prints it inside its messages (dql.md 2.11). */
import { encodeUtf8 } from "../base/bytes.ts";
import type { NQuad } from "../model/nquad.ts";
import { printValueText } from "../model/print-value.ts";
import type { Value } from "../model/value.ts";

export interface EdgePlace {
  readonly namespace: number;
  readonly uid: number;
  readonly target: number | undefined;
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
  const pieces = [`entity:${place.uid}`, `attr:${quote(`${place.namespace}-${fact.predicate}`)}`];
  if (place.target !== undefined) {
    pieces.push("value_type:UID", `value_id:${place.target}`);
  } else if (fact.object.kind === "value") {
    const { value } = fact.object;
    pieces.push(`value:${quoteValue(value)}`);
    if (typeNames[value.kind] !== "") pieces.push(`value_type:${typeNames[value.kind]}`);
  }
  if (fact.language !== "") pieces.push(`lang:${quote(fact.language)}`);
  if (place.namespace !== 0) pieces.push(`namespace:${place.namespace}`);
  return pieces.join(" ");
}

/** Numbers stand in the message as the bytes that the reference stores. */
function quoteValue(value: Value): string {
  const bytes = new Uint8Array(8);
  const view = new DataView(bytes.buffer);
  switch (value.kind) {
    case "int":
      view.setBigInt64(0, BigInt(value.int), true);
      return quoteBytes(bytes);
    case "float":
      view.setFloat64(0, value.float, true);
      return quoteBytes(bytes);
    case "bool":
      return quoteBytes(Uint8Array.of(value.bool ? 1 : 0));
    default:
      return quote(printValueText(value));
  }
}

function quoteBytes(bytes: Uint8Array): string {
  let text = '"';
  for (const byte of bytes) {
    text +=
      byte < 0x20 || byte >= 0x7f
        ? "\\x" + byte.toString(16).padStart(2, "0")
        : quote(String.fromCharCode(byte)).slice(1, -1);
  }
  return text + '"';
}

function quote(text: string): string {
  let quoted = '"';
  for (const character of text) {
    if (character === "\n") quoted += "\\n";
    else if (character === "\r") quoted += "\\r";
    else if (character === "\t") quoted += "\\t";
    else if (character === '"' || character === "\\") quoted += `\\${character}`;
    else if (character < " " || character === "\x7f") {
      for (const byte of encodeUtf8(character)) {
        quoted += "\\x" + byte.toString(16).padStart(2, "0");
      }
    } else quoted += character;
  }
  return quoted + '"';
}
