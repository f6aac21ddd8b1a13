/** SIGHUP: which settings a running server takes, and which wait for its next start. */
import type { Limits } from "../model/limits.ts";
import { type ServeConfig, countLimits, durationLimits } from "./config.ts";

interface Reload {
  /** To be told to all processes: as before, but for what a running server takes. */
  readonly config: ServeConfig;
  /** Names of flags, with the key where a flag holds several settings. */
  readonly taken: readonly string[];
  readonly waiting: readonly string[];
}

const live: Partial<Record<keyof ServeConfig, string>> = {
  security: "--security",
  rates: "--rate",
  drainMs: "--drain",
  disallowDrop: "--limit disallow-drop",
};

const waits: Partial<Record<keyof ServeConfig, string>> = {
  dataDir: "--data",
  keyFile: "--encryption",
  host: "--http",
  port: "--http",
  tls: "--tls",
  workers: "--workers",
  sample: "--sample",
  hangMs: "--hang",
  audit: "--audit",
  cdc: "--cdc",
  graphql: "--graphql",
  mutations: "--limit mutations",
  store: "--store",
  lambda: "--lambda",
  backup: "--backup",
  cluster: "--cluster",
  outgoing: "--outgoing",
  metrics: "--metrics",
  ui: "--ui",
  otel: "--otel",
  acl: "--acl",
};

/** Read once, when a process begins: sizes of tables, clocks of sweeps. */
const fixedLimits: ReadonlySet<keyof Limits> = new Set([
  "socketsMax",
  "feedsMax",
  "grpcConnectionsMax",
  "keepAliveMs",
  "bodyRateMin",
  "bodyWindowMs",
  "answerWaitMs",
  "socketMessageBytesMax",
  "vectorBytesMax",
]);

/** `running`: what the processes have; `next`: what a start would have now. */
export function planReload(running: ServeConfig, next: ServeConfig): Reload {
  const isChanged = (name: keyof ServeConfig): boolean =>
    JSON.stringify(running[name]) !== JSON.stringify(next[name]);
  const changed = (names: Partial<Record<keyof ServeConfig, string>>): string[] =>
    Object.entries(names)
      .filter(([name]) => isChanged(name as keyof ServeConfig))
      .map(([, flag]) => flag);
  const limits = divideLimits(running.limits, next.limits);
  const cacheMb = next.memory.cacheMb;
  const cache = cacheMb === running.memory.cacheMb ? [] : ["--cache"];
  const memory = next.memory.totalBytes === running.memory.totalBytes ? [] : ["--memory"];
  const logLevel = next.log.level === running.log.level ? [] : ["--log"];
  const { level: _level, ...logParts } = next.log;
  const isLogFixed =
    JSON.stringify({ ...running.log, ...logParts }) === JSON.stringify(running.log);
  const logRest = isLogFixed ? [] : ["--log (all but its level)"];
  const config = {
    ...running,
    log: { ...running.log, level: next.log.level },
    security: next.security,
    rates: next.rates,
    drainMs: next.drainMs,
    disallowDrop: next.disallowDrop,
    limits: limits.config,
    memory: { ...running.memory, cacheMb },
  };
  return {
    config,
    taken: [...logLevel, ...changed(live), ...limits.taken, ...cache],
    waiting: [...new Set([...changed(waits), ...limits.waiting, ...memory, ...logRest])],
  };
}

function divideLimits(
  running: Limits,
  next: Limits,
): { readonly config: Limits; readonly taken: string[]; readonly waiting: string[] } {
  const config: { -readonly [Name in keyof Limits]: Limits[Name] } = { ...running };
  const taken: string[] = [];
  const waiting: string[] = [];
  for (const [key, name] of Object.entries({ ...countLimits, ...durationLimits })) {
    if (running[name] === next[name]) continue;
    if (fixedLimits.has(name)) waiting.push(`--limit ${key}`);
    else {
      config[name] = next[name];
      taken.push(`--limit ${key}`);
    }
  }
  return { config, taken, waiting };
}

export function describeReload({ taken, waiting }: Reload): string {
  if (taken.length + waiting.length === 0) return "SIGHUP: no setting has changed";
  const now = taken.length === 0 ? "nothing changes now" : `changed ${taken.join(", ")}`;
  const later = waiting.length === 0 ? "" : `; needs a restart: ${waiting.join(", ")}`;
  return `SIGHUP: ${now}${later}`;
}
