/** POST /mutate and /commit: facts in, one commit or an open transaction out (reference/dql 1.4, 1.5, 3.5 – 3.7). */
import { encodeUtf8 } from "../base/bytes.ts";
import { metrics } from "../base/metrics.ts";
import type { MaybePromise } from "../base/maybe.ts";
import { withYielder, makeYielder } from "../exec/yielder.ts";
import { Overlay } from "../graph/overlay.ts";
import type { Reader } from "../graph/reader.ts";
import { restrictReader } from "../graph/restrict.ts";
import { printSchemaAnswer } from "../graph/schema-print.ts";
import { Fault } from "../model/fault.ts";
import type { Limits } from "../model/limits.ts";
import { budgetOf, type Look, type RequestBudget } from "../model/request-budget.ts";
import { renderDqlYielding } from "../render/dql-json.ts";
import { printKey } from "../write/conflict.ts";
import type { Edit } from "../write/edit.ts";
import { addSharedKeys } from "../write/shared-keys.ts";
import { checkUnique } from "../write/unique.ts";
import { BlankNodes } from "../write/uid-assign.ts";
import { checkVectors } from "../write/vectors.ts";
import { checkWrites, strangerFault } from "./authorize.ts";
import { parseBody, setsUnique } from "./body.ts";
import type { ParsedBody } from "./body.ts";
import type { Contender } from "./contended-keys.ts";
import type { CommitAnswer, CommitRequest, MutateAnswer, MutateRequest } from "./engine.ts";
import type { HeldSlot } from "./held-slot.ts";
import { Stopwatch } from "./latency.ts";
import type { NamespaceQuotas } from "./namespace-quotas.ts";
import { MissingPredicates, chooseMutations, prepareEdits, variablesByName } from "./prepare.ts";
import type { MutationsMode } from "./prepare.ts";
import type { Ran } from "./run.ts";
import type { SchemaChanges } from "./schema-changes.ts";
import { WriteSession } from "./session.ts";
import { packCommitTime } from "./start-time.ts";
import { UpsertQueries } from "./upsert-queries.ts";
import {
  TransactionCommits,
  nothingClaimed,
  printPredicates,
  type TransactionCommitsOptions,
} from "./transaction-commits.ts";
import type { Transaction } from "./transactions.ts";
import type { View } from "./reader-factory.ts";

const discards = metrics.counter(
  "weft_transaction_discards_total",
  "Transactions that their client discarded",
);

interface MutationsOptions extends TransactionCommitsOptions {
  readonly limits: Limits;
  readonly mode: MutationsMode;
  readonly schemas: SchemaChanges;
  readonly quotas: NamespaceQuotas;
  readonly held: HeldSlot;
  /** A start time at a commit number, undefined when its serials are used up. */
  giveStartTime(commit: number, sameSince: number): number | undefined;
}

/** What came of one run of a request's query and facts over a view. */
interface Worked {
  readonly session: WriteSession;
  readonly queries: Uint8Array | undefined;
  readonly numUids: ReadonlyMap<string, number>;
  readonly cost: number;
}

/** Everything of a request that stays the same over its attempts. */
interface Work {
  readonly request: MutateRequest;
  readonly parsed: ParsedBody;
  /** The nodes that this request makes. */
  readonly nodes: BlankNodes;
  readonly budget: RequestBudget;
  readonly look: Look;
  /** Bytes that the budget holds for what its facts have become. */
  heldBytes: number;
  /** What its transaction has changed before; undefined: nothing. */
  openEdits: readonly Edit[] | undefined;
}

/** Of one fact as an edit, in its group, and as a patch with its keys: measured, rounded down. */
const bytesOfEdit = 400;

/** Makes the budget hold what facts have become; another attempt's make room. */
function holdEdits(work: Work, factCount: number): void {
  const bytes = factCount * bytesOfEdit;
  if (bytes > work.heldBytes) work.budget.chargeBytes(bytes - work.heldBytes);
  else work.budget.releaseBytes(work.heldBytes - bytes);
  work.heldBytes = bytes;
}

const emptyObject = encodeUtf8("{}");
const noUids: ReadonlyMap<string, number> = new Map();

export class Mutations {
  readonly #options: MutationsOptions;
  readonly #queries = new UpsertQueries();
  readonly #commits: TransactionCommits;

  constructor(options: MutationsOptions) {
    this.#options = options;
    this.#commits = new TransactionCommits(options);
  }

  async mutate(request: MutateRequest): Promise<MutateAnswer> {
    const { clock, limits } = this.#options;
    const budget = budgetOf({ clock, limits }, request);
    const watch = new Stopwatch(clock, budget.observer);
    budget.check();
    const { scheduler } = this.#options.runner;
    const pacing = { clock, budget, scheduler };
    const yielder = makeYielder(pacing);
    const look: Look = (count) => yielder.check(count);
    let work: Work;
    let done: Done;
    try {
      const parsing = parseBody(request.body, limits, this.#queries, look);
      const parsed = parsing instanceof Promise ? await parsing : parsing;
      work = this.#judge(request, parsed, budget, look);
      watch.mark("parsing");
      done = await this.#perform(work);
    } finally {
      scheduler.end(budget);
    }
    watch.mark("processing");
    const numUids = new Map(done.numUids);
    numUids.set("_mutation", done.cost);
    return {
      queries: done.queries,
      uids: work.parsed.mutations.length === 0 ? undefined : work.nodes.uids,
      startTs: done.startTs,
      commitTs: done.commitTs,
      keys: done.keys,
      preds: done.preds,
      latency: watch.finish(),
      numUids,
    };
  }

  /** Whether the sender may write what it wants to. */
  #judge(request: MutateRequest, parsed: ParsedBody, budget: RequestBudget, look: Look): Work {
    const { mode } = this.#options;
    if (mode === "disallow" && parsed.mutations.length > 0) {
      throw new Fault("E_MUTATION", "no mutations allowed");
    }
    const { principal } = request;
    if (principal?.refusal !== undefined) throw strangerFault(principal);
    checkWrites(parsed.mutations, principal?.access);
    return {
      request,
      parsed,
      nodes: new BlankNodes(),
      budget,
      look,
      heldBytes: 0,
      openEdits: undefined,
    };
  }

  #perform(work: Work): Promise<Done> {
    const { request, parsed } = work;
    if (request.startTs !== 0) {
      return this.#options.transactions.inTurn(request.startTs, () =>
        this.#continue(work, request.startTs),
      );
    }
    return request.commitNow || parsed.mutations.length === 0
      ? this.#commitAtOnce(work)
      : this.#begin(work);
  }

  async #commitAtOnce(work: Work): Promise<Done> {
    const { readers, committer, runner } = this.#options;
    const { namespace } = work.request;
    const { budget } = work;
    const onWait = (): void => runner.scheduler.end(budget);
    return this.#withPredicates(namespace, () =>
      committer.retry(
        async (contender) => {
          const view = await readers.openNewest(namespace, "change");
          try {
            // Nothing is read after it was written: the overlay is never shown.
            const worked = await this.#run(work, view, this.#session(work, view, new Overlay()));
            const endCommit = work.budget.observer?.begin("commit");
            const commit = await this.#commitSession(worked.session, contender);
            endCommit?.();
            // Member by member: what V8 makes of a spread with more behind it costs microseconds.
            return {
              queries: worked.queries,
              numUids: worked.numUids,
              cost: worked.cost,
              startTs: packCommitTime(view.snapshot.ts),
              commitTs: work.parsed.mutations.length === 0 ? 0 : packCommitTime(commit),
              keys: undefined,
              preds: printPredicates(view, worked.session.edits),
            };
          } finally {
            view.reader.close();
          }
        },
        { budget, onWait },
      ),
    );
  }

  #session({ request, look }: Work, view: View, overlay: Overlay): WriteSession {
    const { acl } = this.#options;
    const access = request.principal?.access;
    return new WriteSession(view, overlay, { acl, access, isServer: false }, look);
  }

  async #commitSession(session: WriteSession, contender: Contender): Promise<number> {
    const { view } = session;
    if (session.patches.length === 0) return view.snapshot.ts;
    const change = {
      startTs: view.snapshot.ts,
      conflictKeys: session.conflictKeys,
      basisKeys: session.basisKeys,
      touchedNodes: session.touchedNodes,
      deletedNodes: session.deletedNodes,
      patches: this.#commits.withRights(view, session.edits, session.patches),
    };
    return this.#options.committer.commit(view, change, contender);
  }

  /** A mutation without a start time and without commitNow opens a transaction. */
  async #begin(work: Work): Promise<Done> {
    const { readers, committer } = this.#options;
    const view = await readers.openNewest(work.request.namespace, "change");
    const { ts } = view.snapshot;
    try {
      await this.#options.held.check(view.snapshot);
    } finally {
      view.reader.close();
    }
    const startTs = this.#options.giveStartTime(ts, view.sameSince);
    if (startTs !== undefined) return this.#continue(work, startTs);
    await committer.commitEmpty(ts);
    return this.#begin(work);
  }

  async #continue(work: Work, startTs: number): Promise<Done> {
    const { readers, transactions } = this.#options;
    const { namespace, commitNow } = work.request;
    const time = await this.#checkWritable(startTs, namespace, work.budget.deadlineMs);
    const done = await this.#endingWithFacts(work, startTs, async () => {
      const known = transactions.find(startTs, namespace);
      const overlay = known?.overlay ?? new Overlay();
      work.openEdits = known?.edits;
      const view = await readers.openAt(namespace, time.commit, {
        overlay,
        deadlineMs: work.budget.deadlineMs,
      });
      try {
        const worked = await this.#run(work, view, this.#session(work, view, overlay));
        if (worked.session.edits.length === 0) {
          return { ...worked, startTs, commitTs: 0, keys: [], preds: [] };
        }
        if (!commitNow) await worked.session.showInSteps();
        const transaction = known ?? transactions.begin(startTs, namespace, overlay);
        this.#note(transaction, worked.session, view);
        return {
          ...worked,
          startTs,
          commitTs: 0,
          keys: [...transaction.conflictKeys].map(printKey).sort(),
          preds: [...transaction.predicates].sort(),
        };
      } finally {
        view.reader.close();
      }
    });
    if (!commitNow) return done;
    const commit = await this.#commits.commit(startTs, namespace, nothingClaimed);
    return { ...done, commitTs: packCommitTime(commit), keys: undefined };
  }

  /** Facts that the schema refuses end the transaction which they were to commit; other faults leave it open. */
  async #endingWithFacts(
    { request }: Work,
    startTs: number,
    attempt: () => Promise<Done>,
  ): Promise<Done> {
    try {
      return await this.#withPredicates(request.namespace, attempt);
    } catch (error) {
      const isRefused = error instanceof Fault && error.code === "E_MUTATION_FACTS";
      if (isRefused && request.commitNow) this.#options.transactions.end(startTs);
      throw error;
    }
  }

  #note(transaction: Transaction, session: WriteSession, view: View): void {
    for (const edit of session.edits) transaction.edits.push(edit);
    for (const key of session.conflictKeys) transaction.conflictKeys.add(key);
    addSharedKeys(transaction.conflictKeys, view.reader.schema, session.edits);
    for (const name of printPredicates(view, session.edits)) transaction.predicates.add(name);
    this.#options.transactions.touch(transaction);
  }

  async #checkWritable(
    startTs: number,
    namespace: number,
    deadlineMs: number,
  ): Promise<{ readonly commit: number }> {
    const { readers, transactions } = this.#options;
    const snapshot = await readers.store.snapshot();
    const newest = snapshot.ts;
    snapshot.close();
    transactions.find(startTs, namespace);
    const time = transactions.checkWritable(startTs, newest);
    if (time.commit > newest) {
      (await readers.openAt(namespace, time.commit, { deadlineMs })).reader.close();
    }
    return time;
  }

  /** Runs `attempt`; predicates that it misses are added to the schema first, whatever becomes of it. */
  async #withPredicates<T>(namespace: number, attempt: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await attempt();
      } catch (error) {
        if (!(error instanceof MissingPredicates)) throw error;
        await this.#options.schemas.addInferred(namespace, error.definitions);
      }
    }
  }

  /** Query, conditions, facts, in that order. */
  async #run(work: Work, view: View, session: WriteSession): Promise<Worked> {
    const { runner, limits, mode, readers } = this.#options;
    const { nodes, look } = work;
    nodes.beginAgain();
    const { judged } = work.parsed;
    const isJudged = judged !== undefined && setsUnique(work.parsed.mutations, view.reader.schema);
    const parsed = isJudged ? judged() : work.parsed;
    const reader = restrictReader(view.reader, work.request.principal?.access);
    const planned = parsed.query?.plan(reader.schema);
    const ran =
      planned === undefined
        ? undefined
        : await runner.runPlan(reader, planned.plan, {
            budget: work.budget,
            texts: planned.texts,
          });
    const variables = ran === undefined ? new Map() : variablesByName(ran.plan, ran.result);
    const chosen = chooseMutations(parsed.mutations, variables);
    let factCount = 0;
    for (const mutation of chosen) factCount += mutation.set.length + mutation.delete.length;
    holdEdits(work, factCount);
    const prepared = await prepareEdits(chosen, variables, {
      schema: view.reader.schema,
      limits,
      mode,
      nodes,
      uids: readers.store,
      look,
    });
    holdEdits(work, prepared.factCount);
    if (work.request.principal !== undefined) {
      const { namespace } = work.request;
      this.#options.quotas.checkWrite(namespace, prepared.edits, work.openEdits);
    }
    const checked = checkUnique(view.reader, prepared.edits, look);
    const isUnique = checked instanceof Promise ? await checked : checked;
    const compared = checkVectors(view.reader, prepared.edits);
    if (compared instanceof Promise) await compared;
    await session.add(prepared.edits, prepared.fresh);
    return {
      session,
      queries:
        ran === undefined
          ? isUnique
            ? emptyObject
            : undefined
          : await this.#render(work, reader, parsed, ran),
      numUids: ran?.result.numUids ?? noUids,
      cost: prepared.factCount + nodes.uids.size,
    };
  }

  #render(
    { budget }: Work,
    reader: Reader,
    { query }: ParsedBody,
    { plan, result }: Ran,
  ): MaybePromise<Uint8Array> {
    const question = query?.schemaQuestion;
    if (question !== undefined) return encodeUtf8(printSchemaAnswer(reader.schema, question));
    const { clock, limits, runner } = this.#options;
    return withYielder({ clock, budget, scheduler: runner.scheduler }, (yielder) =>
      renderDqlYielding(plan, result, { limits, debug: false }, yielder),
    );
  }

  async commit(request: CommitRequest): Promise<CommitAnswer> {
    const { startTs, namespace } = request;
    return this.#options.transactions.inTurn(startTs, async () => {
      const { transactions } = this.#options;
      if (request.abort) {
        transactions.end(startTs);
        discards.count++;
        return { startTs, commitTs: 0 };
      }
      await this.#checkWritable(startTs, namespace, Infinity);
      const { keys = [], preds = [] } = request;
      const commit = await this.#commits.commit(startTs, namespace, { keys, preds });
      return { startTs, commitTs: packCommitTime(commit) };
    });
  }
}

interface Done {
  readonly queries: Uint8Array | undefined;
  readonly numUids: ReadonlyMap<string, number>;
  readonly cost: number;
  readonly startTs: number;
  readonly commitTs: number;
  readonly keys: readonly string[] | undefined;
  readonly preds: readonly string[];
}
