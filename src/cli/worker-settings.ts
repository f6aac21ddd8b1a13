/** Settings that a worker takes while it runs: what its requests look up in their context, each time. */
import { systemClock } from "../base/clock.ts";
import { RateLimits } from "../http/rate-limits.ts";
import type { ServerContext, WriteRules } from "../http/server-context.ts";
import type { ServeConfig } from "./config.ts";
import { divideRates } from "./rate-config.ts";
import { makeSecurity } from "./security.ts";

export interface ExchangedSettings {
  security: ServerContext["security"];
  rates?: ServerContext["rates"];
  rules: WriteRules;
}

/**
 * `config`: what the worker was started with. All its modules hold the one object of its limits, which is changed in
 * place. Buckets of rates that stay the same keep what is in them.
 */
export function makeReload(
  context: ExchangedSettings,
  config: ServeConfig,
): (next: ServeConfig) => Promise<void> {
  let rates = JSON.stringify(config.rates);
  return async (next) => {
    const security = await makeSecurity(next.security, next.host);
    Object.assign(config.limits, next.limits);
    context.security = security;
    context.rules = rulesOf(next);
    const nextRates = JSON.stringify(next.rates);
    if (nextRates === rates) return;
    rates = nextRates;
    context.rates = openRates(next);
  };
}

export function rulesOf({
  mutations,
  disallowDrop,
}: Pick<ServeConfig, "mutations" | "disallowDrop">): WriteRules {
  return { disallowMutations: mutations === "disallow", disallowDrop };
}

/** Connections are spread over the workers, so each counts for its part. */
export function openRates({
  rates,
  workers,
}: Pick<ServeConfig, "rates" | "workers">): RateLimits | undefined {
  return rates && new RateLimits(divideRates(rates, workers), systemClock);
}
