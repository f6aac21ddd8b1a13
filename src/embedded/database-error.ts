/** Faults of the modules below, as the package shows them. */
import { Fault } from "../model/fault.ts";
import type { DatabaseError } from "./api.ts";

class Refused extends Error implements DatabaseError {
  override readonly name = "DatabaseError";
  readonly code: string;

  constructor(code: string, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.code = code;
  }
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
