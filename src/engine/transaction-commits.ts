/** Committing what a transaction of several requests wrote, against the newest state (reference/dql 1.5). */
import type { Clock } from "../base/clock.ts";
import type { MaybePromise } from "../base/maybe.ts";
import { withYielder } from "../exec/yielder.ts";
import { Fault } from "../model/fault.ts";
import { makeFreeBudget } from "../model/request-budget.ts";
import { StoreRefusal } from "../store/store.ts";
import type { Patch } from "../store/store.ts";
import { derivePatches } from "../write/apply.ts";
import type { Edit } from "../write/edit.ts";
import { readClaimedKeys } from "./claimed-keys.ts";
import { aborted } from "./commits.ts";
import type { ChangeSender } from "./commits.ts";
import type { Contender } from "./contended-keys.ts";
import type { ReaderFactory, View } from "./reader-factory.ts";
import { withRightsPatch } from "./rights-row.ts";
import type { Runner } from "./run.ts";
import type { Transaction, Transactions } from "./transactions.ts";

export interface TransactionCommitsOptions {
  readonly clock: Clock;
  /** Whether users and groups are nodes. */
  readonly acl: boolean;
  readonly readers: ReaderFactory;
  readonly committer: ChangeSender;
  readonly transactions: Transactions;
  readonly runner: Runner;
}

/** What a client sends back of a transaction that it commits. */
interface CommitClaim {
  readonly keys: readonly string[];
  readonly preds: readonly string[];
}

export const nothingClaimed: CommitClaim = { keys: [], preds: [] };
const noKeys: ReadonlySet<string> = new Set();

export class TransactionCommits {
  readonly #options: TransactionCommitsOptions;

  constructor(options: TransactionCommitsOptions) {
    this.#options = options;
  }

  /** Commits what a transaction wrote; one that wrote nothing commits as it stands. */
  async commit(startTs: number, namespace: number, claim: CommitClaim): Promise<number> {
    const { readers, committer, transactions } = this.#options;
    const transaction = transactions.find(startTs, namespace);
    const claimed = await this.#readClaimed(claim.keys, transaction);
    try {
      const commit = await committer.retry(async (contender) => {
        const view = await readers.openNewest(namespace, "change");
        try {
          if (!claim.preds.every((name) => isServed(view, name))) throw aborted();
          if (transaction === undefined) return view.snapshot.ts;
          return await this.#commitEdits(view, transaction, claimed, contender);
        } finally {
          view.reader.close();
        }
      });
      transactions.end(startTs);
      return commit;
    } catch (error) {
      // What the store could not take now (it is full, or overloaded) may be tried again by the client.
      const isOver = error instanceof Fault && error.code === "E_TXN_ABORTED";
      if (isOver || error instanceof StoreRefusal) transactions.end(startTs);
      if (error instanceof StoreRefusal) throw aborted();
      throw error;
    }
  }

  /** Before a snapshot is taken, and once for all tries. A transaction that wrote nothing conflicts with none. */
  #readClaimed(
    keys: readonly string[],
    transaction: Transaction | undefined,
  ): MaybePromise<ReadonlySet<string>> {
    if (transaction === undefined || keys.length === 0) return noKeys;
    const { clock, runner } = this.#options;
    const pacing = { clock, budget: makeFreeBudget(clock), scheduler: runner.scheduler };
    return withYielder(pacing, (yielder) =>
      readClaimedKeys(keys, transaction.conflictKeys, yielder),
    );
  }

  /** Patches are derived from the facts on the newest state; only basis faults are worth another try. */
  async #commitEdits(
    view: View,
    transaction: Transaction,
    claimed: ReadonlySet<string>,
    contender: Contender,
  ): Promise<number> {
    if (view.snapshot.fence > transaction.commit) throw aborted();
    const derived = await derivePatches(view.reader, transaction.edits);
    const conflictKeys = new Set([
      ...transaction.conflictKeys,
      ...derived.conflictKeys,
      ...claimed,
    ]);
    try {
      const change = {
        startTs: transaction.commit,
        conflictKeys,
        basisKeys: derived.basisKeys,
        touchedNodes: derived.touchedNodes,
        deletedNodes: derived.deletedNodes,
        patches: this.withRights(view, transaction.edits, derived.patches),
      };
      return await this.#options.committer.commit(view, change, contender);
    } catch (error) {
      if (error instanceof StoreRefusal && error.reason !== "basis") throw aborted();
      throw error;
    }
  }

  /** With what a change of rights writes beside its facts. */
  withRights(view: View, edits: readonly Edit[], patches: readonly Patch[]): readonly Patch[] {
    const { acl, committer } = this.#options;
    return acl ? withRightsPatch(view, edits, patches, committer) : patches;
  }
}

/** Of a predicate as `printPredicates` names it; indexes of vectors go by their predicate. */
function isServed({ reader: { schema } }: View, name: string): boolean {
  const prefix = `1-${schema.namespace}-`;
  if (!name.startsWith(prefix)) return false;
  const [predicate = ""] = name.slice(prefix.length).split("__vector_");
  return schema.predicate(predicate) !== undefined;
}

/** `<group>-<namespace>-<predicate>`; there is one group. */
export function printPredicates(view: View, edits: readonly Edit[]): readonly string[] {
  const { schema } = view.reader;
  const names = new Set<string>();
  for (const edit of edits) {
    if (edit.kind === "clearNode") continue;
    const predicate = schema.predicateById(edit.predicate);
    if (predicate !== undefined) {
      names.add(`1-${schema.namespace}-${predicate.definition.name}`);
    }
  }
  return [...names].sort();
}
