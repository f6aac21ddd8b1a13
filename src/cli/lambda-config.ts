/** Settings of the lambda server, of `weft serve` and of `weft lambda` alike. */
import { availableParallelism } from "node:os";
import { defaultLambdaLimits } from "../lambda/limits.ts";
import type { LambdaLimits, ShownErrors } from "../lambda/limits.ts";
import { Fault } from "../model/fault.ts";
import { parseDurationMs } from "./duration.ts";
import { parseCount, parseSuperflag } from "./superflag.ts";

/** Plain data: it travels to the children as a message. */
export interface LambdaConfig {
  /** The script that is run beside the database; undefined for none. */
  readonly script: string | undefined;
  /** Another lambda server; undefined for none. */
  readonly url: string | undefined;
  readonly limits: LambdaLimits;
  /** Hosts that scripts may `fetch` from. */
  readonly hosts: readonly string[];
  /** Errors of resolvers whose messages callers are told. */
  readonly shows: ShownErrors;
}

export function buildLambdaConfig(
  script: string | undefined,
  urls: { readonly flag: string | undefined; readonly setting: string | undefined },
  settings: string,
): LambdaConfig {
  const url = urls.flag ?? urls.setting;
  if (script !== undefined && url !== undefined) {
    throw new Fault("E_USAGE", "--lambda and --lambda-url: one of them, not both");
  }
  if (url !== undefined) checkUrl(url);
  return { script, url, ...parseLambdaSettings("lambda-limit", settings) };
}

/** `$ns` in it stands for the namespace of a request. */
function checkUrl(text: string): void {
  if (/^https?:/.test(text) && URL.canParse(text.replaceAll("$ns", "0"))) return;
  throw new Fault("E_USAGE", `--lambda-url: "${text}" is not an absolute URL`);
}

const countLimits = {
  "script-bytes": "scriptBytesMax",
  memory: "memoryBytesMax",
  running: "running",
  processes: "processesMax",
  waiting: "waitingMax",
  "body-bytes": "bodyBytesMax",
} as const satisfies Record<string, keyof LambdaLimits>;

const durationLimits = {
  time: "wallMs",
  block: "blockMs",
  wait: "waitMs",
} as const satisfies Record<string, keyof LambdaLimits>;

type CountLimit = keyof typeof countLimits;
type DurationLimit = keyof typeof durationLimits;

const shownErrors: readonly ShownErrors[] = ["own", "all", "none"];

/** `"time=50s; block=5s; memory=256MB; …; fetch=HOST,HOST; errors=own"`. */
export function parseLambdaSettings(
  flag: string,
  text: string,
): Pick<LambdaConfig, "limits" | "hosts" | "shows"> {
  const counts = Object.keys(countLimits) as CountLimit[];
  const durations = Object.keys(durationLimits) as DurationLimit[];
  const given = parseSuperflag(flag, text, [...counts, ...durations, "fetch", "errors"] as const);
  const limits: { -readonly [Name in keyof LambdaLimits]: LambdaLimits[Name] } = {
    ...defaultLambdaLimits,
    running: Math.max(2, availableParallelism()),
  };
  for (const key of counts) {
    const value = given.get(key);
    if (value !== undefined) limits[countLimits[key]] = parseCount(`--${flag} ${key}`, value);
  }
  for (const key of durations) {
    const value = given.get(key);
    if (value !== undefined)
      limits[durationLimits[key]] = parseDurationMs(`--${flag} ${key}`, value);
  }
  if (limits.running < 1 || limits.processesMax < limits.running) {
    throw new Fault("E_USAGE", `--${flag}: running is at least 1, and processes at least that`);
  }
  const word = given.get("errors") ?? "own";
  const shows = shownErrors.find((one) => one === word);
  if (shows === undefined) {
    throw new Fault("E_USAGE", `--${flag} errors: own, all or none, not "${word}"`);
  }
  const hosts = (given.get("fetch") ?? "").split(",").map((host) => host.trim());
  return { limits, hosts: hosts.filter((host) => host !== ""), shows };
}
