/**
 * A root mutation ends without a change. `rewrite`: its input cannot be written; `failed`: the write itself was
 * refused. The messages are the inner ones (graphql.md 5.9).
 */
export class MutationRefused extends Error {
  override readonly name = "MutationRefused";
  readonly stage: "rewrite" | "failed";
  readonly messages: readonly string[];

  constructor(stage: "rewrite" | "failed", messages: readonly string[]) {
    super(messages[0] ?? "refused");
    this.stage = stage;
    this.messages = messages;
  }
}
