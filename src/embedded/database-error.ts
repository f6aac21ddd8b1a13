/** Faults of the modules below, as the package shows them. */
import { Fault } from "../model/fault.ts";
import type { DatabaseError, GraphqlError } from "./api.ts";

class Refused extends Error implements DatabaseError {
  override readonly name = "DatabaseError";
  readonly code: string;
  readonly errors: readonly GraphqlError[] | undefined;

  constructor(code: string, message: string, errors?: readonly GraphqlError[]) {
    super(message);
    this.code = code;
    this.errors = errors;
  }
}

/** Of the errors of an answer: the first of them speaks. */
export function toAnswerError(errors: readonly GraphqlError[]): DatabaseError {
  const [first] = errors;
  const code = first?.extensions?.["code"];
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : "";
  const message = `${first?.message ?? "there is no answer"}${more}`;
  return new Refused(typeof code === "string" ? code : "Error", message, errors);
}

/** What is thrown stays as it is, but for faults. */
export async function showingFaults<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof Fault ? toDatabaseError(error) : error;
  }
}

export function toDatabaseError({ code, message }: Pick<Fault, "code" | "message">): DatabaseError {
  return new Refused(code, message.trim());
}
