/** What keeps a machine from its work, and in which words it is told. */
import type { Clock } from "../base/clock.ts";
import { Fault } from "../model/fault.ts";
import {
  LogDamaged,
  LogTrimmed,
  LogUnavailable,
  LogUnknown,
  type Lease,
  type ReplicatedLog,
} from "../log/replicated-log.ts";

/** For how long an append whose outcome is not known is sent again before the lead is given up. */
const appendWaitMs = 10_000;

export function makeAppendPause(clock: Clock): (tries: number) => Promise<boolean> {
  let sinceMs = 0;
  return async (tries) => {
    if (tries === 1) sinceMs = clock.tickMs();
    if (clock.tickMs() - sinceMs > appendWaitMs) return false;
    await new Promise((resolve) => setTimeout(resolve, Math.min(20 * tries, 500)));
    return true;
  };
}

/** It goes on when the log, or the disk, does. */
export function isPassing(error: unknown): error is Error {
  if (error instanceof LogUnavailable || error instanceof LogUnknown) return true;
  return error instanceof Fault && error.code === "E_STORE_FULL";
}

/** Why a machine goes out of service that has applied the log up to `applied`. */
export function explainEnd(
  error: unknown,
  applied: number,
  log: Pick<ReplicatedLog, "placeOf">,
): string {
  const helped = "started again, this machine is given a snapshot by one that leads";
  if (error instanceof LogTrimmed) {
    return `it has applied the log up to record ${applied}, and the log begins at ${error.first}; ${helped}`;
  }
  if (error instanceof LogDamaged) {
    return `${error.message} (${log.placeOf(error.seq)}); ${helped} and has applied it`;
  }
  return error instanceof Error ? error.message : String(error);
}

/** `isPair`: there are two machines, of which either may be the one that is wrong. */
export function explainDifference(seq: number, isPair: boolean): string {
  const words = `its rows are not the leader's at record ${seq} of the log`;
  return isPair
    ? `${words}; of two machines nobody can know whose are right: look before its directory is removed`
    : words;
}

interface WaitFacts {
  /** Of this machine. */
  readonly name: string;
  readonly leads: boolean;
  /** Whether the one that leads is reached. */
  readonly isConnected: boolean;
  readonly seen: Lease | undefined;
}

/** Why a read waits. `seq`: what this machine has not applied yet; undefined: that could not be asked. */
export function explainWait(
  seq: number | undefined,
  { name, leads, isConnected, seen }: WaitFacts,
): string {
  if (seq !== undefined) return `this machine has not applied record ${seq} yet`;
  if (leads) return "this machine is not certain that it leads";
  const isOther = seen !== undefined && seen.term > 0 && seen.node !== name;
  if (!isOther || (seen.beat < 0 && !isConnected)) return "no machine leads that can be reached";
  if (isConnected) return `${seen.node} is not certain that it leads`;
  return `the machine that leads, ${seen.node} at ${seen.address}, is not reached`;
}

export function outOfService(why = "it cannot go on"): Fault {
  return new Fault("E_OUT_OF_SERVICE", `this machine is out of service: ${why}`);
}

export function notCurrent(why: string): Fault {
  return new Fault(
    "E_NOT_CURRENT",
    `the newest state of the machines cannot be known: ${why} (--cluster read-wait)`,
  );
}

export function causeOf(error: Error): string {
  const { cause } = error;
  // Its words say what is behind it.
  if (!(cause instanceof Error) || error instanceof LogUnavailable) return error.message;
  return `${error.message}: ${cause.message}`;
}
