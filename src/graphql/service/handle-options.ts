/** What requests are answered with. */
import type { Engine } from "../../engine/engine.ts";
import type { LambdaClient } from "../../lambda/client.ts";
import type { GetText } from "../../outgoing/request.ts";
import type { TellRefusal } from "../resolve/refusals.ts";
import type { Outgoing } from "../resolve/request-call.ts";
import type { Webhooks } from "../resolve/webhook.ts";
import type { RunSettings } from "../resolve/lower-run.ts";
import type { SchemaStore } from "./schema-store.ts";
import type { Identify } from "./sender.ts";

export interface HandlerOptions extends RunSettings {
  readonly engine: Engine;
  readonly schemas: SchemaStore;
  /** undefined: ACL is off. */
  readonly identify: Identify | undefined;
  /** Of key sets. */
  readonly getText: GetText;
  /** Of `@custom(http:)`. */
  readonly outgoing: Outgoing;
  /** undefined: started without one. */
  readonly lambda: LambdaClient | undefined;
  /** Of `@lambdaOnMutate`; undefined: there is nobody to tell. */
  readonly webhooks: Webhooks | undefined;
  /** `--graphql introspection`. */
  readonly introspection: boolean;
  /** `--graphql extensions`. */
  readonly extensions: boolean;
  /** `--graphql debug`: extensions show what was run. */
  readonly debug: boolean;
  /** Is told which rule refuses a request, and why: for who develops the schema. */
  readonly tellRefusal?: TellRefusal | undefined;
  /** Is told what a message does not say of a request that is refused: for who develops the client. */
  readonly tellHint?: ((hint: string) => void) | undefined;
  /** `--graphql error-details`: errors say in `extensions` what is wrong, and where. */
  readonly errorDetails: boolean;
}
