/** A login that lasts: where the access token of a long load expires it is renewed, and what was refused is asked again. */
import { Fault } from "../model/fault.ts";
import type { Answer } from "./answer.ts";
import { saysTokenExpired } from "./server-message.ts";

/** Who logs in, as `--creds` says it. */
export interface Login {
  readonly user: string;
  readonly password: string;
  readonly namespace: number;
}

/** Sends a body to /login. */
type PostLogin = (body: string) => Promise<Answer>;

interface TokenPair {
  readonly accessJWT: string;
  readonly refreshJWT: string;
}

/** A server whose new tokens have expired already is not asked for ever. */
const attemptsMax = 4;

export class Session {
  readonly #login: Login;
  readonly #post: PostLogin;
  #pair: TokenPair | undefined = undefined;
  #renewal: Promise<Answer | undefined> | undefined = undefined;

  constructor(login: Login, post: PostLogin) {
    this.#login = login;
    this.#post = post;
  }

  /**
   * What `ask` answers with an access token: asked again where the last one has expired meanwhile. Where nobody answers
   * at /login, what that said. Fault E_STARTUP where the login is refused.
   */
  async with(ask: (accessToken: string) => Promise<Answer>): Promise<Answer> {
    for (let attempt = 1; ; attempt++) {
      const pair = this.#pair;
      if (pair !== undefined) {
        const answer = await ask(pair.accessJWT);
        const isStale = answer.messages.some(saysTokenExpired);
        if (!isStale || attempt >= attemptsMax) return answer;
      }
      const failure = await this.#renew(pair);
      if (failure !== undefined) return failure;
    }
  }

  /** Once for all requests that were refused with `stale`. Undefined when there is a new pair. */
  async #renew(stale: TokenPair | undefined): Promise<Answer | undefined> {
    if (this.#pair !== stale) return undefined;
    this.#renewal ??= this.#obtain(stale).finally(() => (this.#renewal = undefined));
    return await this.#renewal;
  }

  async #obtain(stale: TokenPair | undefined): Promise<Answer | undefined> {
    const { user, password, namespace } = this.#login;
    if (stale !== undefined) {
      const answer = await this.#post(JSON.stringify({ refresh_token: stale.refreshJWT }));
      if (this.#keep(answer)) return undefined;
    }
    const answer = await this.#post(JSON.stringify({ userid: user, password, namespace }));
    if (this.#keep(answer)) return undefined;
    if (answer.status === 0 || answer.status === 503) return answer;
    const why = answer.messages[0] ?? `the server answers with status ${answer.status}`;
    throw new Fault("E_STARTUP", `login as ${user}: ${why.trim()}`);
  }

  #keep({ json }: Answer): boolean {
    const { data } = (json ?? {}) as { readonly data?: Partial<TokenPair> | null };
    const { accessJWT, refreshJWT } = data ?? {};
    if (accessJWT === undefined || refreshJWT === undefined) return false;
    this.#pair = { accessJWT, refreshJWT };
    return true;
  }
}
