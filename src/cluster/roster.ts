/**
 * Which machines share the log, whether they are connected or not (reference/log 7.8). The leader writes it down; every
 * machine has it in its store.
 */
import { Fault } from "../model/fault.ts";
import type { LeadingStore, NodeStore } from "../stores/open.ts";
import { decodePlain } from "./peer-words.ts";
import { encodeRosterRow, readRosterRows, rosterKey } from "../stores/roster-rows.ts";

export interface RosterEntry {
  readonly node: string;
  readonly address: string;
  /** Which store of it (`incarnation.ts`); "" of a version that does not say. */
  readonly incarnation: string;
  /** Forms of rows that it reads and writes. */
  readonly formats: readonly number[];
  readonly isEvicted: boolean;
}

export const evictedWords =
  "this machine was evicted (weft cluster evict): its store is not one of the machines' any more; remove its directory, and it is given a snapshot at its start";

export function readRoster(node: Pick<NodeStore, "snapshot">): readonly RosterEntry[] {
  const snapshot = node.snapshot();
  try {
    return [...readRosterRows(snapshot)].map(([name, text]) => decode(name, text));
  } finally {
    snapshot.close();
  }
}

/** Whether a machine's store was evicted. */
export function isEvicted(
  roster: readonly RosterEntry[],
  { node, incarnation = "" }: { readonly node: string; readonly incarnation?: string | undefined },
): boolean {
  return roster.some(
    (one) => one.node === node && one.isEvicted && one.incarnation === incarnation,
  );
}

/** Of the leader: durable, on all machines that have applied the log so far, when it resolves. */
export async function writeRoster(
  store: LeadingStore,
  entries: readonly RosterEntry[],
): Promise<void> {
  const rows = entries.map((entry) => ({
    key: rosterKey(entry.node),
    value: encodeRosterRow(encode(entry)),
  }));
  // The writing process has no slot.
  await store.place({ slot: 0, floorTs: 0, rows, uids: [] });
}

export function isSameEntry(one: RosterEntry, other: RosterEntry | undefined): boolean {
  return other !== undefined && encode(one) === encode(other);
}

function encode({ address, incarnation, formats, isEvicted: gone }: RosterEntry): string {
  return JSON.stringify({ address, incarnation, formats, isEvicted: gone });
}

function decode(node: string, text: string): RosterEntry {
  const row = decodePlain(Buffer.from(text));
  const { address, incarnation, formats, isEvicted: gone } = row;
  if (typeof address !== "string" || typeof incarnation !== "string") throw unreadable(node);
  if (!Array.isArray(formats) || !formats.every((one) => typeof one === "number")) {
    throw unreadable(node);
  }
  return { node, address, incarnation, formats, isEvicted: gone === true };
}

function unreadable(node: string): Fault {
  return new Fault("E_LOG", `what the store says of the machine ${node} cannot be read`);
}
