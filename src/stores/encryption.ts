/** Encryption at rest for those who open a store, or exchange its keys: LMDB is not loaded here. */
import { Fault } from "../model/fault.ts";
import { claimServing } from "./claim.ts";
import { readHeader } from "./lmdb/header.ts";
import { inspectStore } from "./lmdb/inspect.ts";
import { claimForWriting } from "./lmdb/writing-claim.ts";
import { rotateUserKey, unlockStore } from "./sealed/store-keys.ts";
import type { UserKey } from "./sealed/user-key.ts";

export { readUserKey, type UserKey } from "./sealed/user-key.ts";

/** Fault E_STARTUP where there is a store that the key does not open, or that needs none and is given one. */
export function checkStoreKey(dir: string, userKey: UserKey | undefined): void {
  const header = inspectStore(dir);
  if (header !== undefined) unlockStore(dir, header, userKey);
}

/**
 * The user's key is another one from now on. One small file is written anew, in one rename. Fault E_STARTUP where the key
 * of before is not the one, or somebody has the store open.
 */
export async function rotateKey(dir: string, before: UserKey, next: UserKey): Promise<void> {
  if (inspectStore(dir) === undefined) {
    throw new Fault("E_STARTUP", `there is no store at ${dir}`);
  }
  if (unlockStore(dir, readHeader(dir), before) === undefined) return;
  const serving = await claimServing(dir);
  const writing = await claimForWriting(dir, 0);
  try {
    if (writing === undefined) {
      throw new Fault("E_STARTUP", `the store at ${dir} is open: another process writes to it`);
    }
    rotateUserKey(dir, before, next);
  } finally {
    await writing?.release();
    await serving.release();
  }
}
