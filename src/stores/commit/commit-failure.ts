/** What becomes of an error of a commit: an answer to who sent the change, or a reason to derive it again. */
import { Fault } from "../../model/fault.ts";
import { FatalEngineError } from "../key-value.ts";

/** What was sent to the log and not answered may come to pass; what waited behind it does not. */
export function toAnswer(error: unknown): unknown {
  const isTold = error instanceof FatalEngineError && error.cause instanceof Fault;
  return isTold ? error.cause : toUnavailable(error);
}

export function toUnavailable(cause: unknown): unknown {
  if (cause instanceof Fault) return cause;
  return new Fault("E_STORE_UNAVAILABLE", "the store is not available", { cause });
}
