/** The beginning of a run: literals become numbers and uids, refused with the reference's words (reference/dql 4.5). */
import { must } from "../base/assert.ts";
import { quoteGo, toFault } from "../model/conversion-error.ts";
import { parseInt64, parseShortUint, parseUint64 } from "../model/int.ts";
import { countedNode, countedNodeText } from "../model/uid.ts";
import type { PagePlan, Plan, Slot } from "../plan/plan.ts";
import { queryFault, slotNumber, slotText, type Run } from "./run.ts";

/**
 * Numbers of the page and uid slots. Pages are int32 with Go's base prefixes, uids unsigned 64 bits; a uid beyond
 * 2^53 is a node that does not exist, and has a double of its own in the run (`partHugeUids`).
 */
export function bindNumbers(plan: Plan, texts: readonly string[]): Float64Array {
  const numbers = new Float64Array(plan.slots.length);
  let hasHuge = false;
  for (let i = 0; i < plan.slots.length; i++) {
    const slot = plan.slots[i];
    const number = slot === undefined ? Number.NaN : bindSlot(slot, texts[i] ?? "");
    numbers[i] = number;
    if (number > Number.MAX_SAFE_INTEGER) hasHuge = true;
  }
  if (hasHuge) partHugeUids(numbers, texts);
  return numbers;
}

/**
 * Doubles beyond 2^53 stand for several uids each. Those that a request names keep their order, and equal numbers stay
 * for equal uids alone: one whose double is taken by a lower one has the next double.
 */
function partHugeUids(numbers: Float64Array, texts: readonly string[]): void {
  const huge: { readonly place: number; readonly number: number; readonly uid: bigint }[] = [];
  for (const [place, number] of numbers.entries()) {
    if (number > Number.MAX_SAFE_INTEGER) {
      const text = must(texts[place], "a number is read from its text");
      huge.push({ place, number, uid: parseUint64(text, 0) });
    }
  }
  huge.sort((a, b) => (a.uid < b.uid ? -1 : 1));
  let last = { uid: 0n, number: 0 };
  for (const { place, number, uid } of huge) {
    if (uid !== last.uid) {
      last = { uid, number: number > last.number ? number : nextDouble(last.number) };
    }
    numbers[place] = last.number;
  }
}

/** The next above a positive number. */
function nextDouble(number: number): number {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, number);
  view.setBigUint64(0, view.getBigUint64(0) + 1n);
  return view.getFloat64(0);
}

function bindSlot(slot: Slot, text: string): number {
  switch (slot.kind) {
    case "first":
    case "offset":
      return bindInt32(slot, text);
    case "after":
      return bindAfter(slot, text);
    case "uid":
      return parseUid(text);
    default:
      return Number.NaN;
  }
}

function prefixOf(slot: Slot): string {
  return slot.where === "root"
    ? "while converting to subgraph: while filling args: "
    : "while converting to subgraph: ";
}

function bindInt32(slot: Slot, text: string): number {
  const short = parseShortUint(text);
  if (short <= 2147483647) return short;
  try {
    const int = parseInt64(text, 0);
    if (int > 2147483647 || int < -2147483648) {
      throw queryFault(
        `${prefixOf(slot)}strconv.ParseInt: parsing ${quoteGo(text)}: value out of range`,
      );
    }
    return Number(int);
  } catch (error) {
    throw toFault("E_QUERY", error, prefixOf(slot));
  }
}

function bindAfter(slot: Slot, text: string): number {
  const short = parseShortUint(text);
  if (!Number.isNaN(short)) return short;
  try {
    return Number(parseUint64(text, 0));
  } catch (error) {
    throw toFault("E_QUERY", error, prefixOf(slot));
  }
}

/** NaN for what is not a uid; the functions that take uids refuse it in their own words. */
export function parseUid(text: string): number {
  const short = parseShortUint(text);
  if (!Number.isNaN(short)) return short;
  try {
    return Number(parseUint64(text, 0));
  } catch {
    return Number.NaN;
  }
}

/** first 0: no limit. offset is 0 where negative or ignored. after 0: from the beginning. */
export interface BoundPage {
  readonly first: number;
  readonly offset: number;
  readonly after: number;
}

export function bindPage(run: Run, page: PagePlan): BoundPage {
  const first = page.first === undefined ? 0 : slotNumber(run, page.first);
  const offset = page.offset === undefined ? 0 : slotNumber(run, page.offset);
  const after = page.after === undefined ? 0 : slotNumber(run, page.after);
  return { first, offset: first < 0 || offset < 0 ? 0 : offset, after };
}

export function isWholePage(page: BoundPage): boolean {
  return page.first === 0 && page.offset === 0;
}

/** The part of a list of `length` that a page shows: from `start` to before `end`. */
export function cutPage(page: BoundPage, length: number): { start: number; end: number } {
  if (page.first < 0) return { start: Math.max(0, length + page.first), end: length };
  const start = Math.min(page.offset, length);
  return { start, end: page.first === 0 ? length : Math.min(length, start + page.first) };
}

/**
 * Uids beyond 2^53 as they were written, a double would print them wrongly, and the node of a count(uid) variable that
 * a block finds. undefined where there are none.
 */
export function findHugeUids(run: Run): ReadonlyMap<number, string> | undefined {
  const { numbers, plan } = run;
  let found: Map<number, string> | undefined;
  for (let i = 0; i < numbers.length; i++) {
    const number = must(numbers[i], "each slot has its number");
    if (!(number > Number.MAX_SAFE_INTEGER) || plan.slots[i]?.kind !== "uid") continue;
    (found ??= new Map()).set(number, `0x${parseUint64(slotText(run, i), 0).toString(16)}`);
  }
  for (const variable of run.variables) {
    if (variable?.uids[0] !== countedNode) continue;
    return (found ?? new Map<number, string>()).set(countedNode, countedNodeText);
  }
  return found;
}
