import fc from "fast-check";
import { expect, it } from "vitest";
import { runs } from "../../test/support/runs.ts";
import { printUid } from "../model/uid.ts";
import { takeWriter } from "./json-writer.ts";

function write(fill: (writer: ReturnType<typeof takeWriter>) => void): string {
  const writer = takeWriter(1024 * 1024);
  fill(writer);
  const text = writer.textFrom(0);
  writer.release();
  return text;
}

it("uids as the model prints them", () => {
  const borders = [0, 1, 15, 16, 255, 256, 2 ** 31, 2 ** 32 - 1, 2 ** 32, 2 ** 36, 2 ** 53 - 1];
  for (const uid of borders) expect(write((out) => out.uid(uid))).toBe(`"${printUid(uid)}"`);
  fc.assert(
    fc.property(fc.maxSafeNat(), (uid) => {
      expect(write((out) => out.uid(uid))).toBe(`"${printUid(uid)}"`);
    }),
    { numRuns: runs(1000) },
  );
});

it("texts and bytes of every length, over a buffer that grows", () => {
  let wanted = "";
  const text = write((out) => {
    for (let size = 0; size < 600; size++) {
      const piece = String.fromCharCode(97 + (size % 26)).repeat(size);
      out.bytes(Buffer.from(piece));
      out.ascii(piece);
      out.uid(size);
      wanted += `${piece}${piece}"${printUid(size)}"`;
    }
  });
  expect(text).toBe(wanted);
});
