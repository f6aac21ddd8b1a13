/**
 * What all rows of one state come to, to be compared between machines (reference/log 7.6). The machine's own place in the
 * log is left out.
 */
import { createHash } from "node:crypto";
import { equalBytes } from "../base/bytes.ts";
import { positionKey, type NodeStore } from "../stores/open.ts";

type HeldState = ReturnType<NodeStore["snapshot"]>;

/** Rows that are looked at before others have their turn. */
const sliceRows = 2000;
const end = new Uint8Array([255, 255, 255, 255]);

/** Closes the snapshot. undefined: it was ended before. */
export async function digestRows(
  snapshot: HeldState,
  isOver: () => boolean,
): Promise<Buffer | undefined> {
  const hash = createHash("sha256");
  const size = Buffer.alloc(8);
  try {
    for (let start: Uint8Array | undefined = new Uint8Array(0); start !== undefined;) {
      if (isOver()) return undefined;
      let left = sliceRows;
      let next: Uint8Array | undefined;
      void snapshot.scan({ start, end }, (key, value) => {
        if (left-- === 0) {
          next = key.slice();
          return false;
        }
        if (equalBytes(key, positionKey)) return true;
        size.writeUInt32LE(key.length, 0);
        size.writeUInt32LE(value.length, 4);
        hash.update(size).update(key).update(value);
        return true;
      });
      start = next;
      await new Promise((resolve) => setImmediate(resolve));
    }
    return hash.digest();
  } finally {
    snapshot.close();
  }
}
