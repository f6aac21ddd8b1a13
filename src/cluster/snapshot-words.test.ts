// Goal: a snapshot arrives whole or is refused: in words, and before a store is made of it.
import { Readable } from "node:stream";
import { describe, expect, test } from "vitest";
import type { StoredRow, StoredRows } from "../stores/stored-rows.ts";
import { receiveSnapshot, sendSnapshot } from "./snapshot-words.ts";

function makeRows(count: number): StoredRow[] {
  return Array.from({ length: count }, (_, i) => {
    const key = Buffer.from(`key ${String(i).padStart(8, "0")}`);
    return { key, stored: Buffer.alloc(100 + (i % 900), i % 251) };
  });
}

/** As a store gives them: so many bytes at a time. */
function asStored(rows: readonly StoredRow[]): StoredRows {
  let at = 0;
  return {
    storeId: "",
    share: 0,
    commitTs: 1,
    logHash: "",
    read(bytes, visit) {
      for (let left = bytes; left > 0 && at < rows.length; at++) {
        const row = rows[at];
        if (row === undefined) break;
        left -= row.key.length + row.stored.length;
        visit(row);
      }
      return at < rows.length;
    },
    async close() {},
  };
}

async function send(rows: readonly StoredRow[]): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  await sendSnapshot(asStored(rows), async (bytes) => void pieces.push(bytes));
  return Buffer.concat(pieces);
}

async function receive(bytes: Buffer, pieceBytes: number): Promise<readonly StoredRow[]> {
  const got: StoredRow[] = [];
  const pieces = Array.from({ length: Math.ceil(bytes.length / pieceBytes) }, (_, i) =>
    bytes.subarray(i * pieceBytes, (i + 1) * pieceBytes),
  );
  await receiveSnapshot(Readable.from(pieces), { put: (rows) => void got.push(...rows) }, () => {});
  return got;
}

describe("a snapshot", () => {
  test.each([0, 1, 20_000])("of %i rows arrives as it was", async (count) => {
    const rows = makeRows(count);
    const bytes = await send(rows);
    for (const pieceBytes of [7919, 64 * 1024]) {
      const got = await receive(bytes, pieceBytes);
      expect(got.length).toBe(count);
      expect(
        got.every(
          ({ key, stored }, i) =>
            Buffer.compare(key, rows[i]?.key ?? key) === 0 &&
            stored.length === rows[i]?.stored.length,
        ),
      ).toBe(true);
    }
  });

  test("that breaks off, anywhere, is refused", async () => {
    const bytes = await send(makeRows(3000));
    for (const at of [0, 3, 100, Math.floor(bytes.length / 2), bytes.length - 1]) {
      await expect(receive(bytes.subarray(0, at), 4096)).rejects.toMatchObject({
        code: "E_STORE_CORRUPT",
      });
    }
  });

  test("of which a byte has changed, or a part is missing, is refused", async () => {
    const bytes = await send(makeRows(3000));
    for (const at of [60, 2000, bytes.length - 20, bytes.length - 5]) {
      const changed = Buffer.from(bytes);
      changed.writeUInt8(changed.readUInt8(at) ^ 0x41, at);
      await expect(receive(changed, 4096)).rejects.toThrow(/snapshot|block|frame/);
    }
    const first = 4 + bytes.readUInt32LE(0);
    await expect(receive(bytes.subarray(first), 4096)).rejects.toMatchObject({
      message: expect.stringContaining("rows are missing") as string,
    });
  });
});
