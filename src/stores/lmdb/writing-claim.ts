/**
 * The writer's claim, as far as one machine reaches. Names of the abstract namespace end at a container's network; the
 * socket file on which a writer listens, in the store's own directory, does not.
 */
import { claimDirectory, isAnswered, type Claim } from "./claim.ts";
import { openLinkAddress } from "./link-address.ts";

const retryMs = 100;

/** undefined when another process writes to the directory, and has not ended after `waitMs` (twice that at most). */
export async function claimForWriting(dir: string, waitMs: number): Promise<Claim | undefined> {
  const claim = await claimDirectory(dir, "writing", waitMs);
  if (claim === undefined || !(await isListenedTo(dir, waitMs))) return claim;
  await claim.release();
  return undefined;
}

async function isListenedTo(dir: string, waitMs: number): Promise<boolean> {
  const address = openLinkAddress(dir);
  try {
    for (let waited = 0; await isAnswered(address.path); waited += retryMs) {
      if (waited >= waitMs) return true;
      await new Promise((resolve) => setTimeout(resolve, retryMs));
    }
    return false;
  } finally {
    address.close();
  }
}
