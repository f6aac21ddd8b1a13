import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  ByteReader,
  ByteWriter,
  compareBytes,
  concatBytes,
  decodeUtf8,
  encodeUtf8,
  equalBytes,
  prefixEnd,
  startsWithBytes,
  varintSize,
} from "./bytes.ts";

const bytes = fc.uint8Array({ maxLength: 12 });
const safe = fc.maxSafeNat();

describe("bytes", () => {
  it("compare as buffers do", () => {
    fc.assert(
      fc.property(bytes, bytes, (a, b) => {
        expect(Math.sign(compareBytes(a, b))).toBe(Buffer.compare(a, b));
        expect(equalBytes(a, b)).toBe(Buffer.compare(a, b) === 0);
        expect(startsWithBytes(concatBytes(a, b), a)).toBe(true);
      }),
    );
  });

  it("a prefix ends right behind everything that begins with it", () => {
    fc.assert(
      fc.property(bytes, bytes, (prefix, rest) => {
        const end = prefixEnd(prefix);
        expect(end === undefined).toBe(prefix.every((byte) => byte === 0xff));
        fc.pre(end !== undefined);
        expect(compareBytes(concatBytes(prefix, rest), end)).toBeLessThan(0);
        expect(startsWithBytes(end, prefix)).toBe(false);
      }),
    );
  });

  it("are read as they were written", () => {
    fc.assert(
      fc.property(safe, fc.double(), bytes, fc.string(), (number, float, run, text) => {
        const writer = new ByteWriter(1);
        writer.varint(number);
        expect(writer.length).toBe(varintSize(number));
        writer.f64(float);
        writer.run(run);
        writer.text(text);
        writer.u32(0xfffffffe);
        writer.i32(-5);
        writer.i64(-(2n ** 63n));
        writer.u16(65535);
        writer.latin1("\u00ff\u0000a");
        const reader = new ByteReader(writer.finish());
        expect(reader.varint()).toBe(number);
        expect(reader.f64()).toBe(float);
        expect([...reader.run()]).toEqual([...run]);
        expect(reader.text()).toBe(decodeUtf8(encodeUtf8(text)));
        expect(reader.u32()).toBe(0xfffffffe);
        expect(reader.i32()).toBe(-5);
        expect(reader.i64()).toBe(-(2n ** 63n));
        expect(reader.u16()).toBe(65535);
        expect(reader.latin1()).toBe("\u00ff\u0000a");
        expect(reader.left).toBe(0);
        expect(() => reader.u8()).toThrow("stored bytes end early");
      }),
    );
  });
});
