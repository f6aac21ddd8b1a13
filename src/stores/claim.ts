/** The claim on a directory, for a process that opens no store: LMDB is not loaded here. */
import { Fault } from "../model/fault.ts";
import { claimDirectory, type Claim } from "./lmdb/claim.ts";
import { makeDirectory } from "./lmdb/header.ts";
import { inspectStore } from "./lmdb/inspect.ts";

export type { Claim } from "./lmdb/claim.ts";

/**
 * The supervisor's claim: one server a directory. Makes the directory when it is missing. Fault E_STARTUP when
 * another server holds it. `isChecked` false: whatever the directory holds.
 */
export async function claimServing(
  dir: string,
  { isChecked = true }: { readonly isChecked?: boolean } = {},
): Promise<Claim> {
  if (isChecked && inspectStore(dir) === undefined) makeDirectory(dir);
  const claim = await claimDirectory(dir, "serving", 0);
  if (claim === undefined) {
    throw new Fault("E_STARTUP", `cannot serve the store at ${dir}: another server does`);
  }
  return claim;
}

const reasons: Readonly<Record<string, string>> = {
  EACCES: "this user may not write there",
  EPERM: "this user may not write there",
  EROFS: "the file system is read-only",
  ENOSPC: "the disk is full",
  ENOENT: "it cannot be made",
  ENOTDIR: "its path leads through a file",
  EEXIST: "there is a file in its place",
  ENAMETOOLONG: "its name is too long",
};

/** What the file system says against a directory, as one line; undefined for anything else. */
export function explainDirectory(dir: string, error: unknown): Fault | undefined {
  if (!(error instanceof Error) || !("code" in error)) return undefined;
  const reason = reasons[String(error.code)];
  if (reason === undefined) return undefined;
  return new Fault("E_STARTUP", `cannot open the store at ${dir}: ${reason}`, { cause: error });
}
