/** Requests of resolvers: they are asked of the process outside, which has the network (reference/graphql 7.4). */
import type { AskAnswer, AskCall } from "../messages.ts";

export interface AuthHeader {
  readonly key: string;
  readonly value: string;
}

/** Requests of a process that wait for their answers. */
const pendingMax = 1000;

type Told = Extract<AskAnswer, { ok: true }>;

export class Asker {
  readonly #send: (ask: number, call: AskCall) => void;
  readonly #pending = new Map<number, (answer: AskAnswer) => void>();
  #last = 0;

  readonly #bytesMax: number;

  /** `bytesMax`: of one request's body. */
  constructor(send: (ask: number, call: AskCall) => void, bytesMax: number) {
    this.#send = send;
    this.#bytesMax = bytesMax;
  }

  told(ask: number, answer: AskAnswer): void {
    this.#pending.get(ask)?.(answer);
    this.#pending.delete(ask);
  }

  #ask(call: AskCall): Promise<Told> {
    if ((call.body?.length ?? 0) + call.url.length > this.#bytesMax) {
      const text = `the request is larger than ${this.#bytesMax} bytes (--lambda-limit body-bytes)`;
      return Promise.reject(new TypeError(text));
    }
    if (this.#pending.size >= pendingMax) {
      const text = `${pendingMax} requests of this resolver are under way`;
      return Promise.reject(new TypeError(text));
    }
    const ask = ++this.#last;
    return new Promise((resolve, reject) => {
      this.#pending.set(ask, (answer) => {
        if (answer.ok) resolve(answer);
        else reject(new TypeError(answer.message));
      });
      this.#send(ask, call);
    });
  }

  /** With the caller's header unless another one is given. Rejects where there is no GraphQL answer. */
  async graphql(
    query: string,
    variables: object | undefined,
    auth: AuthHeader | undefined,
    token: string | undefined,
  ): Promise<unknown> {
    const headers: [string, string][] = [];
    if (auth?.key && auth.value) headers.push([auth.key, auth.value]);
    const body = JSON.stringify({ query, variables: variables ?? {} });
    return this.#database(
      "/graphql",
      body,
      jsonType,
      [...headers, ...tokenHeader(token)],
      "Failed to execute GraphQL Query",
    );
  }

  dqlQuery(
    query: string,
    variables: object | undefined,
    token: string | undefined,
  ): Promise<unknown> {
    const body = JSON.stringify({ query, variables: variables ?? {} });
    return this.#database(
      "/query",
      body,
      jsonType,
      tokenHeader(token),
      "Failed to execute DQL Query",
    );
  }

  dqlMutate(
    facts: string | object,
    commitNow: boolean,
    token: string | undefined,
  ): Promise<unknown> {
    const isText = typeof facts === "string";
    return this.#database(
      `/mutate?commitNow=${String(commitNow)}`,
      isText ? facts : JSON.stringify(facts),
      isText ? "application/rdf" : jsonType,
      tokenHeader(token),
      "Failed to execute DQL Mutate",
    );
  }

  dqlCommit(txn: object, token: string | undefined): Promise<unknown> {
    const { start_ts: startTs, hash } = txn as { start_ts?: number; hash?: string };
    const query = new URLSearchParams({
      startTs: String(startTs),
      ...(hash === undefined ? {} : { hash }),
    });
    return this.#database(
      `/commit?${query.toString()}`,
      JSON.stringify(txn),
      jsonType,
      tokenHeader(token),
      "Failed to commit transaction",
    );
  }

  async #database(
    url: string,
    body: string,
    type: string,
    headers: readonly (readonly [string, string])[],
    failure: string,
  ): Promise<unknown> {
    const told = await this.#ask({
      to: "database",
      url,
      method: "POST",
      headers: [["Content-Type", type], ...headers],
      body,
      isBase64: false,
    });
    if (told.status !== 200) throw new Error(failure);
    return JSON.parse(told.body) as unknown;
  }

  /** `fetch`, for the hosts on the operator's list. */
  async fetch(input: string | URL | Request, init?: RequestInit): Promise<Response> {
    const request = new Request(input, init);
    const bytes = request.body === null ? undefined : new Uint8Array(await request.arrayBuffer());
    const told = await this.#ask({
      to: "web",
      url: request.url,
      method: request.method,
      headers: [...request.headers],
      body: bytes === undefined ? undefined : toBase64(bytes),
      isBase64: true,
    });
    const { status, statusText } = told;
    const hasBody = status !== 204 && status !== 205 && status !== 304;
    const answer = new Response(hasBody ? fromBase64(told.body) : null, {
      status,
      statusText,
      headers: told.headers.map(([name, value]): [string, string] => [name, value]),
    });
    Object.defineProperty(answer, "url", { value: told.url });
    return answer;
  }
}

const jsonType = "application/json";

function tokenHeader(token: string | undefined): readonly (readonly [string, string])[] {
  return token ? [["X-Dgraph-AccessToken", token]] : [];
}

function toBase64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Buffer.from(text, "base64"));
}
