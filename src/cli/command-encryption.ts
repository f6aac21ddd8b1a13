/** `weft encryption rotate`, `rewrite` and `copy`. */
import { Fault } from "../model/fault.ts";
import { checkStoreKey, rotateKey, type UserKey } from "../stores/encryption.ts";
import {
  makeStoreOfRows,
  openStoredRows,
  type StoredRow,
  type StoredRows,
} from "../stores/stored-rows.ts";
import { compactWithBar } from "./command-compact.ts";
import { readEncryption } from "./encryption.ts";
import type { CopyFlags, RotateFlags } from "./encryption-commands.ts";
import { say } from "./log.ts";
import { showProgress, type Progress } from "./progress-bar.ts";

const newFlag = "new-encryption";

export async function runRotate({ data, encryption, newEncryption }: RotateFlags): Promise<void> {
  const before = needKey(readEncryption(encryption), "encryption");
  const next = needKey(readEncryption(newEncryption, newFlag), newFlag);
  await rotateKey(data, before, next);
  say(
    `${data} is opened by the key with the id ${next.id}; the one with the id ${before.id} opens it no more`,
  );
}

export async function runRewrite({
  data,
  encryption,
}: Pick<RotateFlags, "data" | "encryption">): Promise<void> {
  const key = needKey(readEncryption(encryption), "encryption");
  checkStoreKey(data, key);
  await compactWithBar(data, { encryption: key, isRewrite: true });
}

function needKey(key: UserKey | undefined, flag: string): UserKey {
  if (key !== undefined) return key;
  throw new Fault("E_USAGE", `--${flag} "key-file=FILE" is needed`);
}

/** Read at a time. */
const sliceBytes = 4 * 1024 * 1024;

async function copyRows(
  rows: StoredRows,
  { dir, key }: { readonly dir: string; readonly key: UserKey | undefined },
  bar: Progress,
): Promise<void> {
  const store = await makeStoreOfRows(dir, key);
  let count = 0;
  try {
    for (let isMore = true; isMore;) {
      const slice: StoredRow[] = [];
      isMore = rows.read(sliceBytes, (row) => {
        slice.push({ key: row.key.slice(), stored: row.stored.slice() });
      });
      store.put(slice);
      count += slice.length;
      bar.update(rows.share, 1, count);
      // The bar's signals have their turn.
      await new Promise((resolve) => setImmediate(resolve));
    }
  } catch (error) {
    await store.abandon();
    throw error;
  }
  await store.finish(async () => {});
  bar.update(1, 1, count);
}

export async function runCopy(options: CopyFlags): Promise<void> {
  const [from, to] = [
    readEncryption(options.encryption),
    readEncryption(options.newEncryption, newFlag),
  ];
  const rows = await openStoredRows(options.data, from);
  try {
    await showProgress({ title: "copying", unit: "rows" }, (bar) =>
      copyRows(rows, { dir: options.to, key: to }, bar),
    );
    const how = to === undefined ? "not encrypted" : `encrypted with the key ${to.id}`;
    say(`${options.to} holds commit ${rows.commitTs} of ${options.data}, ${how}`);
  } finally {
    await rows.close();
  }
}
