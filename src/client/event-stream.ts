/** Subscriptions as event streams, over `fetch`: for platforms without WebSocket. */
import type { GraphqlResult, ResponseLike } from "./api.ts";
import { readRetryAfter } from "./backoff.ts";
import { errorOf, makeError } from "./database-error.ts";
import { readAnswer } from "./dql-session.ts";
import type { Http } from "./http.ts";
import type { Ending, Listen, Listener } from "./listening.ts";

/** Without a sign of life the connection is taken for lost; the server gives one every few seconds. */
const silenceMs = 60_000;

export function listenByEvents(http: Http): Listen {
  return async (body, headers, listener, signal) => {
    const control = new AbortController();
    const end = (): void => control.abort();
    signal.addEventListener("abort", end, { once: true });
    try {
      const ask = { path: "/graphql", type: "application/json", body, headers, isRepeatable: true };
      const response = await http.send({ ...ask, signal: control.signal }, "text/event-stream");
      const refused = await readRefusal(response);
      return refused ?? (await readEvents(response, listener, end));
    } catch (error) {
      if (signal.aborted) return { kind: "done" };
      if (isLost(error)) return { kind: "lost", error };
      throw error;
    } finally {
      signal.removeEventListener("abort", end);
      control.abort();
    }
  };
}

class Lost extends Error {}

function isLost(error: unknown): error is Error {
  if (error instanceof Lost) return true;
  return error instanceof Error && "code" in error && error.code === "Unreachable";
}

async function readRefusal(response: ResponseLike): Promise<Ending | undefined> {
  const { status, headers } = response;
  if (status === 200) return undefined;
  const text = await response.text();
  if (status === 429 || status >= 500) {
    const error = makeError("HTTP", `status ${status}: ${text.slice(0, 200)}`, { status });
    const askedMs = readRetryAfter(headers.get("retry-after"), 0) ?? 0;
    return { kind: "lost", error, askedMs };
  }
  const { errors } = readAnswer(text, status) as GraphqlResult<unknown>;
  throw errorOf(errors ?? [], status);
}

interface Reader {
  read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }>;
}

async function readEvents(
  response: ResponseLike,
  listener: Listener,
  end: () => void,
): Promise<Ending> {
  const reader = (response.body as { getReader(): Reader }).getReader();
  const decoder = new TextDecoder();
  let text = "";
  for (;;) {
    const timer = setTimeout(end, silenceMs);
    const part = await reader.read().then(
      (read) => read,
      (error: unknown) => {
        throw new Lost("the event stream was cut", { cause: error });
      },
    );
    clearTimeout(timer);
    if (part.done) return { kind: "lost", error: new Lost("the event stream has ended") };
    text += decoder.decode(part.value, { stream: true });
    const events = text.split("\n\n");
    text = events.pop() ?? "";
    for (const event of events) if (hear(event, listener) === "complete") return { kind: "done" };
  }
}

/** One event: its name and its data, each on a line; comments are signs of life. */
function hear(event: string, listener: Listener): string {
  let name = "";
  let data = "";
  for (const line of event.split("\n")) {
    if (line.startsWith("event:")) name = line.slice(6).trim();
    if (line.startsWith("data:")) data += line.slice(5).trimStart();
  }
  if (name === "next") {
    const result = JSON.parse(data) as GraphqlResult<unknown>;
    if (result.data === undefined && result.errors !== undefined) throw errorOf(result.errors, 200);
    listener.answer(result);
  }
  return name;
}
