/** Where stops of a machine are played: nothing here outlives one, so the syncs need not cost anything. */
import { accessSync, constants, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const memory = "/dev/shm";

export function makeScratch(): string {
  try {
    accessSync(memory, constants.W_OK);
    return mkdtempSync(join(memory, "weft-"));
  } catch {
    return mkdtempSync(join(tmpdir(), "weft-"));
  }
}
