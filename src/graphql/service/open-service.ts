import type { Int64Form } from "../schema/type-shell.ts";
import type { Clock } from "../../base/clock.ts";
import { silentLogger } from "../../base/log.ts";
import type { Logger } from "../../base/log.ts";
import type { Engine } from "../../engine/engine.ts";
import type { FairScheduler } from "../../exec/fair-scheduler.ts";
import { defaultLimits } from "../../model/limits.ts";
import type { LambdaClient } from "../../lambda/client.ts";
import type { Limits } from "../../model/limits.ts";
import { defaultOutgoingLimits } from "../../outgoing/limits.ts";
import { publicPolicy } from "../../outgoing/policy.ts";
import { makeAsk, makeGetText, type GetText } from "../../outgoing/request.ts";
import type { Outgoing } from "../resolve/request-call.ts";
import type { RuleRefusal } from "../resolve/refusals.ts";
import { Webhooks } from "../resolve/webhook.ts";
import { RequestHandler } from "./handle.ts";
import type { Identify } from "./sender.ts";
import { SchemaChecks } from "./schema-check.ts";
import { SchemaStore } from "./schema-store.ts";
import type { GraphqlService, SchemaRow } from "./service.ts";
import { Subscriptions } from "./subscriptions.ts";

interface GraphqlServiceOptions {
  readonly engine: Engine;
  readonly clock: Clock;
  readonly logger?: Logger;
  readonly limits?: Limits;
  /** Where long requests of the process take turns. */
  readonly scheduler?: FairScheduler;
  /** Where `@lambda` is resolved; without it no new schema may have it. The owner closes it. */
  readonly lambda?: LambdaClient | undefined;
  /** How the key sets that schemas name are fetched; by default of public hosts alone. */
  readonly getText?: GetText | undefined;
  /** How services outside are asked that schemas name (`@custom(http:)`); by default public hosts alone. */
  readonly outgoing?: Outgoing | undefined;
  /** Who sends a request, where ACL is on. */
  readonly identify?: Identify | undefined;
  /** `--graphql introspection`; on by default. */
  readonly introspection?: boolean;
  /** `--graphql extensions`; on by default. */
  readonly extensions?: boolean;
  /** `--graphql strict-rules`; off by default. */
  readonly strictRules?: boolean;
  /** `--graphql data-check`; on by default. */
  readonly dataCheck?: boolean;
  /** `--graphql debug`; off by default. */
  readonly debug?: boolean;
  /** Whether the log explains which rule refuses a request; off by default. */
  readonly explainsRefusals?: boolean;
  /** `--graphql error-details`; off by default. */
  readonly errorDetails?: boolean;
  /** `--graphql int64`; numbers by default. */
  readonly int64?: Int64Form;
}

function webhooksOf(client: LambdaClient | undefined, logger: Logger): Webhooks | undefined {
  const warn: Logger["warn"] = (message, fields) => logger.warn(message, fields);
  return client === undefined ? undefined : new Webhooks({ client, warn });
}

/** What a schema that was set is warned of is also for the operator. */
async function warned(
  setting: Promise<SchemaRow>,
  namespace: number,
  logger: Logger,
): Promise<SchemaRow> {
  const row = await setting;
  for (const warning of row.warnings) logger.warn(warning, { namespace });
  return row;
}

/** The GraphQL service of an engine: one for a process. It holds nothing open; the engine is closed by its owner. */
export function openGraphqlService(options: GraphqlServiceOptions): GraphqlService {
  const { engine, clock } = options;
  const getText = options.getText ?? makeGetText(publicPolicy);
  const outgoing = options.outgoing ?? {
    ask: makeAsk(publicPolicy),
    limits: defaultOutgoingLimits,
  };
  const hasLambda = options.lambda !== undefined;
  const allowsRuleGaps = options.strictRules !== true;
  const allowsMisfits = options.dataCheck === false;
  const rules = { hasLambda, allowsRuleGaps, allowsMisfits };
  const int64 = options.int64 ?? "number";
  const schemas = new SchemaStore({ engine, clock, getText, outgoing, int64, ...rules });
  const { queryTimeoutMs: timeoutMs } = options.limits ?? defaultLimits;
  const checks = new SchemaChecks({ clock, outgoing, timeoutMs, hasLambda, allowsRuleGaps });
  const logger = options.logger ?? silentLogger;
  const tellRefusal = (refusal: RuleRefusal): void => logger.warn("a rule refuses", { ...refusal });
  const tellHint = (hint: string): void => logger.warn("a request is refused", { why: hint });
  const handler = new RequestHandler({
    engine,
    schemas,
    clock,
    getText,
    outgoing,
    lambda: options.lambda,
    webhooks: webhooksOf(options.lambda, logger),
    identify: options.identify,
    limits: options.limits ?? defaultLimits,
    scheduler: options.scheduler,
    introspection: options.introspection ?? true,
    extensions: options.extensions ?? true,
    debug: options.debug ?? false,
    tellRefusal: options.explainsRefusals === true ? tellRefusal : undefined,
    tellHint: options.explainsRefusals === true ? tellHint : undefined,
    errorDetails: options.errorDetails ?? false,
  });
  const subscriptions = new Subscriptions({
    engine,
    handler,
    schemas,
    identify: options.identify,
    clock,
    scheduler: options.scheduler,
    logger,
    errorDetails: options.errorDetails ?? false,
  });
  return {
    limits: options.limits ?? defaultLimits,
    handle: (request) => handler.handle(request),
    subscribe: (...asked) => subscriptions.subscribe(...asked),
    get subscriptionCounters() {
      return subscriptions.counters;
    },
    updateSchema: (namespace, sdl) => warned(schemas.update(namespace, sdl), namespace, logger),
    planSchema: (namespace, sdl) => schemas.plan(namespace, sdl),
    applySchema: (namespace, sdl, wish) =>
      warned(schemas.apply(namespace, sdl, wish), namespace, logger),
    schemaRow: (namespace) => schemas.row(namespace),
    allowedOrigins: (namespace) => schemas.allowedOrigins(namespace),
    preflight: (namespace) => schemas.preflight(namespace),
    validateSchema: (sdl, asksOthers) => checks.check(sdl, asksOthers),
    findSchemaProblems: (sdl) => checks.findProblems(sdl),
    schemaUpdateCount: (namespace) => schemas.updateCount(namespace),
  };
}
