/** One machine of several, as its process sees it: what it is made of, and what it can be asked. */
import type { Socket } from "node:net";
import type { Clock } from "../base/clock.ts";
import type { Logger } from "../base/log.ts";
import type { ClusterFacts } from "../model/cluster-facts.ts";
import type { LogDamaged, ReplicatedLog } from "../log/replicated-log.ts";
import type { NodeStore } from "../stores/open.ts";
import type { PeerTls } from "./peer-connection.ts";

export interface NodeOptions {
  readonly log: ReplicatedLog;
  readonly node: NodeStore;
  readonly clock: Clock;
  readonly logger: Logger;
  /** What it is called among the machines. */
  readonly name: string;
  /** HOST:PORT by which the others reach it. */
  readonly address: string;
  /** Which store of it this is (`incarnation.ts`). */
  readonly incarnation: string;
  /** Forms of rows that it reads and writes; default: those of this version. */
  readonly formats?: readonly number[];
  readonly bind: { readonly host: string; readonly port: number };
  readonly tls: PeerTls;
  readonly leaseMs: number;
  /** How long a strict read waits for what it has to know. */
  readonly readWaitMs: number;
  /** How long the log is kept. */
  readonly retainMs: number;
  /** From one comparison of all machines' rows to the next; 0: none. */
  readonly digestMs: number;
  /** Whether each strict read waits for a beat of the lease, so that it trusts no clock. */
  readonly isQuorum: boolean;
  /** Where the process of a slot is reached on this machine. */
  readonly pathOf: (slot: number, isGrpc: boolean) => string;
  /** Sends all rows of this machine's store, as `sendSnapshot` does, and ends the connection. */
  readonly giveSnapshot: (socket: Socket) => void;
  /** The process has to end, and begins anew as a follower. Called once. */
  readonly onEnd: (end: NodeEnd) => void;
}

/** lost: the lead; what was under way is for the next leader to tell. resigned: the lead was given up in order. */
export type NodeEnd = "lost" | "resigned";

export interface ClusterNode {
  readonly facts: ClusterFacts;
  /**
   * Resolves when all is applied that was kept when it was called, however long that takes; when the machine goes out of
   * service; or where nobody leads for `ms`.
   */
  whenStarted(ms: number): Promise<void>;
  /** What keeps it out of service is a record of the log, behind which a snapshot would bring it. */
  readonly damage: LogDamaged | undefined;
  /** Gives the lead up; the machine has to be opened anew (`onEnd`). false: it does not lead. */
  resign(): Promise<boolean>;
  /** Of the machine that leads, in words what was done: rows get the newest form that all machines read. Fault E_CLUSTER. */
  finalize(): Promise<string>;
  /** Of the machine that leads, in words what was done: another one is none of them any more. Fault E_CLUSTER. */
  evict(node: string, isForced: boolean): Promise<string>;
  exchangeTls(tls: PeerTls): void;
  /** A process of this machine has ended. */
  checkReaders(): void;
  /** Gives the lead up, where it has it, and closes the store. The log stays open. */
  close(): Promise<void>;
}
