/** Faults as clients of gRPC know them: a code, and the reference's words. */
import type { Logger } from "../base/log.ts";
import type { FaultCode } from "../model/fault-table.ts";
import { Fault } from "../model/fault.ts";
import { type AccessRefusal, printEngineMessage } from "../http/interface.ts";

/** The protocol's numbers. */
export const status = {
  OK: 0,
  CANCELLED: 1,
  UNKNOWN: 2,
  INVALID_ARGUMENT: 3,
  DEADLINE_EXCEEDED: 4,
  PERMISSION_DENIED: 7,
  RESOURCE_EXHAUSTED: 8,
  ABORTED: 10,
  UNIMPLEMENTED: 12,
  INTERNAL: 13,
  UNAVAILABLE: 14,
  DATA_LOSS: 15,
  UNAUTHENTICATED: 16,
} as const;

/** What a call ends with. */
export interface CallStatus {
  readonly code: number;
  readonly details: string;
  readonly metadata?: Readonly<Record<string, string>>;
}

/** Everything else is UNKNOWN, as what the reference has no code for. */
const codes: Partial<Record<FaultCode, number>> = {
  E_TXN_ABORTED: status.ABORTED,
  E_DEADLINE: status.DEADLINE_EXCEEDED,
  E_CANCELLED: status.CANCELLED,
  E_OVERLOADED: status.RESOURCE_EXHAUSTED,
  E_LOGIN_WAIT: status.RESOURCE_EXHAUSTED,
  E_STORE_UNAVAILABLE: status.UNAVAILABLE,
  E_OUT_OF_SERVICE: status.UNAVAILABLE,
  E_NOT_CURRENT: status.UNAVAILABLE,
  E_STORE_FULL: status.RESOURCE_EXHAUSTED,
  E_STORE_CORRUPT: status.DATA_LOSS,
  E_PERMISSION: status.PERMISSION_DENIED,
  E_UNAUTHORIZED: status.PERMISSION_DENIED,
};

/** Words that carry their code over HTTP. */
const spoken = /^rpc error: code = (?<name>\w+) desc = (?<words>[^]*)$/;

const spokenCodes: Readonly<Record<string, number>> = {
  Aborted: status.ABORTED,
  Unauthenticated: status.UNAUTHENTICATED,
  PermissionDenied: status.PERMISSION_DENIED,
  InvalidArgument: status.INVALID_ARGUMENT,
  Unavailable: status.UNAVAILABLE,
  Unknown: status.UNKNOWN,
};

/** How an error is told: by which `id` the log knows it, and whether by a method that runs the engine. */
interface Telling {
  readonly id: string;
  readonly runsEngine: boolean;
}

/** Every way to fail. What is nobody's fault but ours is told by the call's id, and goes to the log. */
export function statusOf(error: unknown, logger: Logger, { id, runsEngine }: Telling): CallStatus {
  if (error instanceof CallRefusal) return error.status;
  if (!(error instanceof Fault)) {
    const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
    logger.error("a request failed inside", { id, stack });
    return {
      code: status.INTERNAL,
      details: `Internal error ${id}; the server's log has the details`,
    };
  }
  const said = spoken.exec(error.message)?.groups;
  const code = spokenCodes[said?.["name"] ?? ""] ?? codes[error.code] ?? status.UNKNOWN;
  // What has a code of its own is no fault of the run.
  const isOfRun = runsEngine && code === status.UNKNOWN;
  const words = isOfRun ? printEngineMessage(error) : error.message;
  return { code, details: said?.["words"] ?? words };
}

/** Ends a call with a status of its own. */
export class CallRefusal extends Error {
  readonly status: CallStatus;

  constructor(code: number, details: string, metadata?: CallStatus["metadata"]) {
    super(details);
    this.status = metadata === undefined ? { code, details } : { code, details, metadata };
  }
}

/** A key that is missing or wrong is another thing than one that is not enough. */
export function refuse(refusal: AccessRefusal, fault: Fault): CallRefusal {
  switch (refusal.kind) {
    case "noKey":
    case "wrongKey":
    case "expiredKey":
    case "noToken":
    case "wrongToken":
      return new CallRefusal(status.UNAUTHENTICATED, fault.message);
    case "rate":
    case "quota":
      return new CallRefusal(status.RESOURCE_EXHAUSTED, fault.message, {
        "retry-after": String(refusal.waitSeconds),
      });
    case "unrecorded":
      return new CallRefusal(status.UNAVAILABLE, fault.message);
    default:
      return new CallRefusal(status.PERMISSION_DENIED, fault.message);
  }
}
