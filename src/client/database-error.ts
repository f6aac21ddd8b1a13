/** What goes wrong, as the client shows it. */
import type { GraphqlError, RemoteError } from "./api.ts";

interface Told {
  readonly status?: number;
  readonly errors?: readonly GraphqlError[];
  readonly cause?: unknown;
}

class Refused extends Error implements RemoteError {
  override readonly name = "DatabaseError";
  readonly code: string;
  readonly status: number;
  readonly errors: readonly GraphqlError[];

  constructor(code: string, message: string, { status = 0, errors = [], cause }: Told) {
    super(message, cause === undefined ? {} : { cause });
    this.code = code;
    this.status = status;
    this.errors = errors;
  }
}

export function makeError(code: string, message: string, told: Told = {}): RemoteError {
  return new Refused(code, message, told);
}

/** Of the errors of an answer: the first of them speaks. */
export function errorOf(errors: readonly GraphqlError[], status: number): RemoteError {
  const [first] = errors;
  const code = first?.extensions?.["code"];
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : "";
  const message = `${first?.message ?? "the request was refused"}${more}`;
  return makeError(typeof code === "string" ? code : "Error", message, { status, errors });
}
