/**
 * `match(p, "text", 3)`: texts at most so many changes away (reference/dql 4.3.6). Price: at a root the lists of the
 * text's trigrams and one read of their nodes' texts; in a filter one read of the candidates' texts.
 */
import { unionAll } from "../../base/sorted.ts";
import type { FunctionCall } from "../../dql/ast.ts";
import type { ListRef } from "../../graph/reader.ts";
import type { PredicateIndex } from "../../graph/schema.ts";
import { ConversionError } from "../../model/conversion-error.ts";
import { parseInt64 } from "../../model/int.ts";
import { refusal, type Builder } from "../../plan/builder.ts";
import {
  argumentCount,
  checkUse,
  findIndex,
  literalSlots,
  refused,
  resolveSubject,
} from "../../plan/call.ts";
import type { CallPlan, PredicateUse, SlotIndex } from "../../plan/plan.ts";
import { trigramTokens } from "../../tokens/text-tokens.ts";
import { needsRecheck } from "../candidates.ts";
import type { CellTest } from "../compare.ts";
import { buildDistanceTest } from "../levenshtein.ts";
import { countMembers, listOfToken, readLists } from "../lookup.ts";
import { queryFault, slotText, type Run } from "../run.ts";
import {
  always,
  cellsCall,
  never,
  noList,
  uncounted,
  noCheck,
  type CallFunction,
} from "./function.ts";

interface MatchCall {
  readonly kind: "match";
  readonly use: PredicateUse;
  readonly index: PredicateIndex;
  readonly text: SlotIndex;
  readonly distance: SlotIndex;
}

declare module "../../plan/plan.ts" {
  interface CallPlans {
    match: MatchCall;
  }
}

function build(builder: Builder, call: FunctionCall): CallPlan {
  const use = resolveSubject(builder, call);
  const slots = literalSlots(builder, "text", call.args);
  if (use.predicate === undefined) return { kind: "nothing", use };
  const [text, distance] = slots;
  if (text === undefined || distance === undefined || slots.length !== 2) {
    return refused(use, argumentCount("match", 2, slots));
  }
  const index = findIndex(use, "trigram");
  if (index === undefined) {
    return refused(use, refusal(`Attribute ${use.name} is not indexed with type trigram`));
  }
  const wrongUse = checkUse(use);
  if (wrongUse !== undefined) return refused(use, wrongUse);
  return { kind: "match", use, index, text, distance };
}

/** Empty values never match; the distance counts characters of the whole value. */
function buildTest(run: Run, call: MatchCall): CellTest {
  const distance = bindDistance(slotText(run, call.distance));
  const isNear = buildDistanceTest(slotText(run, call.text), distance);
  return (cell) => cell.text !== "" && isNear(cell.text);
}

function bindDistance(text: string): number {
  const distance = parseDistance(text);
  if (distance < 0) {
    throw queryFault(`Levenshtein distance value must be greater than 0, got ${text}`);
  }
  return distance;
}

function parseDistance(text: string): number {
  try {
    const distance = parseInt64(text);
    if (distance <= 2147483647 && distance >= -2147483648) return Number(distance);
  } catch (error) {
    if (!(error instanceof ConversionError)) throw error;
  }
  throw queryFault(`Levenshtein distance value must be an int, got ${text}`);
}

/** The nodes that share a trigram with the text. */
function listsOf(run: Run, call: MatchCall): readonly ListRef[] {
  const tokens = trigramTokens(slotText(run, call.text));
  return tokens.map((token) => listOfToken(call.index.id, token));
}

export const match: CallFunction<MatchCall> = {
  forms: [
    {
      subject: "predicate",
      names: { match: { subject: "predicate", literals: "values", atRoot: true } },
      build,
    },
  ],
  price: 6,
  isExchangeable: always,
  isIndexed: never,
  isOneList: never,
  describe: ({ use, text, distance }, words) =>
    `match ${words.use(use)} ${words.slots([text, distance])} (index trigram)`,
  count: uncounted,
  guess: () => "expression",
  reads: () => ({ rechecks: true, filter: "values" }),
  isCounted: never,
  isFree: never,
  isExpensive: true,
  looksAt: async (run, call) => countMembers(run, listsOf(run, call)),
  checkRoot: noCheck,

  /** Those that share at least one trigram with the text. */
  async find(run, call) {
    const test = buildTest(run, call);
    return needsRecheck(unionAll(await readLists(run, listsOf(run, call))), call.use, test);
  },
  list: noList,
  prepare: async (run, call) => cellsCall(call.use, buildTest(run, call)),
};
