/** `--outgoing`: whom the server may ask because a schema names them. */
import { defaultOutgoingLimits, type OutgoingLimits } from "../outgoing/limits.ts";
import { loopbackBlocks, makeBlocks, type OutgoingPolicy } from "../outgoing/policy.ts";
import { Fault } from "../model/fault.ts";
import { isLoopbackHost } from "./address.ts";
import { parseDurationMs } from "./duration.ts";
import { parseCount, parseSuperflag } from "./superflag.ts";

/** Plain data: it travels to the children as a message. */
export interface OutgoingConfig {
  /** [] for every public host. */
  readonly hosts: readonly string[];
  /** Addresses and CIDR blocks that are not public. */
  readonly privateAddresses: readonly string[];
  readonly limits: OutgoingLimits;
}

const listKeys = ["hosts", "private"] as const;

const counts = {
  "answer-bytes": "answerBytesMax",
  running: "runningMax",
  level: "levelMax",
  requests: "requestsMax",
} as const satisfies Record<string, keyof OutgoingLimits>;

const keys = [...listKeys, "time", "answer-bytes", "running", "level", "requests"] as const;

/**
 * Reads `"hosts=NAME,*.NAME; private=ADDR,CIDR; time=60s; answer-bytes=16MB; running=16; level=1000; requests=5000"`. A server that only this machine reaches may ask this machine, as
 * development needs it; every other one asks public addresses alone, until more are named. Throws Fault E_USAGE.
 */
export function parseOutgoing(text: string, host: string): OutgoingConfig {
  const given = parseSuperflag("outgoing", text, keys);
  const list = (key: (typeof listKeys)[number]): string[] | undefined =>
    given
      .get(key)
      ?.split(",")
      .map((item) => item.trim())
      .filter((item) => item !== "");
  const config: OutgoingConfig = {
    hosts: list("hosts") ?? [],
    privateAddresses: list("private") ?? (isLoopbackHost(host) ? loopbackBlocks : []),
    limits: readLimits(given),
  };
  try {
    makeBlocks(config.privateAddresses);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new Fault("E_USAGE", `--outgoing private: ${error.message}`, { cause: error });
  }
  return config;
}

function readLimits(given: ReadonlyMap<(typeof keys)[number], string>): OutgoingLimits {
  const limits: { -readonly [Name in keyof OutgoingLimits]: number } = {
    ...defaultOutgoingLimits,
  };
  for (const key of Object.keys(counts) as (keyof typeof counts)[]) {
    const value = given.get(key);
    if (value !== undefined) limits[counts[key]] = parseCount(`--outgoing ${key}`, value);
  }
  const time = given.get("time");
  if (time !== undefined) limits.timeoutMs = parseDurationMs("--outgoing time", time);
  if (limits.runningMax < 1) {
    throw new Fault("E_USAGE", "--outgoing running: at least 1");
  }
  return limits;
}

export function makeOutgoingPolicy({
  hosts,
  privateAddresses,
}: Omit<OutgoingConfig, "limits">): OutgoingPolicy {
  return { hosts, privateAddresses: makeBlocks(privateAddresses) };
}
