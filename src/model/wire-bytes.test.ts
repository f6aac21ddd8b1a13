// Goal: bytes are quoted as text where they are UTF-8, in one pass, and values of any size become bytes.
import fc from "fast-check";
import { expect, test } from "vitest";
import { encodeUtf8 } from "../base/bytes.ts";
import { quoteWire, wireBytes } from "./wire-bytes.ts";

const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** The longest character at a place, by trying. */
function characterAt(bytes: Uint8Array, at: number): string | undefined {
  for (let length = 1; length <= 4; length++) {
    try {
      return strict.decode(bytes.slice(at, at + length));
    } catch {
      // Not a whole one.
    }
  }
  return undefined;
}

function quotePlainly(bytes: Uint8Array): string {
  const escapes: Readonly<Record<string, string>> = {
    "\n": "\\n",
    "\r": "\\r",
    "\t": "\\t",
    '"': '\\"',
    "\\": "\\\\",
  };
  let quoted = "";
  for (let i = 0; i < bytes.length;) {
    const character = characterAt(bytes, i);
    const code = character?.codePointAt(0) ?? bytes[i]!;
    const hex = code.toString(16);
    if (character === undefined) quoted += `\\x${hex}`;
    else if (escapes[character] !== undefined) quoted += escapes[character];
    else if (code < 0x20 || code === 0x7f) quoted += `\\x${hex.padStart(2, "0")}`;
    else if (code >= 0x80 && code < 0xa0) quoted += `\\u${hex.padStart(4, "0")}`;
    else quoted += character;
    i += character === undefined ? 1 : encodeUtf8(character).length;
  }
  return `"${quoted}"`;
}

test("quoted as character by character", () => {
  const text = fc.string({ unit: "binary" }).map((each) => encodeUtf8(each));
  const edge = fc.constantFrom(0xc0, 0xc2, 0xe0, 0xed, 0xef, 0xbb, 0xbf, 0xf0, 0xf4, 0x80, 0x9f);
  const byte = fc.oneof(fc.integer({ min: 0, max: 255 }), edge);
  const raw = fc.array(byte, { maxLength: 12 }).map((all) => Uint8Array.from(all));
  fc.assert(
    fc.property(fc.oneof(text, raw), (bytes) => {
      expect(quoteWire(bytes)).toBe(quotePlainly(bytes));
    }),
    { numRuns: 2000 },
  );
});

test("values of more parts than arguments fit on the stack become bytes", () => {
  const coordinates = [Array.from({ length: 200_000 }, () => [1, 2])];
  const bytes = wireBytes({ kind: "geo", geometry: { type: "Polygon", coordinates } });
  expect(bytes.length).toBe(1 + 4 + 4 + 4 + 200_000 * 16);
  expect(quoteWire(bytes).length).toBeGreaterThan(bytes.length);
  const vector = new Float32Array(200_000);
  expect(wireBytes({ kind: "float32vector", vector })).toHaveLength(800_000);
});
