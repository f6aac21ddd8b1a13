import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { encodeUtf8 } from "../../base/bytes.ts";
import { metaKey } from "../../codec/key.ts";
import { toStored } from "../row-builder.ts";
import { Environment } from "./environment.ts";
import { SpareRoom } from "./spare-room.ts";

const dir = fs.mkdtempSync(join(tmpdir(), "weft-room-"));
afterEach(() => fs.rmSync(dir, { recursive: true, force: true }));

test("a transaction that may not fit is not begun on the disk, and one line says what is missing", async () => {
  let free = 100 * 1024 * 1024;
  const words = { purpose: "compact ./data", outcome: "the store is as it was" };
  const room = new SpareRoom(dir, words, () => ({ bavail: free, bsize: 1 }));
  const environment = new Environment({ dir, noSync: true, room });
  const put = (name: string): void => {
    const key = metaKey(1, name);
    environment.putRows((into) => into(key, toStored(key, encodeUtf8("x".repeat(100_000)))));
  };
  put("fits");
  free = 3 * 1024 * 1024;
  const why =
    /^no room to compact \.\/data: its disk \(\/[^)]*\) has 3\.0 MB left, and the next rows need up to 4\.2 MB; the store is as it was$/;
  expect(() => put("does not")).toThrow(why);
  expect(() => room.need(5 * 1024 * 1024)).toThrow("has 3.0 MB left, and up to 5.0 MB are needed;");
  free = 5 * 1024 * 1024;
  put("fits again");
  const found: boolean[] = [];
  const keys = ["fits", "does not", "fits again"].map((name) => metaKey(1, name));
  environment.read((snapshot) => {
    void snapshot.readMany(keys, (i, row) => (found[i] = row !== undefined));
  });
  expect(found).toEqual([true, false, true]);
  await environment.close();
});

test("what the disk refuses all the same is told by the same line", () => {
  const words = { purpose: "compact ./data", outcome: "the store is as it was" };
  fs.mkdirSync(dir, { recursive: true });
  const room = new SpareRoom(dir, words, () => ({ bavail: 0, bsize: 1 }));
  const full = Object.assign(new Error("No space left on device"), { code: 28 });
  expect(room.translate(full)).toMatchObject({ code: "E_STARTUP", cause: full });
  const other = new Error("other");
  expect(room.translate(other)).toBe(other);
});
