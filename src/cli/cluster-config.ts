/** `--cluster`: this server is one of several machines over one log. */
import { readFileSync } from "node:fs";
import { isLoopbackHost, parseAddress } from "./address.ts";
import { parseDurationMs } from "./duration.ts";
import { checkOwnCertificate } from "./own-certificate.ts";
import { Fault } from "../model/fault.ts";
import { readLogUrl } from "../log/log-url.ts";
import { parseCount, parseSuperflag, parseSwitch } from "./superflag.ts";

/** How new what is read has to be. */
type ReadLevel = "strict" | "quorum" | "session" | "local";

/** Plain data: it travels to the children as a message. */
export interface ClusterConfig {
  /** As `openLog` takes it. */
  readonly log: string;
  /** Which of several logs in one database. */
  readonly cell: number;
  readonly isSingle: boolean;
  /** What this machine is called. */
  readonly node: string;
  /** HOST:PORT by which the others reach it. */
  readonly address: string;
  readonly bind: { readonly host: string; readonly port: number };
  /** Files, PEM. */
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
  readonly leaseMs: number;
  readonly readWaitMs: number;
  readonly reads: ReadLevel;
  /** How long the log is kept. */
  readonly retainMs: number;
  /** From one comparison of all machines' rows to the next; 0: none. */
  readonly digestMs: number;
}

const keys = [
  "log",
  "cell",
  "unsafe-single",
  "node",
  "address",
  "bind",
  "ca",
  "cert",
  "key",
  "lease",
  "read-wait",
  "reads",
  "retain",
  "digest",
] as const;

type LogFlags = Pick<ClusterConfig, "log" | "cell" | "isSingle">;

/** undefined: one machine alone. Fault E_USAGE, one line, for what cannot be. */
export function parseCluster(text: string | undefined): ClusterConfig | undefined {
  if (text === undefined) return undefined;
  const given = parseSuperflag("cluster", text, keys);
  if (given.size === 0) {
    throw new Fault(
      "E_USAGE",
      "--cluster: it is empty; without the flag a server is alone, with it log, node, address, ca, cert and key are needed",
    );
  }
  const want = (key: (typeof keys)[number], example: string): string => {
    const value = given.get(key);
    if (value !== undefined && value !== "") return value;
    throw new Fault("E_USAGE", `--cluster: ${key} is missing, as ${key}=${example}`);
  };
  const node = want("node", "a");
  if (!/^[\w.-]{1,64}$/.test(node)) {
    throw new Fault("E_USAGE", `--cluster node: "${node}" is not made of letters, digits, - _ .`);
  }
  const address = want("address", "db1.internal:7443");
  const { host, port } = parseAddress(address, "--cluster address");
  const bindText = given.get("bind");
  const bind =
    bindText === undefined
      ? { host: isLoopbackHost(host) ? host : "0.0.0.0", port }
      : parseAddress(bindText, "--cluster bind");
  const leaseMs = parseDurationMs("--cluster lease", given.get("lease") ?? "3s");
  if (leaseMs < 300) throw new Fault("E_USAGE", "--cluster lease: 300ms at least");
  const ca = readable(want("ca", "ca.pem"), "ca");
  const cert = readable(want("cert", "a.pem"), "cert");
  const key = readable(want("key", "a.key"), "key");
  checkOwnCertificate({ ca, cert, key, host });
  return {
    ...readLogFlags(want("log", "postgres://weft@db:5432/weft"), given),
    node,
    address,
    bind,
    ca,
    cert,
    key,
    leaseMs,
    readWaitMs: parseReadWait(given.get("read-wait"), leaseMs),
    reads: parseReads(given.get("reads") ?? "strict"),
    retainMs: parseDurationMs("--cluster retain", given.get("retain") ?? "24h"),
    digestMs: parseDurationMs("--cluster digest", given.get("digest") ?? "1h"),
  };
}

/** By default so long that a reader outwaits the end of the machine that leads. */
function parseReadWait(text: string | undefined, leaseMs: number): number {
  return text === undefined ? leaseMs * 2 : parseDurationMs("--cluster read-wait", text);
}

/** Those that say which log it is: of `weft cluster` as well. */
export function readLogFlags(
  url: string,
  given: Pick<ReadonlyMap<"cell" | "unsafe-single", string>, "get">,
  flag: "--cluster " | "--" = "--cluster ",
): LogFlags {
  const log = readSecret(url, `${flag}log`);
  readLogUrl(log, `${flag}log`);
  return {
    log,
    cell: parseCount(`${flag}cell`, given.get("cell") ?? "0"),
    isSingle: parseSwitch(`${flag}unsafe-single`, given.get("unsafe-single") ?? "false"),
  };
}

/** `@FILE` keeps a password out of the list of processes. */
function readSecret(url: string, flag: string): string {
  if (!url.startsWith("@")) return url;
  try {
    return readFileSync(url.slice(1), "utf8").trim();
  } catch (error) {
    throw new Fault("E_USAGE", `${flag}: ${url.slice(1)} cannot be read`, { cause: error });
  }
}

function readable(path: string, key: string): string {
  try {
    readFileSync(path);
    return path;
  } catch (error) {
    throw new Fault("E_USAGE", `--cluster ${key}: ${path} cannot be read`, { cause: error });
  }
}

const readLevels: readonly ReadLevel[] = ["strict", "quorum", "session", "local"];

function parseReads(text: string): ReadLevel {
  const level = readLevels.find((one) => one === text);
  if (level !== undefined) return level;
  const known = readLevels.join(", ");
  throw new Fault("E_USAGE", `--cluster reads: "${text}" is none of ${known}`);
}
