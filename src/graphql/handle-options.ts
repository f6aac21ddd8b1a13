/** What requests are answered with. */
import type { Engine } from "../engine/engine.ts";
import type { LambdaClient } from "../lambda/client.ts";
import type { GetText } from "../outgoing/request.ts";
import type { RunBounds, RunSettings } from "./lower-run.ts";
import type { SchemaStore } from "./schema-store.ts";
import type { Identify } from "./sender.ts";
import type { GraphqlRequest } from "./service.ts";

export interface HandlerOptions extends RunSettings {
  readonly engine: Engine;
  readonly schemas: SchemaStore;
  /** undefined: ACL is off. */
  readonly identify: Identify | undefined;
  /** Of key sets. */
  readonly getText: GetText;
  /** undefined: started without one. */
  readonly lambda: LambdaClient | undefined;
  /** `--graphql introspection`. */
  readonly introspection: boolean;
  /** `--graphql extensions`. */
  readonly extensions: boolean;
  /** `--graphql debug`: extensions show what was run. */
  readonly debug: boolean;
}

export function boundsOf({ clock, limits }: HandlerOptions, request: GraphqlRequest): RunBounds {
  const timeout = request.timeoutMs > 0 ? request.timeoutMs : limits.queryTimeoutMs;
  const deadlineMs = timeout > 0 ? clock.tickMs() + timeout : Infinity;
  return { deadlineMs, signal: request.signal };
}
