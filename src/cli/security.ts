import { lookup } from "node:dns/promises";
import { BlockList, isIP } from "node:net";
import { hostname } from "node:os";
import { addToWhitelist, type Security } from "../http/access.ts";
import { Fault } from "../model/fault.ts";
import { isLoopbackHost } from "./address.ts";
import type { ServeConfig } from "./config.ts";
import type { SecurityConfig } from "./security-config.ts";

/** Host names on the whitelist are looked up once, at the start. `host`: where the server listens. */
export async function makeSecurity(config: SecurityConfig, host: string): Promise<Security> {
  const whitelist = new BlockList();
  for (const entry of config.whitelist) {
    if (addToWhitelist(whitelist, entry)) continue;
    for (const address of await findAddresses(entry)) addToWhitelist(whitelist, address);
  }
  const { anonymous, token } = config;
  // By these names the machine is called on purpose: no page of elsewhere can have them.
  const names = [host, hostname()].filter((name) => isIP(name) === 0);
  const hosts = new Set([...config.hosts, ...names.map((name) => name.toLowerCase())]);
  return { anonymous, token, whitelist, hosts, origins: new Set(config.origins) };
}

async function findAddresses(name: string): Promise<string[]> {
  try {
    return (await lookup(name, { all: true })).map((found) => found.address);
  } catch (error) {
    const what = `--security: whitelist entry "${name}" is no address, range, block or known host`;
    throw new Fault("E_STARTUP", what, { cause: error });
  }
}

/** Said once, at the start: others than this machine may reach the data, and nothing is asked of them. */
export function warnOfOpenAddress(
  config: Pick<ServeConfig, "host" | "port" | "security" | "acl">,
): string | undefined {
  const { host, port, security, acl } = config;
  if (isLoopbackHost(host) || !security.anonymous || acl !== undefined) return undefined;
  return `whoever reaches ${host}:${port} may use its data without a key (--anonymous off) or a login (--acl)`;
}
