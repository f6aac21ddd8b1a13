/** Sets that uid() and uid_in() name. Price: uid() reads nothing, uid_in() the edges of the candidates or the list back. */
import { sortUnique, union } from "../base/sorted.ts";
import type { ListRef } from "../graph/reader.ts";
import { quoteGo } from "../model/conversion-error.ts";
import { emptyUidSet, type UidSet } from "../model/uid.ts";
import type { CallPlan } from "../plan/plan.ts";
import { queryFault, slotNumber, slotText, variableOf, type Run } from "./run.ts";

/** The set of a uid() call: literals, or the nodes of variables. */
export function uidsOfCall(run: Run, call: Extract<CallPlan, { kind: "uid" }>): UidSet {
  if (call.variables.length === 0) {
    return sortUnique(Float64Array.from(call.uids, (slot) => slotNumber(run, slot)));
  }
  let found: UidSet = emptyUidSet;
  for (const variable of call.variables) found = union(found, variableOf(run, variable).uids);
  return found;
}

export function uidsOfUidIn(run: Run, call: Extract<CallPlan, { kind: "uidIn" }>): UidSet {
  if (call.variable !== undefined) return variableOf(run, call.variable).uids;
  for (const slot of call.uids) {
    if (!Number.isNaN(slotNumber(run, slot))) continue;
    const text = slotText(run, slot);
    if (isUint(text))
      throw queryFault(`strconv.ParseUint: parsing ${quoteGo(text)}: value out of range`);
    throw queryFault(`Value ${quoteGo(text)} in uid_in is not a number`);
  }
  return sortUnique(Float64Array.from(call.uids, (slot) => slotNumber(run, slot)));
}

/** Spelled as a number, of whatever size. */
function isUint(text: string): boolean {
  return /^(?:0x[0-9a-f]+|0o?[0-7]*|0b[01]+|[1-9][0-9]*)$/i.test(text);
}

/** The nodes that point at the targets, as lists. */
export function listsOfUidIn(
  run: Run,
  call: Extract<CallPlan, { kind: "uidIn" }>,
): readonly ListRef[] {
  const { predicate, reverse } = call.use;
  if (predicate === undefined) return [];
  const uids = Array.from(uidsOfUidIn(run, call));
  if (reverse) {
    return uids.map((subject) => ({ kind: "edges", predicate: predicate.id, subject }));
  }
  const index = predicate.reverseIndex?.id;
  return index === undefined ? [] : uids.map((object) => ({ kind: "reverse", index, object }));
}
