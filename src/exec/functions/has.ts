/** `has(p)`, `has(~p)`: the nodes that have a predicate. Price: the list of them, or the counts of the candidates. */
import type { FunctionCall } from "../../dql/ast.ts";
import { emptyUidSet } from "../../model/uid.ts";
import type { Builder } from "../../plan/builder.ts";
import { argumentCount, checkUse, literalSlots, refused, resolveSubject } from "../../plan/call.ts";
import type { CallPlan, PredicateUse } from "../../plan/plan.ts";
import { exact, needsRecheck, noCandidates } from "../candidates.ts";
import { areMany, takesPresence } from "../../optimizer/filter-choice.ts";
import { countMembers, intersectList, listOfPresent } from "../lookup.ts";
import {
  always,
  cellsCall,
  countsCall,
  members,
  never,
  noCheck,
  type CallFunction,
} from "./function.ts";

interface HasCall {
  readonly kind: "has";
  readonly use: PredicateUse;
}

declare module "../../plan/plan.ts" {
  interface CallPlans {
    has: HasCall;
  }
}

function build(builder: Builder, call: FunctionCall): CallPlan {
  const use = resolveSubject(builder, call);
  const slots = literalSlots(builder, "value", call.args);
  if (use.predicate === undefined) return { kind: "nothing", use };
  if (slots.length > 0) return refused(use, argumentCount("has", 0, slots));
  const wrongUse = checkUse(use);
  return wrongUse === undefined ? { kind: "has", use } : refused(use, wrongUse);
}

export const has: CallFunction<HasCall> = {
  forms: [
    {
      subject: "predicate",
      names: { has: { subject: "predicate", literals: "none", atRoot: true } },
      build,
    },
  ],
  price: 4,
  isExchangeable: always,
  isIndexed: never,
  isOneList: always,
  describe: ({ use }, words) => `has ${words.use(use)}`,

  async count(run, { use }) {
    const list = listOfPresent(use);
    return list === undefined ? Infinity : countMembers(run, [list]);
  },
  guess: () => "condition",
  reads: ({ use }) => ({ rechecks: use.predicate?.definition.lang === true, filter: "values" }),
  // Objects of a reverse index would be counted one by one.
  isCounted: ({ use }) => !use.reverse,
  isFree: never,
  isExpensive: false,
  looksAt(run, call) {
    return this.count(run, call);
  },
  checkRoot: noCheck,

  async find(run, { use }, after) {
    const { predicate } = use;
    if (predicate === undefined) return noCandidates;
    const list = listOfPresent(use) ?? { kind: "presence", predicate: predicate.id };
    const found =
      (await run.reader.readLists([list], after > 0 ? { after } : {}))[0] ?? emptyUidSet;
    return predicate.definition.lang ? needsRecheck(found, use, () => true) : exact(found);
  },
  list: (_, { use }) => listOfPresent(use),

  /** Few candidates are counted in their records; many are looked for in the list of those that have the predicate. */
  async prepare(run, { use }, candidates) {
    const list = areMany(candidates.length) ? listOfPresent(use) : undefined;
    if (list !== undefined) {
      const present = await countMembers(run, [list]);
      if (takesPresence(present, candidates.length)) {
        return members(await intersectList(run, list, candidates));
      }
    }
    if (use.predicate?.definition.lang === true) return cellsCall(use, () => true);
    return countsCall(use, (count) => count > 0);
  },
};
