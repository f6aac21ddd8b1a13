/**
 * What one process of the server may ask of the writer, whichever way its words come: over the link of the same machine,
 * or over that of another one.
 */
import { must } from "../../base/assert.ts";
import { ByteReader } from "../../base/bytes.ts";
import { readChange } from "../../store/patch-codec.ts";
import { StoreRefusal } from "../../store/store.ts";
import type { Committer } from "../commit/committer.ts";
import {
  decodeFill,
  decodeNumbers,
  decodePlaced,
  decodeSweep,
  encodeError,
  encodeNumbers,
  frameKind,
  type FrameKind,
} from "./link-protocol.ts";
import type { SlotKeeper, SlotToken } from "./slot-keeper.ts";

interface SessionParts {
  readonly committer: Committer;
  readonly slots: SlotKeeper;
  /** How long a process whose session has ended may come back to its slot. Default: it is gone. */
  readonly graceMs?: number;
}

/** An answer as it goes over the wire: `kind` is answer, refusal or fault. */
export interface SessionAnswer {
  readonly kind: FrameKind;
  readonly payload: Uint8Array;
}

export class LinkSession {
  readonly #parts: SessionParts;
  #slot: SlotToken | undefined = undefined;
  #isOver = false;

  constructor(parts: SessionParts) {
    this.#parts = parts;
  }

  /** That the process holds. */
  get slot(): SlotToken | undefined {
    return this.#slot;
  }

  /** The slot that the process had before its link was lost; false when it has it no more. */
  rejoin(slot: SlotToken): boolean {
    if (!this.#parts.slots.rejoin(slot, this)) return false;
    this.#slot = slot;
    return true;
  }

  /** Never rejects: what fails is an answer, too. */
  async answer(kind: number, payload: Uint8Array): Promise<SessionAnswer> {
    try {
      return { kind: frameKind.answer, payload: await this.#serve(kind, payload) };
    } catch (error) {
      return encodeError(error);
    }
  }

  /** The process is gone: its slot is free. */
  leave(): void {
    this.#isOver = true;
    const { slots, graceMs = 0 } = this.#parts;
    if (this.#slot !== undefined) slots.leave(this.#slot, this, graceMs);
    this.#slot = undefined;
  }

  async #serve(kind: number, payload: Uint8Array): Promise<Uint8Array> {
    const { committer } = this.#parts;
    switch (kind) {
      case frameKind.commit:
      case frameKind.commitBeginning: {
        const reader = new ByteReader(payload);
        const sentAfter = reader.varint();
        const isResent = reader.u8() === 1;
        const beginsLog = kind === frameKind.commitBeginning;
        const change = { ...readChange(reader), beginsLog };
        if (change.id.floorTs === 0) throw new StoreRefusal("slot");
        const { commitTs } = await committer.commit(change, isResent ? sentAfter : undefined);
        return encodeNumbers(commitTs);
      }
      case frameKind.lease:
        return encodeNumbers(await committer.lease(firstNumber(payload)));
      case frameKind.reserve:
        await committer.reserve(firstNumber(payload));
        return encodeNumbers(committer.nextUid);
      case frameKind.fill: {
        const { after, done, tookMs } = await committer.fill(decodeFill(payload));
        return encodeNumbers(after, done ? 1 : 0, Math.ceil(tookMs));
      }
      case frameKind.sweep:
        return encodeNumbers((await committer.sweep(decodeSweep(payload))).done ? 1 : 0);
      case frameKind.place: {
        const placed = decodePlaced(payload);
        if (placed.floorTs === 0) throw new StoreRefusal("slot");
        await committer.place(placed);
        return encodeNumbers();
      }
      case frameKind.claimSlot:
        return this.#claim();
      default:
        throw new Error("unknown request");
    }
  }

  async #claim(): Promise<Uint8Array> {
    const { slots } = this.#parts;
    const token = await slots.join(this);
    // A process has one: it gives back what it had.
    if (this.#slot !== undefined) slots.leave(this.#slot, this);
    this.#slot = token;
    if (this.#isOver) this.leave();
    return encodeNumbers(token.slot, token.floorTs);
  }
}

function firstNumber(payload: Uint8Array): number {
  return must(decodeNumbers(payload)[0], "the request has a number");
}
