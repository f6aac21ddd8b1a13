/**
 * Whether the stores of these tests are encrypted (WEFT_CRASH_ENCRYPTED=1; `encrypted-*.test.ts` say so themselves), and
 * the keys that belong to what was recorded.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { keysName } from "../../src/stores/sealed/keys-name.ts";
import { makeUserKey } from "../../src/stores/sealed/user-key.ts";

export const encryption =
  process.env["WEFT_CRASH_ENCRYPTED"] === "1" ? makeUserKey(Buffer.alloc(32, 7)) : undefined;

let keys: Buffer | undefined;

/** Of a store that was recorded: what is made of its files later has the same. */
export function noteKeys(dir: string): void {
  const path = join(dir, keysName);
  keys = existsSync(path) ? readFileSync(path) : undefined;
}

export function placeKeys(dir: string): void {
  if (keys !== undefined) writeFileSync(join(dir, keysName), keys);
}

export function recordedKeys(): Buffer | undefined {
  return keys;
}
