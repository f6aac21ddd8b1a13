/**
 * `uid_in(p, [0x1, 0x2])`, `uid_in(p, uid(v))`: the nodes that point at one of some. Price: the lists of those who point
 * at them where there are any, else the edges of the candidates.
 */
import { must } from "../../base/assert.ts";
import { sortUnique, union, unionAll } from "../../base/sorted.ts";
import type { FunctionCall } from "../../dql/ast.ts";
import type { ListRef } from "../../graph/reader.ts";
import { quoteGo } from "../../model/conversion-error.ts";
import { emptyUidSet, type UidSet } from "../../model/uid.ts";
import { refusal, variableIndex, type Builder } from "../../plan/builder.ts";
import { checkUse, literalSlots, refused, resolveSubject } from "../../plan/call.ts";
import type { CallPlan, PredicateUse, SlotIndex } from "../../plan/plan.ts";
import { exact } from "../candidates.ts";
import { takesReverse } from "../../optimizer/filter-choice.ts";
import { countMembers, intersectList, readLists } from "../lookup.ts";
import { queryFault, slotNumber, slotText, variableOf, type Run } from "../run.ts";
import { members, never, noList, noCheck, type CallFunction } from "./function.ts";

interface UidInCall {
  readonly kind: "uidIn";
  readonly use: PredicateUse;
  readonly uids: readonly SlotIndex[];
  readonly variable: number | undefined;
}

declare module "../../plan/plan.ts" {
  interface CallPlans {
    uidIn: UidInCall;
  }
}

function build(builder: Builder, call: FunctionCall, atRoot: boolean): CallPlan {
  const use = resolveSubject(builder, call);
  const variable = call.args.find((argument) => argument.kind === "uid");
  const uids = literalSlots(builder, "uid", call.args);
  if (use.predicate === undefined) return { kind: "nothing", use };
  if (atRoot) return refused(use, refusal("uid_in function not allowed at root"));
  const wrongUse = checkUse(use);
  if (wrongUse !== undefined) return refused(use, wrongUse);
  return {
    kind: "uidIn",
    use,
    uids,
    variable: variable === undefined ? undefined : variableIndex(builder, variable.variable),
  };
}

function targetsOf(run: Run, call: UidInCall): UidSet {
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
function listsOf(run: Run, call: UidInCall): readonly ListRef[] {
  const { predicate, reverse } = call.use;
  if (predicate === undefined) return [];
  const uids = Array.from(targetsOf(run, call));
  if (reverse) {
    return uids.map((subject) => ({ kind: "edges", predicate: predicate.id, subject }));
  }
  const index = predicate.reverseIndex?.id;
  return index === undefined ? [] : uids.map((object) => ({ kind: "reverse", index, object }));
}

/** Whether those who point at a node are in a list. */
function hasLists({ predicate, reverse }: PredicateUse): boolean {
  return reverse || predicate?.reverseIndex?.state === "ready";
}

export const uidIn: CallFunction<UidInCall> = {
  forms: [
    {
      subject: "predicate",
      names: {
        uid_in: {
          subject: "predicate",
          literals: "values",
          atRoot: true,
          brackets: "values",
          needs: "some",
        },
      },
      build,
    },
  ],
  price: 5,
  isExchangeable: never,
  isIndexed: ({ use }) => use.predicate?.definition.kind === "uid" && hasLists(use),
  isOneList: never,
  describe({ use, uids, variable }, words) {
    const of = variable === undefined ? words.slots(uids) : words.variable(variable);
    return `uid_in ${words.use(use)} ${of}`;
  },
  count: async (run, call) => countMembers(run, listsOf(run, call)),
  guess: () => "condition",
  reads: ({ use }) => ({ rechecks: false, filter: hasLists(use) ? "lists" : "values" }),
  isCounted: ({ use }) => hasLists(use),
  isFree: never,
  isExpensive: false,
  looksAt(run, call) {
    return this.count(run, call);
  },
  checkRoot: noCheck,
  find: async (run, call) => exact(unionAll(await readLists(run, listsOf(run, call)))),
  list: noList,

  async prepare(run, call, candidates) {
    const targets = targetsOf(run, call);
    const { predicate } = call.use;
    if (targets.length === 0 || predicate === undefined) return members(emptyUidSet);
    if (predicate.definition.kind !== "uid") return members(emptyUidSet);
    const reverse = predicate.reverseIndex;
    if (takesReverse(targets.length) && hasLists(call.use)) {
      let found: UidSet = emptyUidSet;
      for (const target of targets) {
        const list: ListRef = call.use.reverse
          ? { kind: "edges", predicate: predicate.id, subject: target }
          : { kind: "reverse", index: must(reverse, "it is ready").id, object: target };
        found = union(found, await intersectList(run, list, candidates));
      }
      return members(found);
    }
    const wanted = new Set(targets);
    return {
      kind: "column",
      request:
        call.use.reverse && reverse !== undefined
          ? { kind: "reverse", index: reverse.id, facets: false }
          : { kind: "edges", predicate: predicate.id, facets: false },
      test: (column, row) => {
        if (column.kind !== "edges") return false;
        for (
          let e = must(column.offsets[row], "each row has its edges");
          e < must(column.offsets[row + 1], "each row has its edges");
          e++
        ) {
          if (wanted.has(must(column.targets[e], "each edge has its target"))) return true;
        }
        return false;
      },
    };
  },
};
