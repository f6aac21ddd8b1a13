/**
 * Which slots have a living process (reference/transactions 3): a slot lives as long as its link, and is freed with it.
 */
import type { Committer } from "../commit/committer.ts";

/** A slot with its floor: what a process says of itself. */
export interface SlotToken {
  readonly slot: number;
  readonly floorTs: number;
}

export class SlotKeeper {
  private readonly committer: Committer;
  /** Slot → the newest link of its process. */
  private readonly links = new Map<number, object>();
  private readonly timer: NodeJS.Timeout;
  /** Of slots whose processes may come back. */
  private readonly waits = new Set<NodeJS.Timeout>();

  /** `graceMs`: how long the slots of before wait for their processes. */
  constructor(committer: Committer, graceMs: number) {
    this.committer = committer;
    this.timer = setTimeout(() => this.releaseAbandoned(), graceMs);
    this.timer.unref();
  }

  /** For the process that writes, which holds it to its end. */
  async joinSelf(): Promise<SlotToken> {
    return this.hold(await this.committer.slots.claim(true), this);
  }

  async join(link: object): Promise<SlotToken> {
    return this.hold(await this.committer.slots.claim(false), link);
  }

  private hold(token: SlotToken, link: object): SlotToken {
    this.links.set(token.slot, link);
    return token;
  }

  /**
   * A process that had the slot before its link was lost; false when it has the slot no more. The floor tells it from all
   * others: a link that is still thought to be open is its own of before.
   */
  rejoin({ slot, floorTs }: SlotToken, link: object): boolean {
    if (this.committer.slots.taken.get(slot)?.floorTs !== floorTs) return false;
    this.links.set(slot, link);
    return true;
  }

  /** `graceMs`: how long its process may come back by another link; by default it is gone with this one. */
  leave({ slot, floorTs }: SlotToken, link: object, graceMs = 0): void {
    if (this.links.get(slot) !== link) return;
    this.links.delete(slot);
    if (graceMs === 0) {
      this.release(slot, floorTs);
      return;
    }
    const timer = setTimeout(() => {
      this.waits.delete(timer);
      if (!this.links.has(slot)) this.release(slot, floorTs);
    }, graceMs);
    this.waits.add(timer.unref());
  }

  close(): void {
    clearTimeout(this.timer);
    for (const wait of this.waits) clearTimeout(wait);
  }

  private releaseAbandoned(): void {
    for (const [slot, { floorTs }] of this.committer.slots.taken) {
      if (!this.links.has(slot)) this.release(slot, floorTs);
    }
  }

  /** Where it cannot be written (a full disk) the slot stays taken until the next writer frees it. */
  private release(slot: number, floorTs: number): void {
    this.committer.slots.release(slot, floorTs).catch(() => {});
  }
}
