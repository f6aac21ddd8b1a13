/**
 * The end of the commit numbers. They are never used twice, so a store that has used up all of them takes no more
 * changes; the last million is kept for what processes need to start and to hand out start times.
 */
import type { Logger } from "../../base/log.ts";
import { Fault } from "../../model/fault.ts";
import { commitNumberMax, type Change } from "../../store/store.ts";

const keptForStarts = 2 ** 20;
/** Told first with a tenth left, and then with each further hundredth. */
const warnedFrom = Math.floor(commitNumberMax * 0.9);
const warnedEvery = Math.floor(commitNumberMax / 100);

/** The refusal of a change that would be the next one; undefined while there are numbers. */
export function refuseNumber(commitTs: number, { patches }: Change): Fault | undefined {
  const max = patches.length === 0 ? commitNumberMax : commitNumberMax - keptForStarts;
  if (commitTs < max) return undefined;
  return new Fault(
    "E_LIMIT",
    `the store has used up its ${commitNumberMax + 1} commit numbers and takes no more changes`,
  );
}

/** To be called with the newest number, now and then. */
export function makeNumberWatch(logger: Logger): (commitTs: number) => void {
  let nextTs = warnedFrom;
  return (commitTs) => {
    if (commitTs < nextTs) return;
    nextTs = commitTs + warnedEvery;
    const percent = Math.floor((100 * (commitNumberMax - commitTs)) / commitNumberMax);
    const left = Math.max(0, commitNumberMax - keptForStarts - commitTs);
    logger.warn("the store's commit numbers come to their end; see docs/store.md", {
      left,
      percent,
    });
  };
}
