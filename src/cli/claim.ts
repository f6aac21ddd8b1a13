/** The directory of the store, claimed for this server before anything is started. */
import { accessSync, constants } from "node:fs";
import { claimServing, explainDirectory, type Claim } from "../stores/claim.ts";

/** Fault E_STARTUP when another server holds it, or when it cannot be one. */
export async function claimForServing(dir: string): Promise<Claim> {
  try {
    const claim = await claimServing(dir);
    accessSync(dir, constants.R_OK | constants.W_OK);
    return claim;
  } catch (error) {
    throw explainDirectory(dir, error) ?? error;
  }
}
