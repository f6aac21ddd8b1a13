/** What the optimizer is told by those who execute: the functions' halves of a choice, and the numbers of a run. */
import type { Reader } from "../graph/reader.ts";
import type { Predicate } from "../graph/schema.ts";
import type { CallPlan, PagePlan, Plan, RecursePlan } from "../plan/plan.ts";

/** What is guessed of a call where no list tells: its share of the nodes is in `costs.ts`. */
export type Guess = "equal" | "between" | "expression" | "condition";

/** What a call reads, for the cost of a query before it runs. */
interface CallReads {
  /** Whether each node that a root's index gives is looked at again. */
  readonly rechecks: boolean;
  /** Of a filter: `nothing`, the `lists` of its index, or the candidates' `values` where those cost less. */
  readonly filter: "nothing" | "lists" | "values";
}

/** What a function says of its calls, with the schema alone. */
interface CallTraits<C extends CallPlan> {
  /** Whether `count` looks at a few heads of lists, or at memory: it is asked first of many candidates. */
  isCounted(call: C): boolean;
  /** Whether it reads nothing of candidates, or refuses many of them: it is asked before all others. */
  isFree(call: C): boolean;
  guess(call: C): Guess;
  reads(call: C): CallReads;
  /** Whether a root is one list in the order of uids. */
  isOneList(call: C): boolean;
}

export type TraitsOf = (call: CallPlan) => CallTraits<CallPlan>;

/** The same with what the data say. `R`: a run. */
export interface CallStatistics<R, C extends CallPlan = CallPlan> extends CallTraits<C> {
  /** At most how many nodes it finds, from the heads of lists or a set in memory; Infinity where that costs too much. */
  count(run: R, call: C): Promise<number>;
  /** At most how many nodes a root looks at, with those that it then leaves out; Infinity where no list tells. */
  looksAt(run: R, call: C): Promise<number>;
  /** Raises what only a root refuses, whichever condition finds its nodes. */
  checkRoot(run: R, call: C): void;
}

export type StatisticsOf<R> = (call: CallPlan) => CallStatistics<R>;

/** A plan with its literals, as far as what is expected of it depends on them. */
export interface Estimated {
  readonly plan: Plan;
  readonly reader: Reader;
  readonly of: TraitsOf;
  /** See `CallStatistics.count`. */
  readonly count: (call: CallPlan) => Promise<number>;
  /** See `CallStatistics.looksAt`. */
  readonly looksAt: (call: CallPlan) => Promise<number>;
  /** Whether the values of so many nodes come from an index. */
  readonly isColumn: (predicate: Predicate, nodes: number) => Promise<boolean>;
  /** How many of so many nodes a page shows; and how many must be found for it, Infinity for all. */
  readonly page: (page: PagePlan, count: number) => PageCounts;
  /** Of a recursion; 0 where the query names none. */
  readonly depth: (recurse: RecursePlan | undefined) => number;
}

interface PageCounts {
  readonly shown: number;
  readonly wanted: number;
}
