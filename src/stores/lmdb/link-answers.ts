/**
 * What the numbers of a writer's answers may be, by the kind of the question. Whatever comes over the link is looked at
 * before anything rests on it: a process that is no writer of this version may have the socket.
 */
import { commitNumberMax } from "../../store/store.ts";
import { slotCount } from "../commit/state.ts";
import { decodeNumbers, frameKind, type FrameKind } from "./link-protocol.ts";

type Bounds = readonly [least: number, most: number];

const flag: Bounds = [0, 1];
const commitNumber: Bounds = [0, commitNumberMax];
const uid: Bounds = [1, Number.MAX_SAFE_INTEGER];
const count: Bounds = [0, Number.MAX_SAFE_INTEGER];

const answers: Partial<Record<FrameKind, readonly Bounds[]>> = {
  [frameKind.commit]: [[1, commitNumberMax]],
  [frameKind.commitBeginning]: [[1, commitNumberMax]],
  [frameKind.lease]: [uid],
  [frameKind.reserve]: [uid],
  [frameKind.fill]: [count, flag, count],
  [frameKind.sweep]: [flag],
  [frameKind.place]: [],
  [frameKind.claimSlot]: [[0, slotCount - 1], commitNumber],
  [frameKind.pause]: [],
  [frameKind.resume]: [],
  [frameKind.current]: [],
  [frameKind.compactBegin]: [],
  [frameKind.compactExchange]: [flag, count],
};

/** undefined: it is no answer to such a question. */
export function readNumbers(
  question: FrameKind,
  payload: Uint8Array,
): readonly number[] | undefined {
  const bounds = answers[question];
  return bounds === undefined ? undefined : readWithin(payload, bounds);
}

/** The number of a notice; undefined: it is none. */
export function readNotice(payload: Uint8Array): number | undefined {
  return readWithin(payload, [commitNumber])?.[0];
}

export function isSlot({ slot, floorTs }: { slot: number; floorTs: number }): boolean {
  return slot < slotCount && floorTs <= commitNumberMax;
}

function readWithin(payload: Uint8Array, bounds: readonly Bounds[]): readonly number[] | undefined {
  let numbers: readonly number[];
  try {
    numbers = decodeNumbers(payload);
  } catch {
    return undefined;
  }
  if (numbers.length !== bounds.length) return undefined;
  return bounds.every(([least, most], i) => isWithin(numbers[i], least, most))
    ? numbers
    : undefined;
}

function isWithin(number: number | undefined, least: number, most: number): boolean {
  return number !== undefined && number >= least && number <= most;
}
