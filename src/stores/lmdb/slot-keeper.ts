/** Which slots have a living process (architecture 4): a slot lives as long as its link, and is taken for one at once. */
import type { Committer } from "../commit/committer.ts";

/** After a restart of the writer, how long the slots of before wait for their processes. */
const graceMs = 5000;

export class SlotKeeper {
  private readonly committer: Committer;
  private readonly inUse = new Set<number>();
  private readonly timer: NodeJS.Timeout;

  constructor(committer: Committer) {
    this.committer = committer;
    this.timer = setTimeout(() => this.releaseAbandoned(), graceMs);
    this.timer.unref();
  }

  async join(): Promise<{ slot: number; floorTs: number }> {
    const claim = await this.committer.slots.claim(this.inUse);
    this.inUse.add(claim.slot);
    return claim;
  }

  /** A process that had the slot before the link was lost; false when another has it by now. */
  rejoin(slot: number, floorTs: number): boolean {
    if (this.inUse.has(slot) || this.committer.slots.taken.get(slot) !== floorTs) return false;
    this.inUse.add(slot);
    return true;
  }

  leave(slot: number): void {
    this.inUse.delete(slot);
    this.release(slot);
  }

  close(): void {
    clearTimeout(this.timer);
  }

  private releaseAbandoned(): void {
    for (const [slot, floorTs] of this.committer.slots.taken) {
      if (!this.inUse.has(slot) && floorTs !== Infinity) this.release(slot);
    }
  }

  /** Where it cannot be written (a full disk) the slot is free until the next writer reads it, who frees it again. */
  private release(slot: number): void {
    this.committer.slots.release(slot).catch(() => {});
  }
}
