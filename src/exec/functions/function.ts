/**
 * What a function of DQL is: one record in a file of its own, from its names to the nodes that pass. The table of them
 * all is `exec/functions.ts`.
 */
import { must } from "../../base/assert.ts";
import type { FunctionCall } from "../../dql/ast.ts";
import type { FunctionSyntax } from "../../dql/functions.ts";
import type { Column, ColumnRequest, ListRef } from "../../graph/reader.ts";
import type { UidSet } from "../../model/uid.ts";
import type { CallStatistics } from "../../optimizer/statistics.ts";
import type { BuildCall } from "../../plan/builder.ts";
import type { CallPlanning } from "../../plan/functions.ts";
import type { CallPlan, PredicateUse } from "../../plan/plan.ts";
import type { Candidates } from "../candidates.ts";
import type { CellTest } from "../compare.ts";
import { buildCellsTest } from "../lookup.ts";
import type { Run } from "../run.ts";

/** Names that are called with a subject of one kind. */
interface CallForm {
  readonly subject: FunctionCall["subject"]["kind"];
  readonly names: Readonly<Record<string, FunctionSyntax>>;
  readonly build: BuildCall;
}

/** A kind of call, from its plan to what it finds. `C` is its plan. */
export interface CallFunction<C extends CallPlan = CallPlan>
  extends CallPlanning<C>, CallStatistics<Run, C> {
  /** How it is written, and what makes its plan. Empty for what no text names. */
  readonly forms: readonly CallForm[];

  /** Whether a test costs more than it spares the others. */
  readonly isExpensive: boolean;

  /** The nodes of a root, ascending. `after`: it may leave out all that are not greater. */
  find(run: Run, call: C, after: number): Promise<Candidates>;
  /** The one list that is the root's answer as it stands; undefined where it is made of several or checked. */
  list(run: Run, call: C): ListRef | undefined;
  /** As a test of candidates (ascending, distinct). */
  prepare(run: Run, call: C, candidates: UidSet): Promise<PreparedCall>;
}

export type ColumnTest = (column: Column, row: number) => boolean;

/** The candidates that pass, or what to read of them and how to tell. */
export type PreparedCall =
  | { readonly kind: "members"; readonly members: UidSet }
  | { readonly kind: "column"; readonly request: ColumnRequest; readonly test: ColumnTest };

export function members(set: UidSet): PreparedCall {
  return { kind: "members", members: set };
}

/** Why a call has its predicate: of an unknown one the plan makes a call of the kind `nothing`. */
const ofKnown = "a call of this kind is about a predicate of the schema";

/** A test of any of the cells that a function on a predicate looks at. */
export function cellsCall(use: PredicateUse, test: CellTest): PreparedCall {
  const passes = buildCellsTest(use, test);
  return {
    kind: "column",
    request: { kind: "cells", predicate: must(use.predicate, ofKnown).id },
    test: (column, row) => {
      const cells = column.kind === "cells" ? column.cells[row] : undefined;
      return cells !== undefined && passes(cells);
    },
  };
}

/** A test of how many edges a candidate has. */
export function countsCall(use: PredicateUse, passes: (count: number) => boolean): PreparedCall {
  const predicate = must(use.predicate, ofKnown);
  const index = use.reverse ? predicate.reverseIndex?.id : undefined;
  return {
    kind: "column",
    request:
      index === undefined
        ? { kind: "count", predicate: predicate.id }
        : { kind: "reverseCount", index },
    test: (column, row) =>
      column.kind === "count" && passes(must(column.counts[row], "each row has its count")),
  };
}

// What most functions say of themselves.

export const always = (): boolean => true;
export const never = (): boolean => false;
export const noList = (): undefined => undefined;
export const uncounted = (): Promise<number> => Promise.resolve(Infinity);
export const noCheck = (): void => undefined;
