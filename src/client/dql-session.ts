/** DQL by itself, and in transactions over several requests. */
import { systemRandom } from "../base/random.ts";
import type {
  DqlCall,
  DqlFacts,
  DqlMutation,
  DqlMutationResult,
  DqlText,
  DqlTransaction,
  GraphqlError,
} from "./api.ts";
import { delayOf, wait } from "./backoff.ts";
import { errorOf, makeError } from "./database-error.ts";
import { readDqlCall } from "./dql-text.ts";
import type { Http } from "./http.ts";

/** Tries of a transaction before its conflict is told. */
const triesMax = 10;

interface TxnContext {
  readonly start_ts?: number;
  readonly hash?: string;
  readonly keys?: readonly string[];
  readonly preds?: readonly string[];
}

interface DqlAnswer {
  readonly data?: unknown;
  readonly errors?: readonly GraphqlError[];
  readonly extensions?: { readonly txn?: TxnContext };
}

/** Where a transaction stands. Without one each request is by itself. */
class Txn {
  startTs = 0;
  hash = "";
  hasWritten = false;
  readonly keys = new Set<string>();
  readonly preds = new Set<string>();

  take({ start_ts: startTs, hash, keys, preds }: TxnContext): void {
    this.startTs = startTs ?? this.startTs;
    this.hash = hash ?? this.hash;
    for (const key of keys ?? []) this.keys.add(key);
    for (const pred of preds ?? []) this.preds.add(pred);
  }

  get parameters(): string {
    if (this.startTs === 0) return "";
    return `startTs=${this.startTs}${this.hash === "" ? "" : `&hash=${this.hash}`}`;
  }
}

export class RemoteSession implements DqlTransaction {
  readonly #http: Http;
  readonly #txn: Txn | undefined;
  readonly dql: DqlCall;

  /** `isOpen`: all that is asked of it is one transaction. */
  constructor(http: Http, isOpen = false) {
    this.#http = http;
    this.#txn = isOpen ? new Txn() : undefined;
    const call = (first: Parameters<typeof readDqlCall>[0], ...rest: unknown[]): Promise<never> =>
      this.#query(readDqlCall(first, rest)) as Promise<never>;
    this.dql = call;
  }

  async #query({ text: query, variables }: DqlText): Promise<unknown> {
    const parameters = this.#txn === undefined ? "ro=true" : this.#txn.parameters;
    const body = { type: "application/json", text: JSON.stringify({ query, variables }) };
    const path = `/query${parameters === "" ? "" : `?${parameters}`}`;
    return (await this.#ask(path, body, true)).data;
  }

  async mutate(mutation: DqlMutation): Promise<DqlMutationResult> {
    const txn = this.#txn;
    const parameters = txn === undefined ? "commitNow=true" : txn.parameters;
    const path = `/mutate${parameters === "" ? "" : `?${parameters}`}`;
    const { data } = await this.#ask(path, toBody(mutation), false);
    if (txn !== undefined) txn.hasWritten = true;
    const { uids, queries } = data as Partial<DqlMutationResult>;
    return { uids: uids ?? {}, queries: queries ?? null };
  }

  async end(abort: boolean): Promise<void> {
    const txn = this.#txn;
    if (txn?.hasWritten !== true) return;
    const text = JSON.stringify({ keys: [...txn.keys], preds: [...txn.preds] });
    const body = { type: "application/json", text };
    const path = `/commit?${txn.parameters}${abort ? "&abort=true" : ""}`;
    await this.#ask(path, body, false);
  }

  async #ask(path: string, { type, text: body }: Body, isRepeatable: boolean): Promise<DqlAnswer> {
    const { status, text } = await this.#http.ask({ path, type, body, isRepeatable });
    const answer = readAnswer(text, status) as DqlAnswer;
    if (answer.errors !== undefined) throw errorOf(answer.errors, status);
    const txn = answer.extensions?.txn;
    if (txn !== undefined) this.#txn?.take(txn);
    return answer;
  }
}

/** Throws a DatabaseError where an answer is no JSON: another program's, or a proxy's. */
export function readAnswer(text: string, status: number): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const message = `the answer is no JSON (status ${status}): ${text.slice(0, 200)}`;
    throw makeError("HTTP", message, { status, cause: error });
  }
}

export async function runRemoteTransaction<T>(
  http: Http,
  work: (transaction: DqlTransaction) => Promise<T>,
): Promise<T> {
  for (let tries = 1; ; tries++) {
    const session = new RemoteSession(http, true);
    try {
      const result = await work(session);
      await session.end(false);
      return result;
    } catch (error) {
      // One that was aborted already has nothing to end.
      await session.end(true).catch(() => {});
      if (!isConflict(error) || tries === triesMax) throw error;
    }
    await wait(delayOf(tries, systemRandom) / 4);
  }
}

/** Over HTTP a conflict has the code that most refusals have, and words of its own. */
function isConflict(error: unknown): boolean {
  return error instanceof Error && error.message.includes("Transaction has been aborted");
}

interface Body {
  readonly type: string;
  readonly text: string;
}

/** N-Quads travel as text, with their query around them; all else as JSON. */
function toBody({ set, delete: remove, query, condition }: DqlMutation): Body {
  const { text, variables } =
    typeof query === "object" ? query : { text: query ?? "", variables: {} };
  if (typeof set !== "string" && typeof remove !== "string") {
    const asked = text === "" ? {} : { query: text, variables };
    const body = { ...asked, cond: condition, set, delete: remove };
    return { type: "application/json", text: JSON.stringify(body) };
  }
  if (typeof set === "object" || typeof remove === "object" || Object.keys(variables).length > 0) {
    throw new TypeError(
      "N-Quads go with N-Quads, and with queries without variables: write facts as JSON",
    );
  }
  const facts = `{ ${braced("set", set)} ${braced("delete", remove)} }`;
  const upsert = `upsert { query ${text} mutation ${condition ?? ""} ${facts} }`;
  return { type: "application/rdf", text: text === "" ? facts : upsert };
}

function braced(name: "set" | "delete", facts: DqlFacts | undefined): string {
  return typeof facts === "string" ? `${name} { ${facts} }` : "";
}
