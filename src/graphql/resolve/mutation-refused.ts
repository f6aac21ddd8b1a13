import type { ResponsePath } from "../operation/errors.ts";
import type { RefusedNodes } from "./refusals.ts";

/**
 * A root mutation ends without a change. `rewrite`: its input cannot be written; `failed`: the write itself was
 * refused; `authorization`: the caller may not do it, or may not know why it cannot be done. The messages are the
 * inner ones (reference/graphql 5.9).
 */
export class MutationRefused extends Error {
  override readonly name = "MutationRefused";
  readonly stage: RefusedStage;
  readonly problems: readonly InputProblem[];
  /** What a rule was about: for who develops the schema. */
  nodes: RefusedNodes | undefined;

  constructor(stage: RefusedStage, problems: readonly InputProblem[]) {
    super(problems[0]?.text ?? "refused");
    this.stage = stage;
    this.problems = problems;
  }

  of(nodes: RefusedNodes): this {
    this.nodes = nodes;
    return this;
  }
}

export interface InputProblem {
  readonly text: string;
  readonly detail?: ProblemDetail | undefined;
}

/** What `--graphql error-details` tells of a problem beside its text, as the error's `extensions`. */
export interface ProblemDetail {
  readonly code: ErrorDetailCode;
  readonly type?: string | undefined;
  readonly field?: string | undefined;
  /** Of the field, as it was given. */
  readonly value?: string | undefined;
  /** From the arguments of the root field on. */
  readonly input?: ResponsePath | undefined;
}

type ErrorDetailCode =
  | "ID_TAKEN"
  | "ID_REPEATED"
  | "NOT_FOUND"
  | "FIELD_MISSING"
  | "REFERRED_TO"
  | "BAD_USER_INPUT"
  | "FORBIDDEN";

type RefusedStage = "rewrite" | "failed" | "authorization";

/** `reasons`: what only `--graphql debug` shows. */
export function notAuthorized(reasons: readonly string[] = []): MutationRefused {
  return new MutationRefused(
    "authorization",
    reasons.map((text) => ({ text })),
  );
}

/** Nodes of the caller's own input that a rule refuses: it may be told which. */
export function notAuthorizedFor(detail: Omit<ProblemDetail, "code">): MutationRefused {
  return new MutationRefused("authorization", [
    { text: "a rule refuses it", detail: { ...detail, code: "FORBIDDEN" } },
  ]);
}
