import type { Yielder } from "../exec/yielder.ts";
import { parseKey } from "../write/conflict.ts";

/**
 * The conflict keys that a client sends with a commit, without those that its transaction noted itself: nearly always
 * none is left. A body has room for millions, at some microseconds each, so others have their turns in between.
 * Throws as `yielder.check` does.
 */
export async function readClaimedKeys(
  texts: readonly string[],
  noted: ReadonlySet<string>,
  yielder: Yielder,
): Promise<ReadonlySet<string>> {
  const claimed = new Set<string>();
  let count = 0;
  for (const text of texts) {
    if ((++count & 255) === 0) {
      const pause = yielder.check();
      if (pause !== undefined) await pause;
    }
    const key = parseKey(text);
    if (!noted.has(key)) claimed.add(key);
  }
  return claimed;
}
