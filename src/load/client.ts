/** A server from outside: the few requests that a loader makes. */
import { Fault } from "../model/fault.ts";
import type { Answer } from "./answer.ts";
import { openFeedRequest, type FeedAnswer } from "./feed-request.ts";
import { type Login, Session } from "./login.ts";
import { saysTryAgain } from "./server-message.ts";
import { openTransport, type Received, type Sent, type Transport } from "./transport.ts";

export interface Client {
  post(path: string, contentType: string, body: string): Promise<Answer>;
  get(path: string): Promise<Answer>;
}

/** A client that reads feeds, too. */
export interface FeedClient extends Client {
  /** A GET whose answer is read as it comes. */
  open(path: string): Promise<FeedAnswer>;
}

export interface LoadRefusal {
  readonly message: string;
  /** The same request may go through later: an abort, a busy or restarting server. */
  readonly isPassing: boolean;
}

/** `repeatable`: sending again what may have been stored does no harm. */
export function findClientRefusal(answer: Answer, repeatable: boolean): LoadRefusal | undefined {
  const [message] = answer.messages;
  if (answer.status === 200 && message === undefined) return undefined;
  const text = message ?? `the server answers with status ${answer.status}`;
  if (answer.status === 0) return { message: text, isPassing: repeatable };
  return { message: text, isPassing: answer.status === 503 || saysTryAgain(text) };
}

/** What goes with every request, where the server wants it. */
export interface Credentials {
  /** The administration token. */
  readonly token: string | undefined;
  /** An Admin or a Client key. */
  readonly key: string | undefined;
  /** Of a login, where access control is on. */
  readonly accessToken?: string | undefined;
  /** Who logs in, in place of `accessToken`. */
  readonly login?: Login | undefined;
  /** Others, by lower-case names. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** Requests go out with what of `credentials` there is; who logs in does so at the first of them. */
export function makeClient(
  url: string,
  credentials: Credentials,
  transport: Transport = {},
): FeedClient {
  const base = url.replace(/\/+$/, "");
  if (!/^https?:\/\/[^/]+$/.test(base)) {
    throw new Fault("E_USAGE", `--to: "${url}" is not of the form http://HOST:PORT`);
  }
  const rights = headersOf(credentials);
  const transmit = openTransport(transport);
  const ask = async (path: string, sent: Sent): Promise<Answer> => {
    try {
      return readAnswer(await transmit(base + path, sent));
    } catch (error) {
      const cause = error instanceof Error ? error.cause : undefined;
      const code = (cause as NodeJS.ErrnoException | undefined)?.code;
      const why = code === "ECONNREFUSED" ? "nothing listens there" : (code ?? String(error));
      return makeAnswer(0, [`no answer from ${base} (${why})`], undefined);
    }
  };
  const { login } = credentials;
  const session =
    login === undefined
      ? undefined
      : new Session(login, (body) => {
          const headers = { "content-type": "application/json", ...rights };
          return ask("/login", { method: "POST", headers, body });
        });
  const send = (path: string, sent: Sent): Promise<Answer> => {
    if (session === undefined) return ask(path, sent);
    return session.with((accessToken) =>
      ask(path, { ...sent, headers: { ...sent.headers, [accessHeader]: accessToken } }),
    );
  };
  return {
    post: (path, contentType, body) =>
      send(path, { method: "POST", headers: { "content-type": contentType, ...rights }, body }),
    get: (path) => send(path, { headers: rights }),
    open: async (path) => {
      if (session === undefined) return await openFeedRequest(base + path, rights, transport);
      let opened: FeedAnswer | undefined;
      const answer = await session.with(async (accessToken) => {
        const headers = { ...rights, [accessHeader]: accessToken };
        opened = await openFeedRequest(base + path, headers, transport);
        const { status, message } = opened;
        return makeAnswer(status, status === 200 ? [] : [message], undefined);
      });
      return opened ?? refusedAnswer(answer);
    },
  };
}

/** The login itself was not answered. */
function refusedAnswer({ status, messages }: Answer): FeedAnswer {
  const message = messages[0] ?? "no answer to the login";
  return { status, message, pieces: noPieces(), close: () => {} };
}

async function* noPieces(): AsyncGenerator<string> {}

const accessHeader = "x-dgraph-accesstoken";

function headersOf(credentials: Credentials): Record<string, string> {
  const { token, key, accessToken, headers } = credentials;
  return {
    ...(token === undefined ? {} : { "x-dgraph-authtoken": token }),
    ...(key === undefined ? {} : { "x-auth-token": key }),
    ...(accessToken === undefined ? {} : { [accessHeader]: accessToken }),
    ...headers,
  };
}

function readAnswer({ status, text }: Received): Answer {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return makeAnswer(status, [text.trim().slice(0, 200)], undefined);
  }
  const { errors, extensions } = json as {
    errors?: { message: string }[];
    extensions?: { txn?: { start_ts?: number } };
  };
  const messages = (errors ?? []).map((error) => error.message);
  return { ...makeAnswer(status, messages, json), startTs: extensions?.txn?.start_ts };
}

function makeAnswer(status: number, messages: readonly string[], json: unknown): Answer {
  return { status, messages, json, startTs: undefined };
}

/** The first of `count` uids that nobody else gets. */
export async function leaseUids(client: Client, count: number): Promise<number> {
  const answer = await client.post(`/assign?what=uids&num=${count}`, "text/plain", "");
  const refusal = findClientRefusal(answer, true);
  if (refusal !== undefined) throw new Fault("E_STARTUP", refusal.message);
  return Number((answer.json as { startId: string }).startId);
}

/** Sends something that must go through, waiting for a server that is busy with an index. */
export async function postOrFail(
  client: Client,
  path: string,
  contentType: string,
  body: string,
): Promise<Answer> {
  for (let attempt = 0; ; attempt++) {
    const answer = await client.post(path, contentType, body);
    const refusal = findClientRefusal(answer, true);
    if (refusal === undefined) return answer;
    if (!refusal.isPassing || attempt >= 20) {
      throw new Fault("E_STARTUP", `${path}: ${refusal.message.trim()}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
}
