/** The fields about the server itself: health, state, its switches, and what a cluster of one node can answer. */
import { must } from "../base/assert.ts";
import { checkLease, type LeaseKind } from "../engine/leases.ts";
import { Fault, type FaultCode } from "../model/fault.ts";
import type { Principal } from "../model/principal.ts";
import type { Controls } from "./controls.ts";
import { type FieldTable, succeed } from "./field.ts";

/** What `health` says of a node. Times in seconds. */
export interface HealthElement {
  readonly instance: string;
  readonly address: string;
  readonly status: string;
  readonly group: string;
  readonly version: string;
  readonly uptime: number;
  readonly lastEcho: number;
  readonly ongoing: readonly string[];
  readonly indexing: readonly string[];
  readonly ee_features: readonly string[];
}

interface MoveTabletInput {
  readonly groupId: number | string;
  readonly namespace?: number | string;
  readonly tablet: string;
}

/** What `state` says: a cluster of one node, its maps as lists. */
export interface MembershipFacts {
  readonly counter: number;
  readonly groups: readonly object[];
  readonly zeros: readonly object[];
  readonly maxUID: number;
  readonly maxNsID: number;
  readonly maxTxnTs: number;
  readonly maxRaftId: number;
  readonly removed: readonly object[];
  readonly cid: string;
  readonly namespaces: readonly number[];
}

/** Names of predicates are told to guardians: each knows those of the own namespace, one of namespace 0 all. */
export function mayKnowBuilds(principal: Principal, namespace: number): boolean {
  return principal.isGuardian && (principal.namespace === 0 || principal.namespace === namespace);
}

/** As the principal may know it. */
export function showNode<Node extends HealthElement>(node: Node, principal: Principal): Node {
  const isOwn = (name: string): boolean => mayKnowBuilds(principal, Number.parseInt(name, 10));
  return { ...node, indexing: node.indexing.filter(isOwn) };
}

export interface NodeParts {
  readonly controls: Controls;
  /** The elements of `health`: one per node. */
  readonly health: () => Promise<readonly HealthElement[]>;
  /** Predicates and namespaces as the principal's namespace may know them. */
  readonly state: (namespace: number) => Promise<MembershipFacts>;
  readonly lease: (kind: LeaseKind, count: number) => Promise<number>;
}

interface ConfigInput {
  readonly cacheMb?: number | null;
  readonly logDQLRequest?: boolean | null;
}

export function makeNodeFields(parts: NodeParts): FieldTable {
  const { controls } = parts;
  return {
    "Query.health": async (_args: never, { principal }) =>
      (await parts.health()).map((node) => showNode(node, principal)),
    "Query.state": (_args: never, { principal }) => parts.state(principal.namespace),
    "Query.config": () => ({ cacheMb: controls.switches.cacheMb }),
    "Mutation.config": async ({ input }: { input: ConfigInput }) => {
      await configure(controls, input);
      return succeed("Config updated successfully");
    },
    "Mutation.draining": async ({ enable }: { enable?: boolean | null }) =>
      succeed(await setDraining(controls, enable ?? false)),
    "Mutation.shutdown": () => {
      controls.shutdown();
      return succeed(shutdownWords);
    },
    "Mutation.assign": async ({ input }: { input: { what: string; num: number | string } }) => ({
      response: await assign(parts, input.what, Number(input.num)),
    }),
    "Mutation.removeNode": ({ input }: { input: { groupId: number; nodeId: number } }) => {
      throw refuse(
        "E_CLUSTER",
        input.groupId === 1
          ? `No node with groupId 1 nodeId ${input.nodeId} can be removed: there is one node`
          : `No group with groupId ${input.groupId} found`,
      );
    },
    "Mutation.moveTablet": ({ input }: { input: MoveTabletInput }) => {
      const { groupId, namespace = 0, tablet } = input;
      throw refuse(
        "E_CLUSTER",
        Number(groupId) === 1
          ? `namespace: ${namespace}. No tablet found for: ${tablet}`
          : `group: [${groupId}] is not a known group`,
      );
    },
  };
}

export const shutdownWords = "Server is shutting down";

/** What to answer. */
export async function setDraining(controls: Controls, isDraining: boolean): Promise<string> {
  await controls.turn({ isDraining });
  return `draining mode has been set to ${isDraining}`;
}

/** Fault when a value is refused; nothing is changed then. */
export async function configure(controls: Controls, input: ConfigInput): Promise<void> {
  const { cacheMb, logDQLRequest } = input;
  if (typeof cacheMb === "number" && !(cacheMb >= 0)) {
    throw new Fault("E_CACHE_SIZE", "cache_mb must be non-negative");
  }
  await controls.turn({
    ...(typeof cacheMb === "number" ? { cacheMb } : {}),
    ...(typeof logDQLRequest === "boolean" ? { logsRequests: logDQLRequest } : {}),
  });
}

/** As the reference's Zero speaks. */
function refuse(code: FaultCode, message: string): Fault {
  return new Fault(code, `rpc error: code = Unknown desc = ${message}`);
}

const leaseKinds: Readonly<Record<string, LeaseKind>> = {
  UID: "uids",
  TIMESTAMP: "timestamps",
  NAMESPACE_ID: "namespaces",
};

async function assign(parts: NodeParts, what: string, count: number): Promise<object> {
  const kind = must(leaseKinds[what], "the schema has no other kinds");
  try {
    checkLease(kind, count);
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    throw refuse("E_LEASE", error.message);
  }
  const startId = await parts.lease(kind, count);
  return { startId, endId: startId + count - 1, readOnly: null };
}
