/**
 * What this server says about itself: /health, /state and `health` of /admin. It is one node, however many processes,
 * and it plays both roles that clients look for: alpha answers requests, zero leases uids and timestamps.
 */
import {
  mayKnowBuilds,
  showNode,
  type HealthElement,
  type MembershipFacts,
} from "../admin/interface.ts";
import type { Clock } from "../base/clock.ts";
import type { Engine } from "../engine/engine.ts";
import type { VectorIndexFacts } from "../engine/open.ts";
import type { IndexProgress } from "../engine/index-builds.ts";
import type { ClusterFacts } from "../model/cluster-facts.ts";
import type { Principal } from "../model/principal.ts";
import { quoteJsonForHtml } from "./reply.ts";

export interface NodeFacts {
  /** This node as an alpha. */
  health(): Promise<NodeHealth>;
  /** Both roles: zero, then alpha. */
  healthOfAll(): Promise<readonly [HealthElement, NodeHealth]>;
  /** The membership of one node as JSON: 64-bit numbers as strings, predicates of a namespace as tablets. */
  state(namespace: number): Promise<string>;
  /** The same for /admin: numbers, and lists in place of maps. */
  membership(namespace: number): Promise<MembershipFacts>;
}

export interface NodeHealth extends HealthElement {
  readonly maxUid: number;
  readonly progress: readonly IndexProgress[];
  /** Of the process that answers. */
  readonly vectors: readonly VectorIndexFacts[];
  readonly archive?: ArchiveFacts | undefined;
  readonly cluster?: ClusterFacts | undefined;
}

/** Of the archive that a server keeps of its store. */
export interface ArchiveFacts {
  /** The newest commit that it holds; 0: not known yet. */
  readonly archivedCommit: number;
  /** ISO 8601: when it last held all that was committed before. */
  readonly lastSuccess: string | undefined;
  /** Why the last try failed; undefined: it did not. */
  readonly problem: string | undefined;
}

interface NodeParts {
  readonly engine: Engine;
  readonly clock: Clock;
  readonly version: string;
  /** Host and port on which the service listens. */
  readonly address: string;
  /** What `ee_features` of /health tells. */
  readonly features?: readonly string[];
  indexProgress(): Promise<readonly IndexProgress[]>;
  vectorIndexes(): readonly VectorIndexFacts[];
  /** undefined: there shall be none. */
  archive?(): Promise<ArchiveFacts | undefined>;
  /** undefined: this machine is alone. */
  cluster?(): Promise<ClusterFacts | undefined>;
  /** Whether what the store holds is being replaced. */
  isRestoring?(): Promise<boolean>;
  describeStore(): Promise<{
    readonly commitTs: number;
    readonly maxUid: number;
    readonly damageCount: number;
    /** Writes that add data are refused. */
    readonly isShortOfRoom: boolean;
  }>;
}

export function makeNodeFacts(parts: NodeParts): NodeFacts {
  const startedAtMs = parts.clock.nowMs();
  const facts: NodeFacts = {
    async health() {
      const { maxUid, damageCount, isShortOfRoom } = await parts.describeStore();
      const cluster = await parts.cluster?.();
      // Nothing is read of a machine that is out of service, and where nobody leads reads wait for whoever will.
      const isRead = cluster === undefined || (cluster.role !== "stopped" && cluster.leader);
      const progress = isRead ? await parts.indexProgress() : [];
      const isRestoring = isRead ? (await parts.isRestoring?.()) === true : false;
      const names = progress.map(({ namespace, predicate }) => `${namespace}-${predicate}`);
      const indexing = [...new Set(names)];
      const nowMs = parts.clock.nowMs();
      return {
        instance: "alpha",
        address: parts.address,
        status: statusOf({ damageCount, isShortOfRoom, cluster }),
        group: "1",
        version: parts.version,
        uptime: Math.floor((nowMs - startedAtMs) / 1000),
        lastEcho: Math.floor(nowMs / 1000),
        ongoing: [
          ...(indexing.length > 0 ? ["opIndexing"] : []),
          ...(isRestoring ? ["opRestore"] : []),
        ],
        indexing,
        ee_features: parts.features ?? [],
        maxUid,
        progress,
        vectors: parts.vectorIndexes(),
        archive: await parts.archive?.(),
        cluster,
      };
    },
    async healthOfAll() {
      const alpha = await facts.health();
      return [asZero(alpha), alpha];
    },
    state: (namespace) => printState(parts, namespace),
    membership: (namespace) => describeMembership(parts, namespace),
  };
  return facts;
}

/** In words of one; `healthy` alone says that all can be done here. */
function statusOf({
  damageCount,
  isShortOfRoom,
  cluster,
}: {
  readonly damageCount: number;
  readonly isShortOfRoom: boolean;
  readonly cluster: ClusterFacts | undefined;
}): string {
  if (damageCount > 0) return "damaged";
  if (cluster?.role === "stopped") return "stopped";
  if (cluster !== undefined && cluster.leader === undefined) return "leaderless";
  return isShortOfRoom ? "full" : "healthy";
}

/** Whether another machine answers what this one cannot. */
export function isOutOfService({ status, cluster }: NodeHealth): boolean {
  return cluster !== undefined && ["stopped", "leaderless", "damaged"].includes(status);
}

/** The other role of the same process; it builds no indexes. */
function asZero({ address, status, version, uptime, lastEcho }: NodeHealth): HealthElement {
  const idle = { ongoing: [], indexing: [], ee_features: [] };
  return { instance: "zero", address, status, group: "0", version, uptime, lastEcho, ...idle };
}

/** /health, as the principal may know it. */
export function printHealth(node: NodeHealth, principal: Principal): string {
  return JSON.stringify([describe(node, principal)]);
}

/** /health?all. */
export function printHealthOfAll(
  [zero, alpha]: readonly [HealthElement, NodeHealth],
  principal: Principal,
): string {
  const { instance, address, status, group, version, uptime, lastEcho } = zero;
  const plain = { instance, address, status, group, version, uptime, lastEcho };
  return JSON.stringify([plain, describe(alpha, principal)]);
}

/** Members that are empty are left out. `indexing_progress` and `vector_indexes` are this server's own. */
function describe(node: NodeHealth, principal: Principal): object {
  const shown = showNode(node, principal);
  const { ongoing, indexing, ee_features, maxUid, progress, vectors, archive, cluster, ...plain } =
    shown;
  const known = progress.filter(({ namespace }) => mayKnowBuilds(principal, namespace));
  const builds = known.map(({ namespace, predicate, index, done, total }) => ({
    predicate: `${namespace}-${predicate}`,
    index,
    done,
    total,
  }));
  const vectorIndexes = vectors
    .filter(({ namespace }) => mayKnowBuilds(principal, namespace))
    .map(({ namespace, predicate, ...facts }) => ({
      predicate: `${namespace}-${predicate}`,
      ...facts,
    }));
  const lists = {
    ongoing,
    indexing,
    indexing_progress: builds,
    vector_indexes: vectorIndexes,
    ee_features,
  };
  const filled = Object.entries(lists).filter(([, list]) => list.length > 0);
  const counter = maxUid > 0 ? { max_assigned: maxUid } : {};
  return {
    ...plain,
    ...Object.fromEntries(filled),
    ...(archive !== undefined && mayKnowBuilds(principal, 0)
      ? { backup: describeArchive(archive) }
      : {}),
    ...(cluster !== undefined && mayKnowBuilds(principal, 0)
      ? { cluster: describeCluster(cluster) }
      : {}),
    ...counter,
  };
}

function describeCluster({ node, role, leader, applied, kept, problem }: ClusterFacts): object {
  return { node, role, leader, applied, kept, problem };
}

function describeArchive({ archivedCommit, lastSuccess, problem }: ArchiveFacts): object {
  return { archived_commit: archivedCommit, last_success: lastSuccess, problem };
}

async function printState(parts: NodeParts, namespace: number): Promise<string> {
  const { commitTs, maxUid } = await parts.describeStore();
  const schema = await parts.engine.schema(namespace);
  const tablets = schema.predicates.map(({ definition }) => {
    const name = quoteJsonForHtml(`${namespace}-${definition.name}`);
    return `${name}:{"groupId":1,"predicate":${name},"force":false,"space":"0","remove":false,"readOnly":false,"moveTs":"0"}`;
  });
  const seconds = Math.floor(parts.clock.nowMs() / 1000);
  const members = await listMembers(parts);
  const list = (groupId: number): string =>
    members
      .map(
        ({ id, addr, leader, amDead }) =>
          `"${id}":{"id":"${id}","groupId":${groupId},"addr":${quoteJsonForHtml(addr)},"leader":${leader},"amDead":${amDead},"lastUpdate":"${seconds}","clusterInfoOnly":false,"forceGroupId":false}`,
      )
      .join(",");
  const group = `{"members":{${list(1)}},"tablets":{${tablets.join(",")}},"snapshotTs":"0","checksum":"0","checkpointTs":"0"}`;
  return `{"counter":"${commitTs}","groups":{"1":${group}},"zeros":{${list(0)}},"maxUID":"${maxUid}","maxTxnTs":"${commitTs}","maxNsID":"0","maxRaftId":"1","removed":[],"cid":""}`;
}

interface MemberFacts {
  readonly id: number;
  readonly addr: string;
  readonly leader: boolean;
  readonly amDead: boolean;
}

/** In the order of their names. A machine that is alone leads itself. */
async function listMembers(parts: NodeParts): Promise<readonly MemberFacts[]> {
  const facts = await parts.cluster?.();
  if (facts === undefined || facts.members.length === 0) {
    return [{ id: 1, addr: parts.address, leader: facts === undefined, amDead: false }];
  }
  return facts.members
    .toSorted((a, b) => (a.node < b.node ? -1 : 1))
    .map(({ address: addr, leads: leader, isAway: amDead }, i) => ({
      id: i + 1,
      addr,
      leader,
      amDead,
    }));
}

async function describeMembership(parts: NodeParts, namespace: number): Promise<MembershipFacts> {
  const { commitTs, maxUid } = await parts.describeStore();
  const schema = await parts.engine.schema(namespace);
  const tablets = schema.predicates.map(({ definition }) => ({
    groupId: 1,
    predicate: `${namespace}-${definition.name}`,
  }));
  const lastUpdate = Math.floor(parts.clock.nowMs() / 1000);
  const zeros = (await listMembers(parts)).map((member) => ({ ...member, lastUpdate }));
  const members = zeros.map((member) => ({ ...member, groupId: 1 }));
  return {
    counter: commitTs,
    groups: [{ id: 1, members, tablets, snapshotTs: 0, checksum: 0 }],
    zeros,
    maxUID: maxUid,
    maxNsID: 0,
    maxTxnTs: commitTs,
    maxRaftId: 1,
    removed: [],
    cid: "",
    namespaces: [namespace],
  };
}
