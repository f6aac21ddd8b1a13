/** Facets as bytes: sorted by key, one after the other. Empty bytes: none. */
import { ByteReader, ByteWriter, emptyBytes } from "../base/bytes.ts";
import { assert } from "../base/assert.ts";
import type { Facet, Facets } from "../model/facet.ts";
import { makeInt, valueKinds, type Value } from "../model/value.ts";

export function encodeFacets(facets: Facets | undefined): Uint8Array {
  if (facets === undefined || facets.length === 0) return emptyBytes;
  const sorted = facets.toSorted((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
  const writer = new ByteWriter(64);
  for (const facet of sorted) {
    writer.text(facet.key);
    writeFacetValue(writer, facet.value);
  }
  return writer.finish();
}

function writeFacetValue(writer: ByteWriter, value: Value): void {
  writer.u8(valueKinds.indexOf(value.kind));
  switch (value.kind) {
    case "string":
    case "default":
      return writer.text(value.text);
    case "int":
      return writer.i64(BigInt(value.int));
    case "float":
      return writer.f64(value.float);
    case "bool":
      return writer.u8(value.bool ? 1 : 0);
    case "datetime":
      writer.f64(value.time.seconds);
      writer.u32(value.time.nanos);
      return writer.i32(value.time.offsetMinutes);
    default:
      assert(false, "a facet is a string, int, float, bool or datetime");
  }
}

export function decodeFacets(bytes: Uint8Array): Facets | undefined {
  if (bytes.length === 0) return undefined;
  const reader = new ByteReader(bytes);
  const facets: Facet[] = [];
  while (reader.left > 0) {
    const key = reader.text();
    facets.push({ key, value: readFacetValue(reader) });
  }
  return facets;
}

function readFacetValue(reader: ByteReader): Value {
  const kind = valueKinds[reader.u8()];
  switch (kind) {
    case "string":
    case "default":
      return { kind, text: reader.text() };
    case "int":
      return makeInt(reader.i64());
    case "float":
      return { kind, float: reader.f64() };
    case "bool":
      return { kind, bool: reader.u8() === 1 };
    case "datetime": {
      const seconds = reader.f64();
      const nanos = reader.u32();
      return { kind, time: { seconds, nanos, offsetMinutes: reader.i32() } };
    }
    default:
      assert(false, "a stored facet has a known kind");
  }
}
