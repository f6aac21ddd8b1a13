import { takeWriter } from "../src/render/json-writer.ts";
import type { BenchFile } from "./harness.ts";

const key = new TextEncoder().encode('"Product.name":');
const cell = new TextEncoder().encode('"amber basin drift"');

/** Rows of a uid, a value and a count, as answers have them. */
export const benches: BenchFile = (size) => [
  {
    name: "rows of three fields",
    count: size,
    run: () => {
      const writer = takeWriter(1024 * 1024 * 1024);
      for (let i = 0; i < size; i++) {
        writer.ascii('{"uid":');
        writer.uid(i);
        writer.byte(0x2c);
        writer.bytes(key);
        writer.bytes(cell);
        writer.ascii(`,"count":${i}}`);
      }
      const { length } = writer;
      writer.release();
      return length;
    },
  },
  {
    name: "the same with JSON.stringify",
    count: size,
    run: () => {
      const rows = Array.from({ length: size }, (_, i) => ({
        uid: `0x${i.toString(16)}`,
        "Product.name": "amber basin drift",
        count: i,
      }));
      return JSON.stringify(rows).length;
    },
  },
];
