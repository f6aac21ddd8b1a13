/** A facet as the reference prints it inside its messages about facts. */
import { encodeUtf8 } from "../base/bytes.ts";
import type { Facet } from "../model/facet.ts";
import { quoteWire, wireBytes } from "../model/wire-bytes.ts";
import { termsOf } from "../tokens/analysis.ts";

/** Texts are the first kind, which is not named; their words stand behind them, marked as those of an index. */
export function printFacet({ key, value }: Facet): string {
  const bytes = wireBytes(value);
  const pieces = [`key:${quoteWire(encodeUtf8(key))}`];
  if (bytes.length > 0) pieces.push(`value:${quoteWire(bytes)}`);
  if (value.kind !== "string") {
    pieces.push(`val_type:${value.kind.toUpperCase()}`);
  } else {
    for (const term of termsOf(value.text, "").sort()) {
      pieces.push(`tokens:${quoteWire(encodeUtf8(`\x01${term}`))}`);
    }
  }
  return `facets:{${pieces.join(" ")}}`;
}
