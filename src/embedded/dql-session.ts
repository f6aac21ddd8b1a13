/** DQL by itself, and in transactions over several requests. */
import { queryDefaults, type Engine, type MutationParts } from "../engine/engine.ts";
import { printUid } from "../model/uid.ts";
import { showingFaults } from "./database-error.ts";
import { readDqlCall } from "../client/dql-text.ts";
import type {
  DqlCall,
  DqlFacts,
  DqlMutation,
  DqlMutationResult,
  DqlText,
  DqlTransaction,
} from "./api.ts";

/** Tries of a transaction before its conflict is told. */
const triesMax = 10;

/** Without a start time each request is by itself. */
export class DqlSession implements DqlTransaction {
  readonly #engine: Engine;
  readonly #isOpen: boolean;
  #startTs = 0;
  #keys: readonly string[] = [];
  #preds: readonly string[] = [];
  #hasWritten = false;
  readonly dql: DqlCall;

  /** `isOpen`: all that is asked of it is one transaction. */
  constructor(engine: Engine, isOpen = false) {
    this.#engine = engine;
    this.#isOpen = isOpen;
    const call = (first: Parameters<typeof readDqlCall>[0], ...rest: unknown[]): Promise<never> =>
      showingFaults(() => this.#query(readDqlCall(first, rest))) as Promise<never>;
    this.dql = call;
  }

  async #query({ text, variables }: DqlText): Promise<unknown> {
    const answer = await this.#engine.query({
      ...queryDefaults,
      namespace: 0,
      text,
      variables: new Map(Object.entries(variables)),
      readOnly: !this.#isOpen,
      startTs: this.#startTs,
    });
    if (this.#isOpen) this.#startTs = answer.startTs;
    return JSON.parse(new TextDecoder().decode(answer.data)) as unknown;
  }

  async mutate(mutation: DqlMutation): Promise<DqlMutationResult> {
    const answer = await this.#engine.mutate({
      namespace: 0,
      body: toParts(mutation),
      startTs: this.#startTs,
      commitNow: !this.#isOpen,
      timeoutMs: 0,
    });
    if (this.#isOpen) {
      this.#startTs = answer.startTs;
      this.#keys = answer.keys ?? this.#keys;
      this.#preds = answer.preds;
      this.#hasWritten = true;
    }
    const uids = [...(answer.uids ?? [])].map(([label, uid]) => [label, printUid(uid)]);
    const queries: unknown =
      answer.queries === undefined ? null : JSON.parse(new TextDecoder().decode(answer.queries));
    return { uids: Object.fromEntries(uids) as Record<string, string>, queries };
  }

  async end(abort: boolean): Promise<void> {
    if (!this.#hasWritten) return;
    const [startTs, keys, preds] = [this.#startTs, this.#keys, this.#preds];
    await this.#engine.commit({ namespace: 0, startTs, abort, keys, preds });
  }
}

export async function runTransaction<T>(
  engine: Engine,
  work: (transaction: DqlTransaction) => Promise<T>,
): Promise<T> {
  for (let tries = 1; ; tries++) {
    const session = new DqlSession(engine, true);
    try {
      const result = await work(session);
      await session.end(false);
      return result;
    } catch (error) {
      // One that was aborted already has nothing to end.
      await session.end(true).catch(() => {});
      const isConflict =
        error instanceof Error && "code" in error && error.code === "E_TXN_ABORTED";
      if (!isConflict || tries === triesMax) throw error;
    }
  }
}

function toParts({ set, delete: remove, query = "", condition = "" }: DqlMutation): MutationParts {
  const { text: asked, variables } =
    typeof query === "string" ? { text: query, variables: {} } : query;
  const json = (facts: DqlFacts | undefined): string =>
    typeof facts === "object" ? JSON.stringify(facts) : "";
  const text = (facts: DqlFacts | undefined): string => (typeof facts === "string" ? facts : "");
  const part = {
    condition,
    setJson: json(set),
    deleteJson: json(remove),
    set: text(set),
    delete: text(remove),
  };
  const given = new Map(Object.entries<string>(variables));
  return { kind: "parts", query: asked, variables: given, mutations: [part] };
}
