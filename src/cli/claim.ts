/** The directory of the store, claimed for this server before anything is started. */
import { accessSync, constants } from "node:fs";
import { claimServing, explainDirectory, type Claim } from "../stores/claim.ts";
import { closeStoreFiles, isOpenToWriters } from "../stores/private-files.ts";
import { complain } from "./log.ts";
import { clearRestoreAsides } from "./restore-aside.ts";

/**
 * Closes the store's files to other users of the machine, and says so where they were open. Fault E_STARTUP when another server holds it, or when it
 * cannot be one.
 */
export async function claimForServing(dir: string): Promise<Claim> {
  try {
    const claim = await claimServing(dir);
    accessSync(dir, constants.R_OK | constants.W_OK);
    keepPrivate(dir);
    clearRestoreAsides(dir, false);
    return claim;
  } catch (error) {
    throw explainDirectory(dir, error) ?? error;
  }
}

function keepPrivate(dir: string): void {
  const open = closeStoreFiles(dir);
  if (open.length > 0) {
    complain(
      `${open.join(", ")} in ${dir} could be used by others of this machine: closed to them`,
    );
  }
  if (isOpenToWriters(dir)) {
    complain(`others of this machine may exchange files of ${dir}: chmod go-w ${dir} ends that`);
  }
}
