/**
 * allofterms, anyofterms, alloftext, anyoftext, ngram: words are looked up in their index (dql.md 4.3). Price: one list for
 * each word; all of them begin with the shortest.
 */
import { union } from "../base/sorted.ts";
import { emptyUidSet, type UidSet } from "../model/uid.ts";
import type { Value } from "../model/value.ts";
import type { CallPlan } from "../plan/plan.ts";
import type { CellTest } from "./compare.ts";
import { termTokens } from "./index-tokens.ts";
import { intersectList, intersectLists, readLists, tokenList, verifyCells } from "./lookup.ts";
import { slotText, valuesOf, type Run } from "./run.ts";

/** Nodes with the words of a terms call, among `candidates` where given. */
export async function findTerms(
  run: Run,
  call: Extract<CallPlan, { kind: "terms" }>,
  candidates: UidSet | undefined,
): Promise<UidSet> {
  const texts =
    call.values.variable === undefined
      ? call.values.slots.map((slot) => slotText(run, slot))
      : textsOf(valuesOf(run, call.values.variable).values);
  let found: UidSet = emptyUidSet;
  for (const text of texts) {
    found = union(found, await findText(run, call, text, candidates));
  }
  if (call.use.predicate?.definition.lang !== true || call.use.languages[0] === ".") return found;
  return verifyTerms(run, call, texts, found);
}

function textsOf(values: readonly Value[]): readonly string[] {
  return values.flatMap((value) =>
    value.kind === "string" || value.kind === "default" ? [value.text] : [],
  );
}

async function findText(
  run: Run,
  call: Extract<CallPlan, { kind: "terms" }>,
  text: string,
  candidates: UidSet | undefined,
): Promise<UidSet> {
  const tokens = termTokens(call, text);
  const needsAll = call.name === "allofterms" || call.name === "alloftext";
  if (tokens.length === 0) return emptyUidSet;
  const lists = tokens.map((token) => tokenList(call.index.id, token));
  if (!needsAll) {
    const sets = candidates === undefined ? await readLists(run, lists) : [];
    let found: UidSet = emptyUidSet;
    for (const list of candidates === undefined ? [] : lists) {
      found = union(found, await intersectList(run, list, candidates ?? emptyUidSet));
    }
    for (const set of sets) found = union(found, set);
    return found;
  }
  return intersectLists(run, lists, candidates);
}

/** The words may stand in a value of another tag: look at the value asked for. */
async function verifyTerms(
  run: Run,
  call: Extract<CallPlan, { kind: "terms" }>,
  texts: readonly string[],
  found: UidSet,
): Promise<UidSet> {
  if (found.length === 0) return found;
  const needsAll = call.name === "allofterms" || call.name === "alloftext";
  const wanted = texts.map((text) => termTokens(call, text).map(tokenKey));
  const test: CellTest = (cell) => {
    const has = new Set(termTokens(call, cell.text, true).map(tokenKey));
    return wanted.some((keys) =>
      needsAll ? keys.every((key) => has.has(key)) : keys.some((key) => has.has(key)),
    );
  };
  return verifyCells(run, call.use, test, found);
}

function tokenKey(token: Uint8Array): string {
  return String.fromCharCode(...token);
}
