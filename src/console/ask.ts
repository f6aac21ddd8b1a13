/** Requests of the console to the server that has served it, with what the reader has given it to show. */
import { systemClock } from "../base/clock.ts";
import { readAccessHeaders } from "./access.ts";
import { RefusedByServer } from "./refused.ts";

export interface HttpAnswer {
  readonly status: number;
  readonly text: string;
  /** Undefined where the text is no JSON. */
  readonly json: unknown;
  /** From sending the request to the last byte, in milliseconds. */
  readonly ms: number;
}

interface Question {
  readonly method?: "GET" | "POST";
  readonly type?: string;
  readonly body?: string;
  readonly signal?: AbortSignal | undefined;
}

export async function send(path: string, question: Question = {}): Promise<HttpAnswer> {
  const { method = "POST", type, body, signal } = question;
  const headers = await readAccessHeaders();
  if (type !== undefined) headers["content-type"] = type;
  const begin = systemClock.tickMs();
  const response = await fetch(path, {
    method,
    headers,
    ...(body === undefined ? {} : { body }),
    ...(signal === undefined ? {} : { signal }),
  });
  const text = await response.text();
  const ms = systemClock.tickMs() - begin;
  return { status: response.status, text, json: parse(text), ms };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

interface WithErrors {
  readonly errors?: readonly {
    readonly message?: string;
    readonly extensions?: { readonly code?: string };
  }[];
  readonly data?: unknown;
}

/** What stands in the way, where the answer says so. */
export function findRefusal({ status, text, json }: HttpAnswer): RefusedByServer | undefined {
  const errors = (json as WithErrors | undefined)?.errors;
  if (errors !== undefined && errors.length > 0) {
    const message = errors.map((one) => one.message ?? "").join("\n");
    return new RefusedByServer(
      message,
      status === 401 || status === 403 || asksWho(message, errors[0]?.extensions?.code),
    );
  }
  if (status < 400) return undefined;
  return new RefusedByServer(
    text === "" ? `the server answers with status ${status}` : text,
    status === 401 || status === 403,
  );
}

/** Where users log in, and at /graphql and /admin, the status does not tell. */
function asksWho(message: string, code: string | undefined): boolean {
  return (
    code === "ErrorUnauthorized" ||
    /accessJwt|unauthori[sz]ed|unauthenticated|PermissionDenied|authtoken/i.test(message)
  );
}

/** The data of a DQL query. */
export async function askQuery<T>(query: string, signal?: AbortSignal): Promise<T> {
  return await ask<T>("query", { type: "application/dql", body: query, signal });
}

/** The data of a request to the administration. */
export async function askAdmin<T>(
  query: string,
  variables: object = {},
  signal?: AbortSignal,
): Promise<T> {
  const body = JSON.stringify({ query, variables });
  return await ask<T>("admin", { type: "application/json", body, signal });
}

async function ask<T>(path: string, question: Question): Promise<T> {
  const answer = await send(path, question);
  const refusal = findRefusal(answer);
  if (refusal !== undefined) throw refusal;
  return (answer.json as { data: T }).data;
}
