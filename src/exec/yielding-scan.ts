/** A scan of an index that lets others run: it stops behind a token, and goes on from the next one. */
import type { TokenRange } from "../graph/reader.ts";
import type { UidSet } from "../model/uid.ts";
import { isSameToken } from "./index-tokens.ts";
import type { Run } from "./run.ts";

const visitsPerLook = 256;

/** As `reader.scanTokens`: `visit` returns false to stop, and what it is given is lent. */
export async function scanYielding(
  run: Run,
  index: number,
  range: TokenRange,
  visit: (token: Uint8Array, uids: UidSet) => boolean,
): Promise<void> {
  let { from } = range;
  for (;;) {
    let work = 0;
    let visits = 0;
    let pause: Promise<void> | undefined;
    let last: Uint8Array | undefined;
    let next: Uint8Array | undefined;
    await run.reader.scanTokens(index, { from, to: range.to }, (token, uids) => {
      // A token with many members comes in several visits: it is not left in between.
      if (last !== undefined && !isSameToken(token, last)) {
        next = token.slice();
        return false;
      }
      work += uids.length + 1;
      if ((++visits % visitsPerLook === 0 || work > visitsPerLook * 64) && pause === undefined) {
        pause = run.yielder.check(work);
        work = 0;
        if (pause !== undefined) last = token.slice();
      }
      return visit(token, uids);
    });
    if (pause !== undefined) await pause;
    if (next === undefined) return;
    from = next;
  }
}
