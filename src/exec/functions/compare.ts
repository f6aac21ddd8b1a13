/**
 * `eq(p, "a", "b")`, `le`, `lt`, `ge`, `gt`, `between(p, 1, 5)` of a predicate's values (reference/dql 4.3.1, 4.3.2), and
 * `type(T)`, which is eq on dgraph.type. How a root finds its nodes is in `compare-find.ts`, how candidates are tested in
 * `compare-filter.ts`.
 */
import type { FunctionCall } from "../../dql/ast.ts";
import type { PredicateIndex } from "../../graph/schema.ts";
import { namespaced, refusal, resolvePredicate, type Builder } from "../../plan/builder.ts";
import { buildValues, checkUse, pickSortable, refused, resolveSubject } from "../../plan/call.ts";
import type {
  CallPlan,
  CompareOperator,
  PlanRefusal,
  PredicateUse,
  ValuesPlan,
} from "../../plan/plan.ts";
import { bindCall, type CompareCall } from "../bind-values.ts";
import { countsRangeOn } from "../../optimizer/root-choice.ts";
import { isWholeToken, rangeOf } from "../index-tokens.ts";
import type { Run } from "../run.ts";
import { findCompare, listOfCompare } from "./compare-find.ts";
import { prepareCompare } from "./compare-filter.ts";
import { countEquality, equalityLists, sumFewest } from "./compare-lists.ts";
import { noCheck, type CallFunction } from "./function.ts";
import { operatorNames, operatorOf, guessOf } from "./operators.ts";

declare module "../../plan/plan.ts" {
  interface CallPlans {
    compare: CompareCall;
  }
}

/** Tokenizers for eq, best first: those whose token says everything, then those that are checked again. */
const equalityTokenizers = [
  "int",
  "bool",
  "hash",
  "exact",
  "sha256",
  "float",
  "bigfloat",
  "year",
  "month",
  "day",
  "hour",
  "geo",
  "term",
  "fulltext",
  "trigram",
  "ngram",
];

function build(builder: Builder, call: FunctionCall, atRoot: boolean): CallPlan {
  return buildCompare(builder, call, resolveSubject(builder, call), atRoot);
}

function buildType(builder: Builder, call: FunctionCall, atRoot: boolean): CallPlan {
  const name = { kind: "predicate", name: "dgraph.type", reverse: false, languages: [] } as const;
  return buildCompare(builder, { ...call, name: "eq" }, resolvePredicate(builder, name), atRoot);
}

function buildCompare(
  builder: Builder,
  call: FunctionCall,
  use: PredicateUse,
  atRoot: boolean,
): CallPlan {
  const operator = operatorOf(call.name);
  const values = buildValues(builder, call.args);
  const predicate = use.predicate;
  if (predicate === undefined) return { kind: "nothing", use };
  const wrongCount =
    values.variable === undefined ? checkCompareCount(operator, values) : undefined;
  if (wrongCount !== undefined) return refused(use, wrongCount);
  if (predicate.definition.kind === "uid") {
    return refused(
      use,
      refusal(
        `Got error: Attribute ${use.name} is not valid scalar type while running: name:"${operator}"%c`,
        values.slots,
      ),
    );
  }
  const comparison = { kind: "compare", operator, use, values } as const;
  const ready = predicate.indexes.filter((index) => index.state === "ready");
  const index = operator === "eq" ? pickEqualityIndex(ready) : pickSortable(ready);
  const unsortable = operator !== "eq" && ready.length > 0 && index === undefined;
  const name = namespaced(builder, use.name);
  const missing =
    ready.length === 0
      ? refusal(`Predicate ${use.name} is not indexed`)
      : unsortable
        ? refusal(`Attribute:${name} does not have proper index for comparison`)
        : checkUse(use);
  if (atRoot && missing !== undefined) {
    return { ...comparison, index: undefined, refuseFromTen: false, refusal: missing };
  }
  const wrongUse = checkUse(use);
  if (wrongUse !== undefined) return refused(use, wrongUse);
  return { ...comparison, index, refuseFromTen: unsortable, refusal: undefined };
}

function checkCompareCount(operator: CompareOperator, values: ValuesPlan): PlanRefusal | undefined {
  const count = values.slots.length;
  if (operator === "eq") {
    return count < 1 ? refusal("eq expects atleast 1 argument.") : undefined;
  }
  if (operator === "between") {
    return count === 2 ? undefined : refusal("between expects exactly 2 argument.");
  }
  if (count === 1) return undefined;
  return refusal(`${operator} expects only 1 argument. Got: %s`, values.slots);
}

function pickEqualityIndex(indexes: readonly PredicateIndex[]): PredicateIndex | undefined {
  for (const tokenizer of equalityTokenizers) {
    const index = indexes.find((candidate) => candidate.tokenizer === tokenizer);
    if (index !== undefined) return index;
  }
  return undefined;
}

async function count(run: Run, call: CompareCall): Promise<number> {
  const { index, use } = call;
  const kind = use.predicate?.definition.kind;
  if (index === undefined || kind === undefined || kind === "uid") return Infinity;
  if (use.languages.length > 0) return Infinity;
  const binding = bindCall(run, call, true);
  const bounds = binding instanceof Promise ? await binding : binding;
  if (bounds.length === 0) return 0;
  if (call.operator === "eq") {
    const making = equalityLists(run, call, index, bounds);
    const equality = making instanceof Promise ? await making : making;
    if (equality.hasTokenless) return Infinity;
    const counting = countEquality(run, equality);
    return sumFewest(equality, counting instanceof Promise ? await counting : counting);
  }
  let tokens = 0;
  let sum = 0;
  const scanned = run.reader.countTokens(
    index.id,
    rangeOf(index, call.operator, bounds, use),
    (_, count) => {
      sum += count;
      return countsRangeOn(++tokens);
    },
  );
  if (scanned instanceof Promise) await scanned;
  return countsRangeOn(tokens) ? sum : Infinity;
}

/** Whether its values can be looked up in its index; texts cut into pieces cannot. */
function isIndexed({ index, use, values }: CompareCall): boolean {
  if (index === undefined || values.variable !== undefined || use.languages.length > 0)
    return false;
  return index.tokenizer !== "trigram" && index.tokenizer !== "ngram";
}

export const compare: CallFunction<CompareCall> = {
  forms: [
    { subject: "predicate", names: operatorNames, build },
    {
      subject: "none",
      names: { type: { subject: "none", literals: "none", atRoot: true, needs: "one" } },
      build: buildType,
    },
  ],
  price: 4,
  isExchangeable: ({ refusal: reason, values }) =>
    reason === undefined && values.variable === undefined,
  isIndexed,
  isOneList: ({ operator, values }) =>
    operator === "eq" && values.variable === undefined && values.slots.length === 1,
  describe({ operator, use, values, index }, words) {
    const how = index === undefined ? "values" : `index ${index.tokenizer}`;
    return `${operator} ${words.use(use)} ${words.values(values)} (${how})`;
  },
  count,
  guess: ({ operator }) => guessOf(operator),
  reads: ({ index, use }) => ({
    rechecks: index === undefined || !isWholeToken(index, use),
    filter: "values",
  }),
  isCounted: ({ operator, values }) => operator === "eq" && values.variable === undefined,
  isFree: ({ refuseFromTen }) => refuseFromTen,
  isExpensive: false,
  looksAt(run, call) {
    return this.count(run, call);
  },
  checkRoot: noCheck,
  find: findCompare,
  list: listOfCompare,
  prepare: prepareCompare,
};
