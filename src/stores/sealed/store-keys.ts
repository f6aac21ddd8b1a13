/**
 * `weft.keys` beside an encrypted store: the key of its data, wrapped by the user's key. What is written under the data
 * key stays as it is when the user's key is exchanged; only this file is written anew.
 */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";
import * as fs from "node:fs";
import { join } from "node:path";
import { Fault } from "../../model/fault.ts";
import { refuseStore, syncDirectory, type Header } from "../lmdb/header.ts";
import { keysName } from "./keys-name.ts";
import { StoreCipher } from "./store-cipher.ts";
import type { UserKey } from "./user-key.ts";

const algorithm = "aes-256-gcm";
const dataKeyBytes = 32;
const saltBytes = 16;
const nonceBytes = 12;
const tagBytes = 16;
const format = 1;
/** Of `--encryption`, as all commands name it. */
const option = '--encryption "key-file=…"';

/** As the file has it: one JSON object. */
interface StoreKeys {
  readonly format: number;
  readonly cipher: string;
  /** The id of the user's key. */
  readonly userKey: string;
  /** Each in base64: salt, nonce, the wrapped key, tag. The newest first; several while a store is written anew. */
  readonly dataKeys: readonly string[];
}

/** Makes the keys of a new store; the file is on the disk when it returns. */
export function createKeys(dir: string, userKey: UserKey): StoreCipher {
  const dataKey = randomBytes(dataKeyBytes);
  writeKeys(dir, wrap([dataKey], userKey));
  return new StoreCipher([dataKey]);
}

/**
 * What opens the store; undefined of one that is not encrypted. Fault E_STARTUP where the key is missing, is not the
 * one, or is given for a store that has none; E_STORE_CORRUPT where `weft.keys` is damaged or missing. Nothing is written.
 */
export function unlockStore(
  dir: string,
  { isEncrypted }: Pick<Header, "isEncrypted">,
  userKey: UserKey | undefined,
): StoreCipher | undefined {
  const hasKeys = fs.existsSync(join(dir, keysName));
  if (isEncrypted && !hasKeys) {
    throw damagedKeys(dir, "is missing, without which nothing of the store can be read");
  }
  if (!isEncrypted && hasKeys) {
    throw damagedKeys(dir, "lies beside a store that says that it is not encrypted");
  }
  if (!isEncrypted && userKey === undefined) return undefined;
  if (!isEncrypted) {
    const way = '"weft encryption copy" makes an encrypted one of it';
    throw refuseStore(dir, `it is not encrypted, and ${option} is given; ${way}`);
  }
  return new StoreCipher(unwrap(dir, userKey));
}

/** The user's key is another one from now on; a stop in between leaves the one or the other. Faults as `unlockStore`. */
export function rotateUserKey(dir: string, before: UserKey, next: UserKey): void {
  writeKeys(dir, wrap(unwrap(dir, before), next));
}

/** A new data key seals from now on; those of before still open, until `forgetOldKeys`. */
export function addDataKey(dir: string, userKey: UserKey): StoreCipher {
  const dataKeys = [randomBytes(dataKeyBytes), ...unwrap(dir, userKey)];
  writeKeys(dir, wrap(dataKeys, userKey));
  return new StoreCipher(dataKeys);
}

/** Nothing is left that an older data key sealed. */
export function forgetOldKeys(dir: string, userKey: UserKey): void {
  writeKeys(dir, wrap(unwrap(dir, userKey).slice(0, 1), userKey));
}

function unwrap(dir: string, userKey: UserKey | undefined): Buffer[] {
  const keys = readKeys(dir);
  if (userKey === undefined) throw refuseStore(dir, `it is encrypted: give its key by ${option}`);
  if (keys.userKey !== userKey.id) {
    const ids = `it is that with the id ${keys.userKey}, not ${userKey.id}`;
    throw refuseStore(
      dir,
      `the key of ${option} is not the one that it is encrypted with (${ids})`,
    );
  }
  return keys.dataKeys.map((text) => {
    const key = unwrapOne(Buffer.from(text, "base64"), keys, userKey);
    if (key === undefined) throw damagedKeys(dir);
    return key;
  });
}

function unwrapOne(wrapped: Buffer, keys: StoreKeys, userKey: UserKey): Buffer | undefined {
  const end = wrapped.length - tagBytes;
  const front = saltBytes + nonceBytes;
  if (end - front !== dataKeyBytes) return undefined;
  const key = wrappingKey(userKey, wrapped.subarray(0, saltBytes));
  const cipher = createDecipheriv(algorithm, key, wrapped.subarray(saltBytes, front));
  cipher.setAAD(nameOf(keys));
  cipher.setAuthTag(wrapped.subarray(end));
  try {
    return Buffer.concat([cipher.update(wrapped.subarray(front, end)), cipher.final()]);
  } catch {
    return undefined;
  }
}

function wrap(dataKeys: readonly Buffer[], userKey: UserKey): StoreKeys {
  const keys = { format, cipher: algorithm, userKey: userKey.id };
  const wrapped = dataKeys.map((dataKey) => {
    const salt = randomBytes(saltBytes);
    const nonce = randomBytes(nonceBytes);
    const cipher = createCipheriv(algorithm, wrappingKey(userKey, salt), nonce);
    cipher.setAAD(nameOf(keys));
    const parts = [salt, nonce, cipher.update(dataKey), cipher.final(), cipher.getAuthTag()];
    return Buffer.concat(parts).toString("base64");
  });
  return { ...keys, dataKeys: wrapped };
}

function wrappingKey({ bytes }: UserKey, salt: Uint8Array): Buffer {
  return Buffer.from(hkdfSync("sha256", bytes, salt, "weft store key", dataKeyBytes));
}

function nameOf({ format: number, cipher, userKey }: Omit<StoreKeys, "dataKeys">): Buffer {
  return Buffer.from(`${number} ${cipher} ${userKey}`);
}

function readKeys(dir: string): StoreKeys {
  let text: string;
  try {
    text = fs.readFileSync(join(dir, keysName), "utf8");
  } catch (error) {
    throw refuseStore(dir, `${keysName} cannot be read`, error);
  }
  let keys: Partial<Record<keyof StoreKeys, unknown>> | null;
  try {
    keys = JSON.parse(text) as typeof keys;
  } catch {
    throw damagedKeys(dir);
  }
  if (typeof keys?.format === "number" && keys.format > format) {
    throw refuseStore(dir, `${keysName} is of format ${keys.format}, newer than this program's`);
  }
  const { cipher, userKey, dataKeys } = keys ?? {};
  const isWhole =
    keys?.format === format &&
    cipher === algorithm &&
    typeof userKey === "string" &&
    isTexts(dataKeys);
  if (!isWhole) throw damagedKeys(dir);
  return { format, cipher, userKey, dataKeys };
}

function isTexts(value: unknown): value is readonly string[] {
  return (
    Array.isArray(value) && value.length > 0 && value.every((item) => typeof item === "string")
  );
}

function damagedKeys(dir: string, what = "is damaged: bring back a copy of it"): Fault {
  return new Fault("E_STORE_CORRUPT", `cannot open the store at ${dir}: ${keysName} ${what}`);
}

/** Synced with its directory, and never half written. */
function writeKeys(dir: string, keys: StoreKeys): void {
  const made = join(dir, keysName + ".new");
  const file = fs.openSync(made, "w", 0o600);
  try {
    fs.writeSync(file, `${JSON.stringify(keys, undefined, 2)}\n`);
    fs.fsyncSync(file);
  } finally {
    fs.closeSync(file);
  }
  fs.renameSync(made, join(dir, keysName));
  syncDirectory(dir);
}
