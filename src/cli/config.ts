/** Flags, then WEFT_* of the environment, then `--config FILE` → one plain record that can be handed to a child process. */
import { join } from "node:path";
import { readFileSync } from "node:fs";
import type { Command } from "commander";
import { makeKeyText } from "../auth/access-key.ts";
import { Fault } from "../model/fault.ts";
import { defaultLimits, type Limits } from "../model/limits.ts";
import type { MutationsMode } from "../engine/prepare.ts";
import { readAclConfig } from "./acl-config.ts";
import type { AclConfig } from "./acl-config.ts";
import { parseAddress } from "./address.ts";
import { parseDurationMs } from "./duration.ts";
import { parseEncryption, refusePlainBackup } from "./encryption.ts";
import { type GrpcConfig, parseGrpc } from "./grpc-listening.ts";
import { parseBackup, type BackupConfig } from "./backup-config.ts";
import { parseCluster, type ClusterConfig } from "./cluster-config.ts";
import { buildLambdaConfig } from "./lambda-config.ts";
import type { LambdaConfig } from "./lambda-config.ts";
import { parseLog, type LogConfig } from "./log-config.ts";
import { parseOtel, type OtelConfig } from "./otel.ts";
import { packageFolder } from "./places.ts";
import { parseOutgoing, type OutgoingConfig } from "./outgoing.ts";
import { divideMemory, type MemoryConfig } from "./memory.ts";
import { answeringWriterMax } from "./roles.ts";
import { parseAudit } from "./audit-config.ts";
import { parseCdc, type CdcConfig } from "./cdc-config.ts";
import type { AuditConfig } from "./audit-config.ts";
import type { RateConfig } from "../http/rate-limits.ts";
import { parseRates } from "./rate-config.ts";
import { checkOpenAddress, parseSecurity } from "./security-config.ts";
import type { SecurityConfig } from "./security-config.ts";
import { parseCount, parseSuperflag, parseSwitch } from "./superflag.ts";
import { parseTls, type TlsConfig } from "./tls-config.ts";

/** Plain data: it travels to the children as a message. */
export interface ServeConfig {
  readonly dataDir: string;
  /** The file with the key of the store; undefined: it is not encrypted. */
  readonly keyFile: string | undefined;
  /** Where exports that /admin asks for lie; undefined: nowhere, since the store is encrypted and they would not be. */
  readonly exportDir: string | undefined;
  readonly host: string;
  readonly port: number;
  /** Undefined: off. */
  readonly grpc: GrpcConfig | undefined;
  /** Undefined: plain HTTP. */
  readonly tls: TlsConfig | undefined;
  readonly workers: number;
  readonly sample: boolean;
  readonly drainMs: number;
  /** Silence of a process after which it is taken to hang, and is replaced; 0: it never is. */
  readonly hangMs: number;
  readonly log: LogConfig;
  /** Who may read the metrics; off: nothing is counted. */
  readonly metrics: "admin" | "open" | "off";
  /** Whether a browser is shown the console. */
  readonly ui: boolean;
  /** Where traces and metrics are sent; undefined: nowhere. */
  readonly otel: OtelConfig | undefined;
  readonly security: SecurityConfig;
  /** Of the whole server; undefined: none. */
  readonly rates: RateConfig | undefined;
  readonly audit: AuditConfig | undefined;
  /** Where what is committed is sent, in the form of the reference; undefined: nowhere. */
  readonly cdc: CdcConfig | undefined;
  readonly graphql: GraphqlConfig;
  readonly limits: Limits;
  readonly mutations: MutationsMode;
  readonly disallowDrop: boolean;
  readonly store: StoreConfig;
  readonly memory: MemoryConfig;
  readonly lambda: LambdaConfig;
  /** Undefined: nothing is archived. */
  readonly backup: BackupConfig | undefined;
  /** Undefined: one machine alone. */
  readonly cluster: ClusterConfig | undefined;
  readonly outgoing: OutgoingConfig;
  readonly ownKeys: OwnKeys;
  /** Users, groups and rules; undefined: off. */
  readonly acl: AclConfig | undefined;
  /**
   * `weft dev`: the lambda server starts without a script, and is handed one while it runs; its console is told with
   * places; refusals of rules are explained in the log.
   */
  readonly isDevelopment: boolean;
}

/** By which this server's processes call it; made anew at each start and stored nowhere. */
export interface OwnKeys {
  /** For the sample. */
  readonly admin: string;
  /** For resolvers that run beside the database. */
  readonly client: string;
}

interface GraphqlConfig {
  readonly introspection: boolean;
  readonly debug: boolean;
  readonly extensions: boolean;
  readonly strictRules: boolean;
  readonly dataCheck: boolean;
  /** Operations of one request; 0: a list of them is refused. */
  readonly batchMax: number;
  /** What an Int64 is in answers. */
  readonly int64: "number" | "text";
  /** Whether errors say in `extensions` what is wrong and where. */
  readonly errorDetails: boolean;
}

interface StoreConfig {
  /** LMDB's map limit; undefined for the store's own default. */
  readonly mapBytes: number | undefined;
  /** Left free on the disk; undefined for the store's own default. */
  readonly minFreeBytes: number | undefined;
  /** How much of the log is kept. */
  readonly logBytes: number;
  readonly logMinutes: number;
  /** Percent of a core's time that verifying all rows in the background may take; 0: it is off. */
  readonly scrubPercent: number;
  /** From one pass to the next. */
  readonly scrubHours: number;
}

/** The options of `weft serve` as commander hands them over. */
export interface ServeOptions {
  readonly data: string;
  readonly encryption: string;
  readonly export: string | undefined;
  readonly http: string;
  /** `--no-grpc` is false. */
  readonly grpc: string | boolean | undefined;
  readonly tls: string;
  readonly workers: string;
  readonly sample: boolean;
  readonly graphql: string;
  readonly security: string;
  /** `--no-anonymous`, and `false` in a settings file, are false. */
  readonly anonymous: string | boolean | undefined;
  readonly rate: string;
  readonly audit: string;
  readonly cdc: string;
  readonly acl: string;
  readonly limit: string;
  readonly store: string;
  readonly cache: string;
  readonly memory: string | undefined;
  readonly lambda: string | undefined;
  readonly lambdaUrl: string | undefined;
  readonly lambdaLimit: string;
  readonly backup: string;
  readonly cluster?: string;
  readonly outgoing: string;
  readonly drain: string;
  readonly hang: string;
  readonly log: string;
  readonly metrics: string;
  /** `--no-ui`, and `false` in a settings file, are false. */
  readonly ui: string | boolean;
  readonly otel: string;
}

export function buildServeConfig(options: ServeOptions): ServeConfig {
  const { host, port } = parseAddress(options.http);
  const keyFile = parseEncryption(options.encryption);
  const backup = parseBackup(options.backup);
  if (backup !== undefined) {
    refusePlainBackup(keyFile !== undefined, backup.keyFile !== undefined, "--backup key-file");
  }
  const cluster = parseCluster(options.cluster);
  const workers = parseCount("--workers", options.workers);
  if (workers < 1 || workers > workersMax) {
    throw new Fault("E_USAGE", `--workers: from 1 to ${workersMax}, not ${workers}`);
  }
  const lambda = buildLambdaConfig(
    options.lambda ?? findSampleScript(options),
    { flag: options.lambdaUrl, setting: parseLambdaUrl(options.graphql) },
    options.lambdaLimit,
  );
  const security = parseSecurity(options.security, options.anonymous);
  const acl = readAclConfig(options.acl);
  const grpc = parseGrpc(options.grpc);
  checkOpenAddress({ host, port }, security, acl !== undefined);
  if (grpc?.address !== undefined) {
    checkOpenAddress(grpc.address, security, acl !== undefined, "--grpc");
  }
  return {
    dataDir: options.data,
    keyFile,
    exportDir: options.export ?? (keyFile === undefined ? join(options.data, "export") : undefined),
    host,
    port,
    grpc,
    tls: parseTls(options.tls),
    workers,
    sample: options.sample,
    drainMs: parseDurationMs("--drain", options.drain),
    hangMs: parseDurationMs("--hang", options.hang),
    log: parseLog(options.log, process.stderr.isTTY),
    metrics: parseMetrics(options.metrics),
    ui: parseSwitch("--ui", String(options.ui)),
    otel: parseOtel(options.otel),
    security,
    rates: parseRates(options.rate),
    audit: parseAudit(options.audit),
    cdc: parseCdc(options.cdc),
    graphql: parseGraphql(options.graphql),
    ...parseLimits(options.limit),
    store: parseStore(options.store),
    memory: divideMemory(options.memory, {
      workers,
      hasWriter: workers > answeringWriterMax || cluster !== undefined,
      lambdaBytes:
        lambda.script === undefined ? 0 : lambda.limits.memoryBytesMax * lambda.limits.running,
      hasArchive: options.backup !== "",
      cacheMb: parseCache(options.cache),
    }),
    lambda,
    backup,
    cluster,
    outgoing: parseOutgoing(options.outgoing, host),
    acl,
    isDevelopment: false,
    ownKeys: { admin: makeKeyText("admin"), client: makeKeyText("client") },
  };
}

function parseMetrics(word: string): ServeConfig["metrics"] {
  if (word === "admin" || word === "open" || word === "off") return word;
  throw new Fault("E_USAGE", `--metrics: admin, open or off, not "${word}"`);
}

/** The sample brings resolvers of its own, where no others are given. */
function findSampleScript(options: ServeOptions): string | undefined {
  const isGiven = (options.lambdaUrl ?? parseLambdaUrl(options.graphql)) !== undefined;
  if (!options.sample || isGiven) return undefined;
  return join(packageFolder, "sample", "resolvers.js");
}

/** Start times name their process with 4 bits; some are left for children that follow one another. */
const workersMax = 12;

const graphqlKeys = [
  "introspection",
  "debug",
  "extensions",
  "strict-rules",
  "data-check",
  "batch",
  "int64",
  "error-details",
  "poll-interval",
  "lambda-url",
] as const;

function parseGraphql(text: string): GraphqlConfig {
  const given = parseSuperflag("graphql", text, graphqlKeys);
  const isOn = (key: (typeof graphqlKeys)[number], otherwise: boolean): boolean => {
    const value = given.get(key);
    return value === undefined ? otherwise : parseSwitch(`--graphql ${key}`, value);
  };
  // Subscriptions follow the commits: there is no interval, but a command line that names one works.
  const interval = given.get("poll-interval") ?? "";
  if (interval !== "") parseDurationMs("--graphql poll-interval", interval);
  return {
    introspection: isOn("introspection", true),
    debug: isOn("debug", false),
    extensions: isOn("extensions", true),
    strictRules: isOn("strict-rules", false),
    dataCheck: isOn("data-check", true),
    batchMax: parseCount("--graphql batch", given.get("batch") ?? "0"),
    int64: parseInt64Form(given.get("int64") ?? "number"),
    errorDetails: isOn("error-details", false),
  };
}

function parseInt64Form(text: string): GraphqlConfig["int64"] {
  if (text === "number" || text === "text") return text;
  throw new Fault("E_USAGE", `--graphql int64: "${text}" is neither number nor text`);
}

function parseLambdaUrl(text: string): string | undefined {
  const url = parseSuperflag("graphql", text, graphqlKeys).get("lambda-url");
  return url === "" ? undefined : url;
}

/** Key of `--limit` → the bound that it moves. */
export const countLimits = {
  "mutations-nquad": "mutationNquadMax",
  "query-edge": "queryEdgeMax",
  "query-work": "queryWorkMax",
  "query-cost": "queryCostMax",
  "query-memory": "queryMemoryMax",
  "query-path": "queryPathMax",
  "regexp-characters": "regexpCharactersMax",
  "password-checks": "passwordChecksMax",
  "normalize-node": "normalizeNodeMax",
  "max-pending-queries": "pendingMax",
  "body-bytes": "bodyBytesMax",
  "text-bytes": "textBytesMax",
  "body-rate": "bodyRateMin",
  "result-bytes": "resultBytesMax",
  depth: "depthMax",
  "document-fields": "documentFieldsMax",
  "document-roots": "documentRootsMax",
  "document-tokens": "documentTokensMax",
  "filter-conditions": "filterConditionsMax",
  "txn-open": "txnOpenMax",
  sockets: "socketsMax",
  "reserved-streams": "reservedStreamsMax",
  "grpc-connections": "grpcConnectionsMax",
  "socket-subscriptions": "socketSubscriptionsMax",
  "socket-buffer": "socketBufferBytesMax",
  "socket-message": "socketMessageBytesMax",
  feeds: "feedsMax",
  "feed-names": "feedNamesMax",
  "vector-bytes": "vectorBytesMax",
} as const satisfies Record<string, keyof Limits>;

export const durationLimits = {
  "query-timeout": "queryTimeoutMs",
  "body-window": "bodyWindowMs",
  "answer-wait": "answerWaitMs",
  "txn-abort-after": "txnAbortAfterMs",
  "socket-init": "socketInitMs",
  "keep-alive": "keepAliveMs",
} as const satisfies Record<string, keyof Limits>;

type CountLimit = keyof typeof countLimits;
type DurationLimit = keyof typeof durationLimits;

const modes: readonly MutationsMode[] = ["allow", "disallow", "strict"];

function parseLimits(text: string): Pick<ServeConfig, "limits" | "mutations" | "disallowDrop"> {
  const counts = Object.keys(countLimits) as CountLimit[];
  const durations = Object.keys(durationLimits) as DurationLimit[];
  const known = [...counts, ...durations, "mutations", "disallow-drop"] as const;
  const given = parseSuperflag("limit", text, known);
  const limits: { -readonly [Name in keyof Limits]: Limits[Name] } = { ...defaultLimits };
  for (const key of counts) {
    const value = given.get(key);
    if (value !== undefined) limits[countLimits[key]] = parseCount(`--limit ${key}`, value);
  }
  for (const key of durations) {
    const value = given.get(key);
    if (value !== undefined) limits[durationLimits[key]] = parseDurationMs(`--limit ${key}`, value);
  }
  const word = given.get("mutations") ?? "allow";
  const mutations = modes.find((mode) => mode === word);
  if (mutations === undefined) {
    throw new Fault("E_USAGE", `--limit mutations: one of ${modes.join(", ")}, not "${word}"`);
  }
  const disallowDrop = parseSwitch("--limit disallow-drop", given.get("disallow-drop") ?? "false");
  return { limits, mutations, disallowDrop };
}

const storeKeys = [
  "map-bytes",
  "min-free",
  "log-bytes",
  "log-minutes",
  "scrub-percent",
  "scrub-hours",
] as const;

function parseStore(text: string): StoreConfig {
  const given = parseSuperflag("store", text, storeKeys);
  const count = (key: (typeof storeKeys)[number]): number | undefined => {
    const value = given.get(key);
    return value === undefined ? undefined : parseCount(`--store ${key}`, value);
  };
  return {
    mapBytes: count("map-bytes"),
    minFreeBytes: count("min-free"),
    logBytes: count("log-bytes") ?? 64 * 1024 * 1024,
    logMinutes: count("log-minutes") ?? 10,
    scrubPercent: Math.min(count("scrub-percent") ?? 2, 100),
    scrubHours: count("scrub-hours") ?? 24,
  };
}

/** In every process that reads the file: each tells what it finds. */
export function scrubOf({ scrubPercent, scrubHours }: StoreConfig): {
  readonly percent: number;
  readonly everyMs: number;
} {
  return { percent: scrubPercent, everyMs: scrubHours * 3_600_000 };
}

function parseCache(text: string): number | undefined {
  const size = parseSuperflag("cache", text, ["size-mb"]).get("size-mb");
  if (size === undefined) return undefined;
  if (/^\d{1,9}$/.test(size)) return Number(size);
  throw new Fault("E_USAGE", `--cache size-mb: "${size}" is not a number of mebibytes (as 256)`);
}

/**
 * Fills in what neither flags nor environment said from a JSON file: members are named as the flags are, and grouped
 * settings may be objects.
 */
export function applyConfigFile(command: Command): void {
  const file: unknown = command.getOptionValue("config");
  if (typeof file !== "string") return;
  for (const [name, value] of Object.entries(readConfigFile(file))) {
    const option = command.options.find((one) => one.long === `--${name}`);
    if (option === undefined || name === "config") {
      throw new Fault("E_USAGE", `${file}: there is no setting "${name}"`);
    }
    const key = option.attributeName();
    const source = command.getOptionValueSource(key);
    if (source !== undefined && source !== "default") continue;
    command.setOptionValueWithSource(key, toOptionValue(file, name, value), "config");
  }
}

function readConfigFile(file: string): object {
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(file, "utf8"));
  } catch (error) {
    const why = error instanceof SyntaxError ? `no JSON (${error.message})` : "it cannot be read";
    throw new Fault("E_USAGE", `--config ${file}: ${why}`, { cause: error });
  }
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
  throw new Fault("E_USAGE", `--config ${file}: not an object`);
}

function toOptionValue(file: string, name: string, value: unknown): string | boolean {
  if (typeof value === "string" || typeof value === "boolean") return value;
  if (typeof value === "number") return String(value);
  if (typeof value === "object" && value !== null && !Array.isArray(value)) {
    return Object.entries(value)
      .map(([key, item]) => `${key}=${String(item)}`)
      .join("; ");
  }
  throw new Fault("E_USAGE", `${file}: "${name}" has a value that no flag takes`);
}
