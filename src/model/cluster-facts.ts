/** How a machine stands among the others that share its log (`--cluster`): for health, state, metrics and administrators. */

/**
 * restoring: it has no store yet, or one that is being opened. catching: it reads what it has missed. following: it
 * applies what the leader writes. campaigning: it takes the lead. leading: it writes. resigning: it gives the lead up.
 * stopped: it cannot go on, and `problem` says why.
 */
export type ClusterRole =
  "restoring" | "catching" | "following" | "campaigning" | "leading" | "resigning" | "stopped";

export interface ClusterMember {
  readonly node: string;
  /** HOST:PORT by which the other machines reach it. */
  readonly address: string;
  /** Of its processes, in start times. */
  readonly slots: readonly number[];
  readonly leads: boolean;
  /** Up to which record it has applied the log; 0 where it is away. */
  readonly applied: number;
  /** Forms of rows that it reads and writes. */
  readonly formats: readonly number[];
  /** It is not connected to the leader. */
  readonly isAway: boolean;
  /** Why it could not lead now; undefined: it could, or is away. */
  readonly problem: string | undefined;
}

export interface ClusterFacts {
  readonly node: string;
  readonly role: ClusterRole;
  readonly term: number;
  /** Up to which record this machine has applied the log. */
  readonly applied: number;
  /** Up to which it is known to be kept. */
  readonly kept: number;
  /** The form of rows in the log. */
  readonly format: number;
  /** The name of the one that leads; undefined: none is known that can be reached. */
  readonly leader: string | undefined;
  /** Those that the leader has told of. */
  readonly members: readonly ClusterMember[];
  /** Why the log cannot be read or written at the moment, or what else keeps this machine from its work. */
  readonly problem: string | undefined;
}
