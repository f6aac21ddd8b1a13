/** `--outgoing`: whom the server may ask because a schema names them. */
import { loopbackBlocks, makeBlocks, type OutgoingPolicy } from "../outgoing/policy.ts";
import { Fault } from "../model/fault.ts";
import { isLoopbackHost } from "./address.ts";
import { parseSuperflag } from "./superflag.ts";

/** Plain data: it travels to the children as a message. */
export interface OutgoingConfig {
  /** [] for every public host. */
  readonly hosts: readonly string[];
  /** Addresses and CIDR blocks that are not public. */
  readonly privateAddresses: readonly string[];
}

const keys = ["hosts", "private"] as const;

/**
 * Reads `"hosts=NAME,*.NAME; private=ADDR,CIDR"`. A server that only this machine reaches may ask this machine, as
 * development needs it; every other one asks public addresses alone, until more are named. Throws Fault E_STARTUP.
 */
export function parseOutgoing(text: string, host: string): OutgoingConfig {
  const given = parseSuperflag("outgoing", text, keys);
  const list = (key: (typeof keys)[number]): string[] | undefined =>
    given
      .get(key)
      ?.split(",")
      .map((item) => item.trim())
      .filter((item) => item !== "");
  const config: OutgoingConfig = {
    hosts: list("hosts") ?? [],
    privateAddresses: list("private") ?? (isLoopbackHost(host) ? loopbackBlocks : []),
  };
  try {
    makeBlocks(config.privateAddresses);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new Fault("E_STARTUP", `--outgoing private: ${error.message}`, { cause: error });
  }
  return config;
}

export function makeOutgoingPolicy({ hosts, privateAddresses }: OutgoingConfig): OutgoingPolicy {
  return { hosts, privateAddresses: makeBlocks(privateAddresses) };
}
