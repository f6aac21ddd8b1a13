/**
 * Errors of a GraphQL answer: their form, and how faults of the engine become them (reference/messages 2,
 * reference/graphql 5.1).
 */
import { faultTable, replyOf } from "../../model/fault-table.ts";
import { Fault } from "../../model/fault.ts";

export interface Location {
  readonly line: number;
  readonly column: number;
}

export type ResponsePath = readonly (string | number)[];

/** One element of `errors`. */
export interface ResponseError {
  readonly message: string;
  readonly locations?: readonly Location[];
  readonly path?: ResponsePath;
  /** Of errors that a lambda server tells: handed on as they are. */
  readonly extensions?: unknown;
}

/** The request does not run at all: `errors` without `data`. */
export class RequestRefused extends Error {
  override readonly name = "RequestRefused";
  readonly errors: readonly ResponseError[];

  constructor(errors: readonly ResponseError[]) {
    super(errors[0]?.message ?? "refused");
    this.errors = errors;
  }
}

/** One root field ends before it reaches the engine; its siblings go on. The value of the field is null. */
export class FieldRefused extends Error {
  override readonly name = "FieldRefused";
  readonly messages: readonly string[];

  constructor(messages: readonly string[]) {
    super(messages[0] ?? "refused");
    this.messages = messages;
  }
}

const hints = new WeakMap<ResponseError, string>();

/** What `--graphql error-details` tells of an error beside its message. */
export function giveHint(error: ResponseError, hint: string | undefined): ResponseError {
  if (hint !== undefined) hints.set(error, hint);
  return error;
}

export function hintOf(error: ResponseError): string | undefined {
  return hints.get(error);
}

/** With the code that `--graphql error-details` adds: what of the request is wrong, a variable's value or the document. */
export function withCode(error: ResponseError): ResponseError {
  if (error.extensions !== undefined) return error;
  const isVariable = error.path?.[0] === "variable";
  const code = isVariable ? "BAD_USER_INPUT" : "GRAPHQL_VALIDATION_FAILED";
  const hint = hintOf(error);
  return { ...error, extensions: hint === undefined ? { code } : { code, hint } };
}

export function refuseRequest(message: string, location?: Location): RequestRefused {
  return new RequestRefused([
    location === undefined ? { message } : { message, locations: [location] },
  ]);
}

/**
 * What the native endpoint would print of a fault: engine faults begin with ": ". Anything that is not a Fault is
 * ours, and goes on up.
 */
function engineMessage(error: unknown): string {
  if (!(error instanceof Fault)) throw error;
  return faultTable[error.code].phase === "engine" ? `: ${error.message}` : error.message;
}

/** A root query whose execution failed. */
export function queryFailed(error: unknown): string {
  return executionFailed(engineMessage(error));
}

export function executionFailed(reason: string): string {
  return `Dgraph query failed because Dgraph execution failed because ${reason}`;
}

/** The write of a root mutation failed. */
export function mutationFailed(name: string, error: unknown): string {
  if (!(error instanceof Fault)) throw error;
  return `mutation ${name} failed because Dgraph execution failed because ${error.message}`;
}

/** The commit of a root mutation failed. */
export function commitFailed(error: unknown): string {
  if (!(error instanceof Fault)) throw error;
  return `mutation failed, couldn't commit transaction because ${error.message}`;
}

/** The answer of a mutation could not be read; the mutation stands. */
export function payloadFailed(name: string, error: unknown): string {
  return `couldn't execute query for mutation ${name} because Dgraph execution failed because ${engineMessage(error)}`;
}

/**
 * What HTTP says of an answer with nothing but this error: nothing, or 503 where another server may have one, or this
 * one later.
 */
export function unavailability(error: unknown): {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
} {
  const { status, headers } = error instanceof Fault ? replyOf(error.code) : answered;
  if (status !== 503) return {};
  const [name, value] = headers;
  return name === undefined || value === undefined
    ? { status }
    : { status, headers: { [name]: value } };
}

const answered: ReturnType<typeof replyOf> = { status: 200, headers: [] };
