import type { RefusedNodes } from "./refusals.ts";

/**
 * A root mutation ends without a change. `rewrite`: its input cannot be written; `failed`: the write itself was
 * refused; `authorization`: the caller may not do it, or may not know why it cannot be done. The messages are the
 * inner ones (reference/graphql 5.9).
 */
export class MutationRefused extends Error {
  override readonly name = "MutationRefused";
  readonly stage: RefusedStage;
  readonly messages: readonly string[];
  /** What a rule was about. */
  readonly nodes: RefusedNodes | undefined;

  constructor(stage: RefusedStage, messages: readonly string[], nodes?: RefusedNodes) {
    super(messages[0] ?? "refused");
    this.stage = stage;
    this.messages = messages;
    this.nodes = nodes;
  }
}

type RefusedStage = "rewrite" | "failed" | "authorization";

/** `reasons`: what only `--graphql debug` shows. `nodes`: what only who develops a schema is told. */
export function notAuthorized(
  reasons: readonly string[] = [],
  nodes?: RefusedNodes,
): MutationRefused {
  return new MutationRefused("authorization", reasons, nodes);
}
