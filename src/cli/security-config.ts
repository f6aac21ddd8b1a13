/** `--security` and `--anonymous`: who may use the data, and who may administer. */
import { Fault } from "../model/fault.ts";
import { type Address, isLoopbackHost } from "./address.ts";
import { parseSuperflag, parseSwitch } from "./superflag.ts";

/** Plain data: it travels to the children as a message. */
export interface SecurityConfig {
  /** Whether data may be used without a key. */
  readonly anonymous: boolean;
  /** Whether somebody has said so, one way or the other. */
  readonly isAnonymousSaid: boolean;
  readonly token: string | undefined;
  readonly whitelist: readonly string[];
  readonly hosts: readonly string[];
  readonly origins: readonly string[];
}

const securityKeys = ["token", "whitelist", "hosts", "origins", "anonymous"] as const;

export function parseSecurity(
  text: string,
  anonymous: string | boolean | undefined,
): SecurityConfig {
  const given = parseSuperflag("security", text, securityKeys);
  const list = (key: (typeof securityKeys)[number]): string[] =>
    (given.get(key) ?? "")
      .split(",")
      .map((item) => item.trim())
      .filter((item) => item !== "");
  const token = given.get("token");
  const said = parseAnonymous(anonymous, given.get("anonymous"));
  return {
    anonymous: said ?? true,
    isAnonymousSaid: said !== undefined,
    token: token === "" ? undefined : token,
    whitelist: list("whitelist"),
    hosts: list("hosts").map((name) => name.toLowerCase()),
    origins: list("origins").map((origin) => origin.toLowerCase().replace(/\/$/, "")),
  };
}

/** Undefined where neither of its two places says anything; they may not contradict each other. */
function parseAnonymous(
  flag: string | boolean | undefined,
  setting: string | undefined,
): boolean | undefined {
  const flagged = flag === undefined ? undefined : parseSwitch("--anonymous", String(flag));
  const set = setting === undefined ? undefined : parseSwitch("--security anonymous", setting);
  if (flagged !== undefined && set !== undefined && flagged !== set) {
    throw new Fault("E_USAGE", "--anonymous and --security anonymous contradict each other");
  }
  return flagged ?? set;
}

/**
 * Throws Fault E_USAGE for an address that others reach where nobody is asked for anything, unless that was said to be
 * meant.
 */
export function checkOpenAddress(
  { host, port }: Address,
  security: SecurityConfig,
  usersLogIn: boolean,
  flag = "--http",
): void {
  if (isLoopbackHost(host) || security.isAnonymousSaid || usersLogIn) return;
  throw new Fault(
    "E_USAGE",
    `${flag} ${host}:${port} can be reached by others, who would need no credentials: ask for keys (--anonymous off) or logins (--acl), listen on 127.0.0.1, or allow it with --anonymous on`,
  );
}
