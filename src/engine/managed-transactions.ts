/** Transactions that the server composes itself, for modules above it, such as GraphQL mutations. */
import type { Clock } from "../base/clock.ts";
import { makeYielder } from "../exec/yielder.ts";
import { Fault } from "../model/fault.ts";
import type { RequestObserver } from "../model/request-observer.ts";
import type { Limits } from "../model/limits.ts";
import { makeFreeBudget, type Look, type RequestBudget } from "../model/request-budget.ts";
import type { NQuad } from "../model/nquad.ts";
import { SnapshotReader } from "../graph/open-reader.ts";
import { Overlay } from "../graph/overlay.ts";
import type { Reader } from "../graph/reader.ts";
import { restrictReader } from "../graph/restrict.ts";
import type { PredicateAccess, Principal } from "../model/principal.ts";
import { BlankNodes } from "../write/uid-assign.ts";
import type { UpsertVariables } from "../write/upsert.ts";
import { checkUnique } from "../write/unique.ts";
import { checkVectors } from "../write/vectors.ts";
import { checkWrites, strangerFault } from "./authorize.ts";
import type { ChangeSender } from "./commits.ts";
import type { Contender } from "./contended-keys.ts";
import type { ManagedTransaction, TransactResult } from "./engine.ts";
import type { NamespaceQuotas } from "./namespace-quotas.ts";
import { MissingPredicates, prepareEdits } from "./prepare.ts";
import type { MutationsMode } from "./prepare.ts";
import type { Runner } from "./run.ts";
import { withRightsPatch } from "./rights-row.ts";
import type { SchemaChanges } from "./schema-changes.ts";
import { WriteSession } from "./session.ts";
import { packCommitTime } from "./start-time.ts";
import type { ReaderFactory } from "./reader-factory.ts";

interface ManagedTransactionsOptions {
  readonly clock: Clock;
  readonly limits: Limits;
  readonly runner: Runner;
  readonly readers: ReaderFactory;
  readonly committer: ChangeSender;
  readonly schemas: SchemaChanges;
  readonly quotas: NamespaceQuotas;
  readonly mode: MutationsMode;
  /** Whether users and groups are nodes. */
  readonly acl: boolean;
}

const noHints: ReadonlyMap<string, "list" | "single"> = new Map();
const noVariables: UpsertVariables = new Map();

export class ManagedTransactions {
  readonly #options: ManagedTransactionsOptions;

  constructor(options: ManagedTransactionsOptions) {
    this.#options = options;
  }

  async transact<T>(
    namespace: number,
    work: (txn: ManagedTransaction) => Promise<T>,
    principal?: Principal,
    given?: Reader,
    budget?: RequestBudget,
  ): Promise<TransactResult<T>> {
    const { clock, runner, committer, schemas } = this.#options;
    let first = given instanceof SnapshotReader ? given : undefined;
    if (first === undefined || principal?.refusal !== undefined) given?.close();
    if (principal?.refusal !== undefined) throw strangerFault(principal);
    const pacing = { clock, budget: budget ?? makeFreeBudget(clock), scheduler: runner.scheduler };
    const yielder = makeYielder(pacing);
    const look: Look = (count) => yielder.check(count);
    const attempt = (contender: Contender): Promise<TransactResult<T>> => {
      const opened = first;
      first = undefined;
      const { observer } = pacing.budget;
      return this.#attempt(namespace, work, principal, {
        given: opened,
        look,
        observer,
        contender,
      });
    };
    const onWait = (): void => runner.scheduler.end(pacing.budget);
    try {
      for (;;) {
        try {
          return await committer.retry(attempt, { budget: pacing.budget, onWait });
        } catch (error) {
          if (!(error instanceof MissingPredicates)) throw error;
          await schemas.addInferred(namespace, error.definitions);
        }
      }
    } finally {
      runner.scheduler.end(pacing.budget);
    }
  }

  async #attempt<T>(
    namespace: number,
    work: (txn: ManagedTransaction) => Promise<T>,
    principal: Principal | undefined,
    {
      given,
      look,
      observer,
      contender,
    }: {
      readonly given: SnapshotReader | undefined;
      readonly look: Look;
      readonly observer: RequestObserver | undefined;
      readonly contender: Contender;
    },
  ): Promise<TransactResult<T>> {
    const { readers, committer, acl } = this.#options;
    const isServer = principal === undefined;
    const access = principal?.access;
    const overlay = new Overlay();
    const taken = given === undefined ? undefined : readers.takeOver(given, overlay);
    const opened = taken ?? readers.openNewest(namespace, "change", overlay);
    const view = opened instanceof Promise ? await opened : opened;
    try {
      const session = new WriteSession(view, overlay, { acl, access, isServer }, look);
      const txn = new OpenTransaction(this.#options, session, { access, isServer, look });
      const value = await work(txn);
      if (txn.isDiscarded || session.patches.length === 0) {
        return { value, commitTs: packCommitTime(view.snapshot.ts) };
      }
      const endCommit = observer?.begin("commit");
      const change = {
        startTs: view.snapshot.ts,
        conflictKeys: session.conflictKeys,
        basisKeys: session.basisKeys,
        touchedNodes: session.touchedNodes,
        deletedNodes: session.deletedNodes,
        patches: acl
          ? withRightsPatch(view, session.edits, session.patches, committer)
          : session.patches,
      };
      const commit = await committer.commit(view, change, contender);
      endCommit?.();
      return { value, commitTs: packCommitTime(commit) };
    } finally {
      view.reader.close();
    }
  }
}

/** What fewer edits come to is shown in one piece, when it is first asked for. */
const shownAtOnce = 1000;

class OpenTransaction implements ManagedTransaction {
  readonly session: WriteSession;
  isDiscarded = false;
  readonly #options: ManagedTransactionsOptions;
  readonly #nodes = new BlankNodes();
  readonly #access: PredicateAccess | undefined;
  /** Writes of the server itself have no quota. */
  readonly #isServer: boolean;
  readonly #look: Look;

  constructor(
    options: ManagedTransactionsOptions,
    session: WriteSession,
    {
      access,
      isServer,
      look,
    }: {
      readonly access: PredicateAccess | undefined;
      readonly isServer: boolean;
      readonly look: Look;
    },
  ) {
    this.#options = options;
    this.session = session;
    this.#access = access;
    this.#isServer = isServer;
    this.#look = look;
  }

  get reader(): Reader {
    return restrictReader(this.session.reader, this.#access);
  }

  async apply(facts: {
    readonly set: readonly NQuad[];
    readonly delete: readonly NQuad[];
  }): Promise<ReadonlyMap<string, number>> {
    const { readers, limits, mode } = this.#options;
    const { session } = this;
    if (mode === "disallow") throw new Fault("E_MUTATION", "no mutations allowed");
    checkWrites([facts], this.#access);
    const prepared = await prepareEdits(
      [{ set: facts.set, delete: facts.delete, hints: noHints }],
      noVariables,
      {
        schema: session.view.reader.schema,
        limits,
        mode: "allow",
        nodes: this.#nodes,
        uids: readers.store,
        look: this.#look,
      },
    );
    if (!this.#isServer) {
      const { namespace } = session.view.known.schema;
      this.#options.quotas.checkWrite(namespace, prepared.edits, session.edits);
    }
    const checked = checkUnique(session.view.reader, prepared.edits, this.#look);
    if (checked instanceof Promise) await checked;
    const compared = checkVectors(session.view.reader, prepared.edits);
    if (compared instanceof Promise) await compared;
    await session.add(prepared.edits, prepared.fresh);
    if (!readers.isEmbedded || prepared.edits.length > shownAtOnce) await session.showInSteps();
    return prepared.added;
  }

  discard(): void {
    this.isDiscarded = true;
  }
}
