/**
 * What machines say to one another, in frames over TLS (reference/log 7.1). A connection has one purpose, which its
 * first frame names: to follow a leader, to be a process's session at the leader, to reach a process of another machine,
 * or to be given a snapshot. The frames of a session are those of the link, as they are.
 */
import type { ClusterMember } from "../model/cluster-facts.ts";
import { Fault } from "../model/fault.ts";

/** Frames of a connection that follows, and the two that begin each connection. Those of the link have other numbers. */
export const peerKind = {
  hello: 101,
  welcome: 102,
  /** In place of a welcome: why not. */
  refused: 103,
  /** All up to a number is kept. */
  kept: 104,
  members: 105,
  /** What is kept now? Answered under the same number. */
  current: 106,
  isCurrent: 107,
  notCurrent: 108,
  /** How far the follower has applied the log, and why it could not lead now (text, empty: it could). */
  applied: 109,
  /** The leader gives up its lead: whoever can may take it at once. */
  resigned: 110,
  /** How this machine's rows look at a record of the log (reference/log 7.6). */
  digest: 111,
} as const;

/** A frame of a session may hold a change of a few million facts. */
export const peerFrameBytesMax = 1024 * 1024 * 1024 + 64;
/** Before the other side is known. */
export const helloBytesMax = 64 * 1024;

const protocol = 1;

type PeerPurpose =
  | { readonly purpose: "follow"; readonly applied: number; readonly formats: readonly number[] }
  | { readonly purpose: "session"; readonly slot: { slot: number; floorTs: number } | undefined }
  | { readonly purpose: "process"; readonly slot: number; readonly isGrpc: boolean }
  | { readonly purpose: "snapshot" };

/** Who connects, and what for. */
export type PeerHello = PeerPurpose & {
  readonly storeId: string;
  readonly node: string;
  readonly address: string;
  /** Which store of the machine (`incarnation.ts`); undefined of a version that does not say. */
  readonly incarnation?: string | undefined;
};

export type PeerSelf = Pick<PeerHello, "storeId" | "node" | "address" | "incarnation">;

function encodePlain(value: unknown): Uint8Array {
  return Buffer.from(JSON.stringify(value));
}

/** Throws for whatever is no object. */
export function decodePlain(payload: Uint8Array): Record<string, unknown> {
  const value: unknown = JSON.parse(Buffer.from(payload).toString());
  if (typeof value !== "object" || value === null) throw foreign();
  return value as Record<string, unknown>;
}

export function encodePeerHello(hello: PeerHello): Uint8Array {
  return encodePlain({ protocol, ...hello });
}

/** Throws for whatever is none. */
export function decodePeerHello(payload: Uint8Array): PeerHello {
  const plain = decodePlain(payload);
  if (plain["protocol"] !== protocol) throw foreign();
  const who = {
    storeId: textOf(plain["storeId"]),
    node: textOf(plain["node"]),
    address: textOf(plain["address"]),
    ...(plain["incarnation"] === undefined ? {} : { incarnation: textOf(plain["incarnation"]) }),
  };
  switch (plain["purpose"]) {
    case "follow": {
      const formats = listOf(plain["formats"]).map(numberOf);
      return { ...who, purpose: "follow", applied: numberOf(plain["applied"]), formats };
    }
    case "session": {
      const { slot } = plain;
      if (slot === undefined) return { ...who, purpose: "session", slot: undefined };
      const held = slot as Record<string, unknown>;
      const token = { slot: numberOf(held["slot"]), floorTs: numberOf(held["floorTs"]) };
      return { ...who, purpose: "session", slot: token };
    }
    case "process": {
      const isGrpc = plain["isGrpc"] === true;
      return { ...who, purpose: "process", slot: numberOf(plain["slot"]), isGrpc };
    }
    case "snapshot":
      return { ...who, purpose: "snapshot" };
    default:
      throw foreign();
  }
}

/** Throws for whatever are none. */
export function decodeMembers(payload: Uint8Array): readonly ClusterMember[] {
  return listOf(decodePlain(payload)["members"]).map((one) => {
    const plain = one as Record<string, unknown>;
    return {
      node: textOf(plain["node"]),
      address: textOf(plain["address"]),
      slots: listOf(plain["slots"]).map(numberOf),
      leads: plain["leads"] === true,
      applied: numberOf(plain["applied"]),
      // A leader of an older version does not say.
      formats: listOf(plain["formats"] ?? []).map(numberOf),
      isAway: plain["isAway"] === true,
      problem: plain["problem"] === undefined ? undefined : textOf(plain["problem"]),
    };
  });
}

export function encodeMembers(members: readonly ClusterMember[]): Uint8Array {
  return encodePlain({ members });
}

export function encodeSeq(seq: number): Uint8Array {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(seq));
  return bytes;
}

/** Throws where there is none. */
export function decodeSeq(payload: Uint8Array): number {
  if (payload.length < 8) throw foreign();
  const bytes = Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength);
  return Number(bytes.readBigUInt64LE(0));
}

export function encodeApplied(seq: number, problem: string | undefined): Uint8Array {
  return Buffer.concat([encodeSeq(seq), Buffer.from(problem?.slice(0, problemCharsMax) ?? "")]);
}

/** Throws where there is none. A machine of an older version says nothing of problems. */
export function decodeApplied(payload: Uint8Array): { seq: number; problem: string | undefined } {
  const problem = Buffer.from(payload.subarray(8)).toString().slice(0, problemCharsMax);
  return { seq: decodeSeq(payload), problem: problem === "" ? undefined : problem };
}

const problemCharsMax = 1000;

function textOf(value: unknown): string {
  if (typeof value !== "string" || value.length > 1000) throw foreign();
  return value;
}

function numberOf(value: unknown): number {
  if (typeof value !== "number" || !Number.isSafeInteger(value) || value < 0) throw foreign();
  return value;
}

function listOf(value: unknown): readonly unknown[] {
  if (!Array.isArray(value) || value.length > 1000) throw foreign();
  return value;
}

function foreign(): Fault {
  return new Fault("E_LOG", "another machine of the cluster speaks another protocol");
}
