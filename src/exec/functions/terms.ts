/**
 * allofterms, anyofterms, alloftext, anyoftext, ngram: words are looked up in their index (reference/dql 4.3.4). Price:
 * one list for each word; all of them begin with the shortest.
 */
import { unionAll } from "../../base/sorted.ts";
import type { FunctionCall } from "../../dql/ast.ts";
import type { PredicateIndex } from "../../graph/schema.ts";
import { emptyUidSet, type UidSet } from "../../model/uid.ts";
import type { Value } from "../../model/value.ts";
import { refusal, type Builder } from "../../plan/builder.ts";
import {
  argumentCount,
  buildValues,
  checkUse,
  findIndex,
  refused,
  refuseName,
  resolveSubject,
} from "../../plan/call.ts";
import type { CallPlan, PredicateUse, ValuesPlan } from "../../plan/plan.ts";
import type { CellTest } from "../compare.ts";
import { termTokens, wordsText } from "../index-tokens.ts";
import { intersectList, intersectLists, readLists, listOfToken, verifyCells } from "../lookup.ts";
import { takesTexts } from "../../optimizer/filter-choice.ts";
import { exact } from "../candidates.ts";
import { valuesOf, type Run } from "../run.ts";
import {
  always,
  cellsCall,
  members,
  never,
  noList,
  noCheck,
  type CallFunction,
} from "./function.ts";

/** Its tokenizer, whether all words must be there, and whether a node's text says what its index says. */
const traits = {
  allofterms: { tokenizer: "term", needsAll: true, isOfWords: true },
  anyofterms: { tokenizer: "term", needsAll: false, isOfWords: true },
  alloftext: { tokenizer: "fulltext", needsAll: true, isOfWords: true },
  anyoftext: { tokenizer: "fulltext", needsAll: false, isOfWords: true },
  ngram: { tokenizer: "ngram", needsAll: false, isOfWords: false },
} as const;

type Name = keyof typeof traits;

interface TermsCall {
  readonly kind: "terms";
  readonly name: Name;
  readonly use: PredicateUse;
  readonly index: PredicateIndex;
  readonly values: ValuesPlan;
}

declare module "../../plan/plan.ts" {
  interface CallPlans {
    terms: TermsCall;
  }
}

const syntax = { subject: "predicate", literals: "values", atRoot: true } as const;

/** Names that are read and that no function has. */
const gone = { subject: "predicate", literals: "none", atRoot: true } as const;

function isName(name: string): name is Name {
  return Object.hasOwn(traits, name);
}

function build(builder: Builder, call: FunctionCall, atRoot: boolean): CallPlan {
  const { name } = call;
  const use = resolveSubject(builder, call);
  if (!isName(name)) return refuseName(call, atRoot);
  const values = buildValues(builder, call.args, "text");
  if (use.predicate === undefined) return { kind: "nothing", use };
  if (values.variable === undefined && values.slots.length !== 1) {
    return refused(use, argumentCount(name, 1, values.slots));
  }
  const { tokenizer } = traits[name];
  const index = findIndex(use, tokenizer);
  if (index === undefined) {
    const reason = `Attribute ${use.name} is not indexed with type ${tokenizer}`;
    return refused(use, refusal(reason));
  }
  const wrongUse = checkUse(use);
  if (wrongUse !== undefined) return refused(use, wrongUse);
  return { kind: "terms", name, use, index, values };
}

/** Nodes with the words of a terms call, among `candidates` where given. */
async function findTerms(
  run: Run,
  call: TermsCall,
  candidates: UidSet | undefined,
): Promise<UidSet> {
  const texts =
    call.values.variable === undefined
      ? call.values.slots.map((slot) => wordsText(run, call.name, slot))
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
  const { needsAll } = traits[call.name];
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
  const { needsAll } = traits[call.name];
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
function canReadText(call: TermsCall): boolean {
  const isList = call.use.predicate?.definition.list === true;
  return !isList && call.use.languages[0] !== "." && traits[call.name].isOfWords;
}

/** The words of a call as a test of a node's text. */
function buildTest(run: Run, call: TermsCall): CellTest {
  return buildTextTest(
    call,
    call.values.slots.map((slot) => wordsText(run, call.name, slot)),
  );
}

/** Whether the lists of all words are kept. */
async function areListsCached(run: Run, call: TermsCall): Promise<boolean> {
  for (const slot of call.values.slots) {
    for (const token of termTokens(call, wordsText(run, call.name, slot))) {
      if (!(await run.reader.isCached(listOfToken(call.index.id, token)))) return false;
    }
  }
  return true;
}

function tokenKey(token: Uint8Array): string {
  return String.fromCharCode(...token);
}

export const terms: CallFunction<TermsCall> = {
  forms: [
    {
      subject: "predicate",
      names: {
        allofterms: syntax,
        anyofterms: syntax,
        alloftext: syntax,
        anyoftext: syntax,
        ngram: syntax,
        allof: gone,
        anyof: gone,
      },
      build,
    },
  ],
  price: 2,
  isExchangeable: always,
  isIndexed: ({ values }) => values.variable === undefined,
  isOneList: never,
  describe: ({ name, use, index, values }, words) =>
    `${name} ${words.use(use)} ${words.values(values)} (index ${index.tokenizer})`,

  async count(run, call) {
    const [slot] = call.values.slots;
    if (slot === undefined) return Infinity;
    const lists = termTokens(call, wordsText(run, call.name, slot)).map((token) =>
      listOfToken(call.index.id, token),
    );
    if (lists.length === 0) return 0;
    const counts = await run.reader.countLists(lists);
    if (traits[call.name].needsAll) return Math.min(...counts);
    return counts.reduce((sum, count) => sum + count, 0);
  },
  guess: () => "condition",
  reads: () => ({ rechecks: false, filter: "lists" }),
  isCounted: ({ values }) => values.variable === undefined,
  isFree: never,
  isExpensive: false,
  looksAt(run, call) {
    return this.count(run, call);
  },
  checkRoot: noCheck,

  find: async (run, call) => exact(await findTerms(run, call, undefined)),
  list: noList,

  /** Words are looked up in their index; of few candidates the texts are read, where no list is at hand. */
  async prepare(run, call, candidates) {
    if (candidates.length === 0) return members(emptyUidSet);
    const isFew = takesTexts(candidates.length) && call.values.variable === undefined;
    if (isFew && canReadText(call) && !(await areListsCached(run, call))) {
      return cellsCall(call.use, buildTest(run, call));
    }
    return members(await findTerms(run, call, candidates));
  },
};
