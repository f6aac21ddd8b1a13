/** `--encryption "key-file=FILE"`: the key of an encrypted store. */
import { Fault } from "../model/fault.ts";
import { readUserKey, type UserKey } from "../stores/encryption.ts";
import { parseSuperflag } from "./superflag.ts";

/** What is said, before the file is read; undefined: nothing. The reference's empty `key-file=` says nothing, too. */
export function parseEncryption(text: string, flag = "encryption"): string | undefined {
  const file = parseSuperflag(flag, text, ["key-file"]).get("key-file");
  if (text.trim() !== "" && file === undefined) {
    throw new Fault("E_USAGE", `--${flag}: key-file is missing, as in "key-file=FILE"`);
  }
  return file === "" ? undefined : file;
}

/** Fault E_USAGE where there is no such file, or no key in it. */
export function readEncryption(text: string, flag = "encryption"): UserKey | undefined {
  return readKeyFile(parseEncryption(text, flag), flag);
}

export function readKeyFile(file: string | undefined, flag = "encryption"): UserKey | undefined {
  return file === undefined ? undefined : readUserKey(file, `--${flag} key-file`);
}

/** Of an encrypted store no backup is made that is not. `flag`: what would encrypt it. Fault E_USAGE. */
export function refusePlainBackup(
  isStoreEncrypted: boolean,
  isBackupEncrypted: boolean,
  flag: string,
): void {
  if (!isStoreEncrypted || isBackupEncrypted) return;
  throw new Fault(
    "E_USAGE",
    `the store is encrypted, and its backup would not be: give ${flag} (a key of its own)`,
  );
}

/** For a command that opens the same store. */
export function encryptionFlag(keyFile: string | undefined): readonly string[] {
  return keyFile === undefined ? [] : ["--encryption", `key-file=${keyFile}`];
}
