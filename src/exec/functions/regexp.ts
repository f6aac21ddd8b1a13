/**
 * `regexp(p, /expression/i)`: candidates by trigrams, then every candidate's text (reference/dql 4.3.5). Price: the
 * lists of the trigrams, and one read of the candidates' texts; in a filter without a narrower list, of all
 * candidates'.
 */
import { unionAll } from "../../base/sorted.ts";
import type { FunctionCall } from "../../dql/ast.ts";
import type { PredicateIndex } from "../../graph/schema.ts";
import { makeLimitFault } from "../../model/limits.ts";
import { emptyUidSet, type UidSet } from "../../model/uid.ts";
import { addSlot, literalsOf, refusal, type Builder } from "../../plan/builder.ts";
import { argumentCount, checkUse, findIndex, refused, resolveSubject } from "../../plan/call.ts";
import type { CallPlan, PredicateUse, SlotIndex } from "../../plan/plan.ts";
import { trigramsOfRegexp, type TrigramQuery } from "../../tokens/regexp-trigrams.ts";
import { areMany } from "../../optimizer/filter-choice.ts";
import { countMembers, intersectLists, listOfToken, verifyCells } from "../lookup.ts";
import { needsRecheck, type Candidates } from "../candidates.ts";
import type { CellTest } from "../compare.ts";
import { compileRegexp } from "../regexp-match.ts";
import { queryFault, slotText, type Run } from "../run.ts";
import {
  cellsCall,
  members,
  never,
  noList,
  uncounted,
  noCheck,
  type CallFunction,
} from "./function.ts";

interface RegexpCall {
  readonly kind: "regexp";
  readonly use: PredicateUse;
  /** The trigram index, at roots and where a filter has one. */
  readonly index: PredicateIndex | undefined;
  readonly source: SlotIndex;
  readonly flags: string;
}

declare module "../../plan/plan.ts" {
  interface CallPlans {
    regexp: RegexpCall;
  }
}

function build(builder: Builder, call: FunctionCall): CallPlan {
  const use = resolveSubject(builder, call);
  const parts: (SlotIndex | string)[] = [];
  let source: SlotIndex | undefined;
  let flags = "";
  for (const argument of call.args) {
    if (argument.kind === "regex") {
      source = addSlot(builder, "regex", argument.source);
      flags = argument.flags;
      parts.push(source, flags);
    } else {
      parts.push(...literalsOf(argument).map((literal) => addSlot(builder, "regex", literal)));
    }
  }
  const predicate = use.predicate;
  if (predicate === undefined) return { kind: "nothing", use };
  if (parts.length !== 2) return refused(use, argumentCount("regexp", 2, parts));
  if (flags !== "" && flags !== "i") {
    return refused(use, refusal(`Invalid regexp modifier: ${flags}`));
  }
  const wrongUse = checkUse(use);
  if (wrongUse !== undefined) return refused(use, wrongUse);
  if (predicate.definition.kind === "uid") {
    return refused(use, refusal(`Attribute not scalar: ${use.name} 7`));
  }
  if (predicate.definition.kind !== "string") {
    const reason = "Got non-string type. Regex match is allowed only on string type.";
    return refused(use, refusal(reason));
  }
  // No tag is "any tag" to an expression (reference/dql 4.3.5).
  if (use.languages.includes(".")) return { kind: "nothing", use };
  const index = findIndex(use, "trigram");
  return { kind: "regexp", use, index, source: source ?? (parts[0] as number), flags };
}

/** Linear in the characters of the texts; Fault E_LIMIT beyond `regexpCharactersMax` of them in a query. */
function buildTest(run: Run, source: string, flags: string): CellTest {
  const matches = compileRegexp(source, flags);
  const { work } = run;
  const max = run.limits.regexpCharactersMax;
  return (cell) => {
    const { text } = cell;
    work.regexpCharacters += text.length;
    if (work.regexpCharacters > max) {
      throw makeLimitFault("regexp-characters", `Exceeded regexp limit = ${max} characters.`);
    }
    return matches(text);
  };
}

/** The nodes of a regexp root. An expression that asks for no trigram is refused. */
async function findRegexp(run: Run, call: RegexpCall): Promise<Candidates> {
  const source = slotText(run, call.source);
  const { flags } = call;
  const test = buildTest(run, source, flags);
  if (call.index === undefined) {
    throw queryFault(
      `Attribute ${call.use.name} does not have trigram index for regex matching. ` +
        "Please add a trigram index or use has/uid function with regexp() as filter.",
    );
  }
  const query = trigramsOfRegexp(source, flags === "i");
  if (query.kind === "all") {
    throw queryFault("regular expression is too wide-ranging and can't be executed efficiently");
  }
  const candidates = await findTrigrams(run, call.index.id, query, undefined);
  return needsRecheck(candidates ?? emptyUidSet, call.use, test);
}

/** Those of `candidates` that may match by their trigrams; undefined where no index or no trigram tells. */
async function narrow(run: Run, call: RegexpCall, candidates: UidSet): Promise<UidSet | undefined> {
  if (call.index === undefined) return undefined;
  const query = trigramsOfRegexp(slotText(run, call.source), call.flags === "i");
  if (query.kind === "all") return undefined;
  return findTrigrams(run, call.index.id, query, candidates);
}

/** Nodes whose trigrams fit, among `within` where given; undefined for all. */
async function findTrigrams(
  run: Run,
  index: number,
  query: TrigramQuery,
  within: UidSet | undefined,
): Promise<UidSet | undefined> {
  switch (query.kind) {
    case "all":
      return within;
    case "none":
      return emptyUidSet;
    case "trigram":
      return intersectLists(run, [listOfToken(index, query.token)], within);
    case "and": {
      const lists = query.queries.flatMap((part) =>
        part.kind === "trigram" ? [listOfToken(index, part.token)] : [],
      );
      let found = lists.length === 0 ? within : await intersectLists(run, lists, within);
      for (const part of query.queries) {
        if (part.kind === "trigram" || found?.length === 0) continue;
        found = await findTrigrams(run, index, part, found);
      }
      return found;
    }
    case "or": {
      const sets: UidSet[] = [];
      for (const part of query.queries) {
        const found = await findTrigrams(run, index, part, within);
        if (found === undefined) return undefined;
        sets.push(found);
      }
      return unionAll(sets);
    }
  }
}

/** At most how many nodes have trigrams that fit. */
async function countTrigrams(run: Run, index: number, query: TrigramQuery): Promise<number> {
  switch (query.kind) {
    case "all":
      return Infinity;
    case "none":
      return 0;
    case "trigram":
      return countMembers(run, [listOfToken(index, query.token)]);
    case "and": {
      let fewest = Infinity;
      for (const part of query.queries) {
        fewest = Math.min(fewest, await countTrigrams(run, index, part));
      }
      return fewest;
    }
    case "or": {
      let sum = 0;
      for (const part of query.queries) sum += await countTrigrams(run, index, part);
      return sum;
    }
  }
}

export const regexp: CallFunction<RegexpCall> = {
  forms: [
    {
      subject: "predicate",
      names: {
        regexp: { subject: "predicate", literals: "none", atRoot: true, takesRegexp: true },
      },
      build,
    },
  ],
  price: 6,
  // A root needs the index, and an expression that asks for a trigram.
  isExchangeable: never,
  isIndexed: never,
  isOneList: never,
  describe({ use, source, index }, words) {
    const how = index === undefined ? "values" : "index trigram";
    return `regexp ${words.use(use)} ${words.slot(source)} (${how})`;
  },
  count: uncounted,
  guess: () => "expression",
  reads: () => ({ rechecks: true, filter: "values" }),
  isCounted: never,
  isFree: never,
  isExpensive: true,
  async looksAt(run, call) {
    if (call.index === undefined) return Infinity;
    const query = trigramsOfRegexp(slotText(run, call.source), call.flags === "i");
    return countTrigrams(run, call.index.id, query);
  },
  checkRoot: noCheck,
  find: findRegexp,
  list: noList,

  /**
   * From so many candidates on, only those with the expression's trigrams are looked at, where an index has them; the
   * others are told by their texts. Price: as many texts as pass the trigrams.
   */
  async prepare(run, call, candidates) {
    const test = buildTest(run, slotText(run, call.source), call.flags);
    const narrowed = areMany(candidates.length) ? await narrow(run, call, candidates) : undefined;
    return narrowed === undefined
      ? cellsCall(call.use, test)
      : members(await verifyCells(run, call.use, test, narrowed));
  },
};
