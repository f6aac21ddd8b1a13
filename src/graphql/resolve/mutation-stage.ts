/** What the stages of a mutation share. */
import type { MaybePromise } from "../../base/maybe.ts";
import type { ManagedTransaction } from "../../engine/engine.ts";
import { Fault } from "../../model/fault.ts";
import type { NodeType } from "../schema/compiled-schema.ts";
import type { Guard } from "./lower-context.ts";
import type { RequestBudget } from "../../model/request-budget.ts";
import type { RunSettings } from "./lower-run.ts";
import type { ArgumentObject } from "../operation/arguments.ts";

/** What a stage of a mutation sees. */
export interface MutationStage extends RunSettings {
  readonly budget: RequestBudget;
  readonly type: NodeType;
  readonly values: ArgumentObject;
  readonly txn: ManagedTransaction;
  /** The caller's rights; undefined where the schema has no rules. */
  readonly guard: Guard | undefined;
  /** For extensions: uids that a run touched. */
  readonly touch: (count: number) => void;
}

/** What a mutation changed. */
export interface MutationEffect {
  /** The nodes of the payload, ascending. */
  readonly uids: readonly number[];
  readonly numUids: number;
  readonly msg: string | undefined;
}

/** Begins the trace of a stage; the returned function ends it. */
export interface StageSteps {
  readonly lookup: () => () => void;
  readonly write: () => () => void;
}

/** Ends a step of the trace with its work: at once, where the work is done already. */
export function ending<T>(work: MaybePromise<T>, end: () => void): MaybePromise<T> {
  if (work instanceof Promise) return work.finally(end);
  end();
  return work;
}

/** What is written of one node: facts, edits and patches. */
const nodeBytes = 1024;

/** Charges what is going to be written of nodes. Throws what the budget throws. */
export function chargeNodes({ budget }: MutationStage, uids: readonly number[]): void {
  budget.charge(uids.length);
  budget.chargeBytes(uids.length * nodeBytes);
  budget.check();
}

/** A fault of the engine while facts were applied, told from one of the commit. */
export class WriteFailed extends Error {
  override readonly name = "WriteFailed";
  readonly fault: Fault;

  constructor(fault: Fault) {
    super(fault.message, { cause: fault });
    this.fault = fault;
  }
}

/**
 * Applies facts, and tells their faults from those of the commit. Conflicts go through: they are tried again. `end`: what
 * ends the step of the trace.
 */
export async function applyFacts(
  txn: ManagedTransaction,
  facts: Parameters<ManagedTransaction["apply"]>[0],
  end?: () => void,
): Promise<ReadonlyMap<string, number>> {
  try {
    return await txn.apply(facts);
  } catch (error) {
    if (error instanceof Fault && error.code !== "E_TXN_ABORTED") throw new WriteFailed(error);
    throw error;
  } finally {
    end?.();
  }
}
