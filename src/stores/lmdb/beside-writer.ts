/**
 * Opens the data file for reading. LMDB's opening writes the newest transaction number that it has read into the lock
 * file that all share; a commit between the two would be dropped by the next one (`putRows`). So nothing is committed
 * meanwhile: the writer is asked to pause, and where there is none, none can begin.
 */
import { Fault } from "../../model/fault.ts";
import type { StoreCipher } from "../sealed/store-cipher.ts";
import { Environment } from "./environment.ts";
import { LinkClient } from "./link-client.ts";
import { nameFiles } from "./exchange.ts";
import { encodeNumbers, frameKind } from "./link-protocol.ts";
import { claimForWriting } from "./writing-claim.ts";

/** How often a writer is looked for, each time for `askMs`: one that has just begun answers when it has opened. */
const triesMax = 30;
const askMs = 500;

interface BesideWriter {
  readonly dir: string;
  readonly storeId: string;
  readonly answerMs: number;
  /** Of a store that is encrypted. */
  readonly cipher: StoreCipher | undefined;
}

/** Fault E_STARTUP where a writer holds the directory and does not answer, once reached, for `answerMs`. */
export async function openBesideWriter({
  dir,
  storeId,
  answerMs,
  cipher,
}: BesideWriter): Promise<Environment> {
  let isLate = false;
  for (let tries = 0; tries < triesMax && !isLate; tries++) {
    const claim = await claimForWriting(dir, 0);
    if (claim !== undefined) {
      try {
        return open(dir, cipher);
      } finally {
        await claim.release();
      }
    }
    const client = new LinkClient({ dir, storeId, waitMs: askMs, onNotice() {} });
    const timer = setTimeout(() => {
      isLate = true;
      client.close();
    }, answerMs);
    try {
      return await openWhilePaused(client, dir, cipher);
    } catch (error) {
      if (!(error instanceof Fault) || error.code !== "E_STORE_UNAVAILABLE") throw error;
    } finally {
      clearTimeout(timer);
      client.close();
    }
  }
  throw new Fault("E_STARTUP", `cannot open the store at ${dir}: its writer does not answer`);
}

/** Closes `client` when it fails, with E_STORE_UNAVAILABLE where no writer answers. */
export async function openWhilePaused(
  client: LinkClient,
  dir: string,
  cipher: StoreCipher | undefined,
): Promise<Environment> {
  try {
    await client.askNumbers(frameKind.pause, encodeNumbers());
    return open(dir, cipher);
  } catch (error) {
    client.close();
    throw error;
  } finally {
    // Gone with the link when it cannot be sent.
    client.askNumbers(frameKind.resume, encodeNumbers()).catch(() => {});
  }
}

/** A process that was slow to open may come into an exchange of the files: the data of one with the readers of another. */
function open(dir: string, cipher: StoreCipher | undefined): Environment {
  for (;;) {
    const before = nameFiles(dir);
    const environment = new Environment({ dir, readOnly: true, cipher });
    if (before.includes("") || before.join() === nameFiles(dir).join()) return environment;
    void environment.close();
  }
}
