/** `weft config`: the settings of a server, looked at without starting it. */
import type { ClusterConfig } from "./cluster-config.ts";
import { accessSync, constants, existsSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { Command } from "commander";
import { readSeal } from "../backup/seal.ts";
import { silentLogger } from "../base/log.ts";
import { Fault } from "../model/fault.ts";
import { checkStoreKey } from "../stores/encryption.ts";
import {
  buildServeConfig,
  countLimits,
  durationLimits,
  type ServeConfig,
  type ServeOptions,
} from "./config.ts";
import { readKeyFile } from "./encryption.ts";
import { complain, say, surviveLostOutput } from "./log.ts";
import { makeSecurity } from "./security.ts";
import { TlsFiles } from "./tls-files.ts";

const sources: Readonly<Record<string, string>> = {
  cli: "flag",
  env: "environment",
  config: "file",
};

/** Keys whose value nobody is shown, in any flag. */
const hidden = /^(?:token|password)$/;
const credentialsInUrl = /(?<=:\/\/)[^/@\s]+@/g;

/** A line for each setting: name, value, where it was said. Fault E_STARTUP where the settings cannot be read. */
export function runConfigPrint(command: Command): void {
  // Its reader may have enough of it before the end.
  surviveLostOutput();
  const config = buildServeConfig(command.opts<ServeOptions>());
  const rows = command.options
    .filter((option) => !option.negate && option.long !== "--config")
    .flatMap((option) => {
      const name = option.attributeName();
      const value: unknown = command.getOptionValue(name);
      const source = sources[command.getOptionValueSource(name) ?? ""] ?? "default";
      return rowsOf(option.long ?? "", value, source, config);
    });
  const nameWidth = Math.max(...rows.map(([name]) => name.length));
  const valueWidth = Math.min(40, Math.max(...rows.map(([, value]) => value.length)));
  for (const [name, value, source] of rows) {
    const line = `${name.padEnd(nameWidth)}  ${value.padEnd(valueWidth)}  ${source}`;
    process.stdout.write(`${line}\n`);
  }
}

type Row = readonly [name: string, value: string, source: string];

function rowsOf(flag: string, value: unknown, source: string, config: ServeConfig): Row[] {
  const text = typeof value === "string" || typeof value === "boolean" ? String(value) : "";
  const effective = effectiveValues(flag, config);
  if (effective.size === 0 && !/^\s*[\w-]+\s*=/.test(text)) {
    return [[flag, show("", text === "" ? "-" : text), source]];
  }
  const given = new Map<string, string>();
  for (const part of text.split(";")) {
    const equals = part.indexOf("=");
    if (equals < 0) continue;
    const key = part.slice(0, equals).trim().toLowerCase().replaceAll("_", "-");
    given.set(key, part.slice(equals + 1).trim());
  }
  const names = [...new Set([...effective.keys(), ...given.keys()])];
  return names.map((name): Row => {
    const said = given.get(name);
    const shown = show(name, said ?? effective.get(name) ?? "-");
    return [`${flag} ${name}`, shown, said === undefined ? "default" : source];
  });
}

/** Of flags that hold several settings: what each key comes to. */
function effectiveValues(flag: string, config: ServeConfig): ReadonlyMap<string, string> {
  const { limits, graphql, store, memory, mutations, disallowDrop, backup, cluster } = config;
  const text = (
    values: Readonly<Record<string, string | number | boolean | undefined>>,
  ): Map<string, string> =>
    new Map(Object.entries(values).map(([key, value]) => [key, String(value ?? "-")]));
  switch (flag) {
    case "--limit":
      return text({
        ...Object.fromEntries(Object.entries(countLimits).map(([key, to]) => [key, limits[to]])),
        ...Object.fromEntries(
          Object.entries(durationLimits).map(([key, to]) => [key, `${limits[to]}ms`]),
        ),
        mutations,
        "disallow-drop": disallowDrop,
      });
    case "--graphql":
      return text({
        introspection: graphql.introspection,
        debug: graphql.debug,
        extensions: graphql.extensions,
        "strict-rules": graphql.strictRules,
        batch: graphql.batchMax,
        "data-check": graphql.dataCheck,
        int64: graphql.int64,
        "error-details": graphql.errorDetails,
      });
    case "--store":
      return text({
        "map-bytes": store.mapBytes,
        "min-free": store.minFreeBytes,
        "log-bytes": store.logBytes,
        "log-minutes": store.logMinutes,
        "scrub-percent": store.scrubPercent,
        "scrub-hours": store.scrubHours,
      });
    case "--backup":
      return text({
        to: backup?.to,
        every: backup && `${backup.everyMs}ms`,
        full: backup && `${backup.fullMs}ms`,
        keep: backup?.keep,
        "key-file": backup?.keyFile,
      });
    case "--cluster":
      return text(cluster === undefined ? {} : clusterValues(cluster));
    case "--cache":
      return text({ "size-mb": memory.cacheMb });
    default:
      return new Map();
  }
}

function clusterValues(cluster: ClusterConfig): Record<string, string | number | boolean> {
  const { bind } = cluster;
  return {
    log: cluster.log,
    cell: cluster.cell,
    "unsafe-single": cluster.isSingle,
    node: cluster.node,
    address: cluster.address,
    bind: `${bind.host}:${bind.port}`,
    ca: cluster.ca,
    cert: cluster.cert,
    key: cluster.key,
    lease: `${cluster.leaseMs}ms`,
    reads: cluster.reads,
    "read-wait": `${cluster.readWaitMs}ms`,
    retain: `${cluster.retainMs}ms`,
    digest: `${cluster.digestMs}ms`,
  };
}

function show(key: string, value: string): string {
  return hidden.test(key) && value !== "-" ? "(hidden)" : value.replaceAll(credentialsInUrl, "…@");
}

/** Tells all that is wrong, and ends with 1 where anything is. Fault E_STARTUP where the settings cannot be read. */
export async function runConfigCheck(options: ServeOptions): Promise<void> {
  const config = buildServeConfig(options);
  const steps: readonly (() => unknown)[] = [
    () => config.tls && new TlsFiles(config.tls, silentLogger),
    () => makeSecurity(config.security, config.host),
    () => checkDirectory(config.dataDir),
    () => checkStoreKey(config.dataDir, readKeyFile(config.keyFile)),
    () => config.audit && checkWritable("--audit", dirname(config.audit.file)),
    () => checkScript(config.lambda.script),
    () => readSeal(config.backup?.keyFile),
  ];
  let faults = 0;
  for (const step of steps) {
    try {
      await step();
    } catch (error) {
      complain(error instanceof Error ? error.message : String(error));
      faults++;
    }
  }
  if (faults > 0) process.exitCode = 1;
  else say("the settings are in order");
}

function checkDirectory(dir: string): void {
  let place = resolve(dir);
  // One that is not there is made.
  while (!existsSync(place)) place = dirname(place);
  checkWritable("--data", place);
}

function checkWritable(flag: string, dir: string): void {
  if (statSync(dir, { throwIfNoEntry: false })?.isDirectory() !== true) {
    throw new Fault("E_STARTUP", `${flag}: ${dir} is not a directory`);
  }
  try {
    accessSync(dir, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch {
    throw new Fault("E_STARTUP", `${flag}: ${dir} cannot be written`);
  }
}

function checkScript(script: string | undefined): void {
  if (script === undefined) return;
  if (statSync(script, { throwIfNoEntry: false })?.isFile() !== true) {
    throw new Fault("E_USAGE", `--lambda: ${script} is not a file`);
  }
}
