/** What one resolver may use, and how many run at once. All of it can be set (docs/lambda.md). */

export interface LambdaLimits {
  /** A compiled script that is larger is refused (reference/graphql 7.6). */
  readonly scriptBytesMax: number;
  /** From the start of a resolver to its end, waiting included. */
  readonly wallMs: number;
  /** A resolver that keeps its process busy this long without a pause is ended. */
  readonly blockMs: number;
  /** Resident memory of a process, measured from outside. */
  readonly memoryBytesMax: number;
  /** Resolvers that compute at the same time; those that wait for an answer of the database do not count. */
  readonly running: number;
  /** Processes at most, those that wait included. */
  readonly processesMax: number;
  /** Time that a call may wait for a free process. */
  readonly waitMs: number;
  /** Calls that may wait; more are refused. */
  readonly waitingMax: number;
  /** Of one call's body, of one answer, and of one answer that a resolver fetches. */
  readonly bodyBytesMax: number;
}

/**
 * Errors of resolvers whose messages callers are told. own: those that a script makes (`new Error`, its own classes,
 * whatever has `extensions`), not those of the language, which are mistakes of its author's. none: as the reference,
 * a status.
 */
export type ShownErrors = "own" | "all" | "none";

/** How scripts are run. */
export interface ScriptOptions {
  readonly shows: ShownErrors;
  /** For who develops them: the log has the place of each line of the console, and the source line of an error. */
  readonly tracesConsole: boolean;
}

/** `running` is best the number of cores. */
export const defaultLambdaLimits: LambdaLimits = {
  scriptBytesMax: 500 * 1024,
  wallMs: 50_000,
  blockMs: 5_000,
  memoryBytesMax: 256 * 1024 * 1024,
  running: 2,
  processesMax: 16,
  waitMs: 50_000,
  waitingMax: 10_000,
  bodyBytesMax: 32 * 1024 * 1024,
};
