/**
 * allofterms, anyofterms, alloftext, anyoftext, ngram: words are looked up in their index (reference/dql 4.3.4). Price:
 * one list for each word; all of them begin with the shortest.
 */
import { unionAll } from "../base/sorted.ts";
import { emptyUidSet, type UidSet } from "../model/uid.ts";
import type { Value } from "../model/value.ts";
import type { CallPlan } from "../plan/plan.ts";
import type { CellTest } from "./compare.ts";
import { termTokens, wordsText } from "./index-tokens.ts";
import { intersectList, intersectLists, readLists, listOfToken, verifyCells } from "./lookup.ts";
import { valuesOf, type Run } from "./run.ts";

type TermsCall = Extract<CallPlan, { kind: "terms" }>;

/** Nodes with the words of a terms call, among `candidates` where given. */
export async function findTerms(
  run: Run,
  call: TermsCall,
  candidates: UidSet | undefined,
): Promise<UidSet> {
  const texts =
    call.values.variable === undefined
      ? call.values.slots.map((slot) => wordsText(run, call, slot))
      : textsOf(valuesOf(run, call.values.variable).values);
  const sets: UidSet[] = [];
  for (const text of texts) {
    sets.push(await findText(run, call, text, candidates));
    const pause = run.yielder.check(1);
    if (pause !== undefined) await pause;
  }
  const found = unionAll(sets);
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
  call: TermsCall,
  text: string,
  candidates: UidSet | undefined,
): Promise<UidSet> {
  const tokens = termTokens(call, text);
  const needsAll = call.name === "allofterms" || call.name === "alloftext";
  if (tokens.length === 0) return emptyUidSet;
  const lists = tokens.map((token) => listOfToken(call.index.id, token));
  if (!needsAll) {
    const sets = candidates === undefined ? await readLists(run, lists) : [];
    const parts: UidSet[] = [...sets];
    for (const list of candidates === undefined ? [] : lists) {
      parts.push(await intersectList(run, list, candidates ?? emptyUidSet));
      const pause = run.yielder.check(1);
      if (pause !== undefined) await pause;
    }
    return unionAll(parts);
  }
  return intersectLists(run, lists, candidates);
}

/** The words may stand in a value of another tag: look at the value asked for. */
async function verifyTerms(
  run: Run,
  call: TermsCall,
  texts: readonly string[],
  found: UidSet,
): Promise<UidSet> {
  return found.length === 0 ? found : verifyCells(run, call.use, buildTextTest(call, texts), found);
}

function buildTextTest(call: TermsCall, texts: readonly string[]): CellTest {
  const needsAll = call.name === "allofterms" || call.name === "alloftext";
  const wanted = texts
    .map((text) => termTokens(call, text).map(tokenKey))
    .filter((keys) => keys.length > 0);
  return (cell) => {
    const has = new Set(termTokens(call, cell.text, true).map(tokenKey));
    return wanted.some((keys) =>
      needsAll ? keys.every((key) => has.has(key)) : keys.some((key) => has.has(key)),
    );
  };
}

/** Whether a node's text says what its index says: words of a list may stand in several texts, tags split theirs. */
export function canReadTerms(call: TermsCall): boolean {
  const isList = call.use.predicate?.definition.list === true;
  return !isList && call.use.languages[0] !== "." && call.name !== "ngram";
}

/** The words of a call as a test of a node's text. */
export function buildTermsTest(run: Run, call: TermsCall): CellTest {
  return buildTextTest(
    call,
    call.values.slots.map((slot) => wordsText(run, call, slot)),
  );
}

/** Whether the lists of all words are kept. */
export async function areTermsCached(run: Run, call: TermsCall): Promise<boolean> {
  for (const slot of call.values.slots) {
    for (const token of termTokens(call, wordsText(run, call, slot))) {
      const answer = run.reader.isCached(listOfToken(call.index.id, token));
      if (!(answer instanceof Promise ? await answer : answer)) return false;
    }
  }
  return true;
}

function tokenKey(token: Uint8Array): string {
  return String.fromCharCode(...token);
}
