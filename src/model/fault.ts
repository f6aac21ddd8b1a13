/**
 * Every way in which a request can end because of its sender: one table, translated to an answer in exactly two
 * places (`http/reply.ts`, `graphql/errors.ts`). Codes are never reused. Messages are the reference's where it has
 * one (reference/dql 6, reference/messages 3), so most codes carry their sentence from the place that throws.
 */
export const faultTable = {
  /** Text that does not parse: no ": " before the message. */
  E_DQL_SYNTAX: { phase: "parser", extension: "ErrorInvalidRequest" },
  E_RDF_SYNTAX: { phase: "parser", extension: "ErrorInvalidRequest" },
  E_JSON_FACTS: { phase: "parser", extension: "ErrorInvalidRequest" },
  E_SCHEMA_SYNTAX: { phase: "parser", extension: "Error" },
  /** Raised while planning or executing a query: ": " before the message on the native endpoints. */
  E_QUERY: { phase: "engine", extension: "ErrorInvalidRequest" },
  E_MUTATION: { phase: "parser", extension: "ErrorInvalidRequest" },
  /** Facts that the schema refuses, told only when they are applied. */
  E_MUTATION_FACTS: { phase: "parser", extension: "ErrorInvalidRequest" },
  E_MUTATION_ENGINE: { phase: "engine", extension: "ErrorInvalidRequest" },
  /** The frame of a mutation (blocks, JSON envelope) does not parse: the native answer then has no `data` member. */
  E_MUTATION_FRAME: { phase: "parser", extension: "ErrorInvalidRequest" },
  E_ALTER: { phase: "parser", extension: "Error" },
  /** Parameters, headers and bodies of HTTP requests. */
  E_HTTP_REQUEST: { phase: "parser", extension: "ErrorInvalidRequest" },
  E_HTTP_METHOD: { phase: "parser", extension: "ErrorInvalidMethod" },
  E_HTTP_ERROR: { phase: "parser", extension: "Error" },
  /** Who sends is not known, or may not do it (access control by users, groups and rules). */
  E_PERMISSION: { phase: "parser", extension: "ErrorInvalidRequest" },
  E_UNAUTHORIZED: { phase: "parser", extension: "ErrorUnauthorized" },
  /** Logins have failed too often: the message says how long to wait. */
  E_LOGIN_WAIT: { phase: "parser", extension: "ErrorInvalidRequest" },
  E_TXN_ABORTED: { phase: "parser", extension: "ErrorInvalidRequest" },
  E_TXN: { phase: "parser", extension: "ErrorInvalidRequest" },
  E_DEADLINE: { phase: "engine", extension: "ErrorInvalidRequest" },
  E_CANCELLED: { phase: "engine", extension: "ErrorInvalidRequest" },
  /** A bound of `model/limits.ts` was passed; the message names it. */
  E_LIMIT: { phase: "engine", extension: "ErrorInvalidRequest" },
  E_OVERLOADED: { phase: "parser", extension: "ErrorInvalidRequest" },
  E_STORE_FULL: { phase: "parser", extension: "Error" },
  E_STORE_CORRUPT: { phase: "parser", extension: "Error" },
  E_STORE_UNAVAILABLE: { phase: "parser", extension: "Error" },
  E_OUTCOME_UNKNOWN: { phase: "parser", extension: "Error" },
  E_GRAPHQL_SCHEMA: { phase: "parser", extension: "Error" },
  E_GRAPHQL_REQUEST: { phase: "parser", extension: "Error" },
  E_GRAPHQL_FIELD: { phase: "parser", extension: "Error" },
  E_NOT_YET: { phase: "parser", extension: "Error" },
  /** The start-up of a process: one clear line, exit code 1. */
  E_STARTUP: { phase: "parser", extension: "Error" },
} as const satisfies Record<string, FaultSpec>;

interface FaultSpec {
  /** "engine": the native endpoints print ": " before the message and `data: null` behind the errors. */
  readonly phase: "parser" | "engine";
  /** The reference's `extensions.code`. */
  readonly extension:
    "Error" | "ErrorInvalidRequest" | "ErrorInvalidMethod" | "ErrorUnauthorized" | "ErrorNoData";
}

export type FaultCode = keyof typeof faultTable;

/** Ends the request; its sender must act. Known by its code, never by its message. */
export class Fault extends Error {
  override readonly name = "Fault";
  readonly code: FaultCode;

  constructor(code: FaultCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.code = code;
  }
}
