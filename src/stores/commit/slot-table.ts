/** The slots of the processes that write, and the commit from which on each has its own (architecture 4). */
import { Fault } from "../../model/fault.ts";
import type { Change, CommitResult } from "../../store/store.ts";
import { slotCount } from "./state.ts";

export interface SlotHost {
  commitTs(): number;
  commit(change: Change): Promise<CommitResult>;
  /** Whether nothing is written any more. */
  isStopped(): boolean;
  /** `write` may follow its end at once, and not otherwise. */
  whenWritable(): Promise<void>;
  write(slots: ReadonlyMap<number, number>): void;
}

export class SlotTable {
  /** Slot → its floor; Infinity while it is being claimed. */
  private readonly slots: Map<number, number>;
  private readonly host: SlotHost;
  private claims = 0;

  constructor(slots: Map<number, number>, host: SlotHost) {
    this.slots = slots;
    this.host = host;
  }

  /** Slots are freed when their process is gone. */
  get taken(): ReadonlyMap<number, number> {
    return this.slots;
  }

  /** Takes a free slot by an empty commit, whose number is the floor. `inUse`: slots of living processes. */
  async claim(inUse: ReadonlySet<number>): Promise<{ slot: number; floorTs: number }> {
    const free = this.find(inUse);
    if (free === undefined) throw new Fault("E_STARTUP", "all 16 process slots are taken");
    // Taken at once, so that a second claim while this one waits finds another.
    this.slots.set(free, Infinity);
    const { commitTs } = await this.commitEmpty(free);
    await this.host.whenWritable();
    this.slots.set(free, commitTs);
    this.write();
    return { slot: free, floorTs: commitTs };
  }

  async release(slot: number): Promise<void> {
    const floorTs = this.slots.get(slot);
    await this.host.whenWritable();
    // Another process may have taken it meanwhile.
    if (this.host.isStopped() || this.slots.get(slot) !== floorTs) return;
    if (this.slots.delete(slot)) this.write();
  }

  private commitEmpty(slot: number): Promise<CommitResult> {
    const commitTs = this.host.commitTs();
    return this.host.commit({
      id: { slot, floorTs: 0, sequence: commitTs * 64 + (this.claims++ % 64) },
      startTs: commitTs,
      basisTs: commitTs,
      fence: Number.MAX_SAFE_INTEGER,
      conflictKeys: [],
      basisKeys: [],
      patches: [],
      log: new Uint8Array(0),
    });
  }

  private write(): void {
    this.host.write(new Map([...this.slots].filter(([, floorTs]) => floorTs !== Infinity)));
  }

  private find(inUse: ReadonlySet<number>): number | undefined {
    const { slots } = this;
    for (let slot = 0; slot < slotCount; slot++) if (!slots.has(slot)) return slot;
    for (let slot = 0; slot < slotCount; slot++) {
      if (!inUse.has(slot) && slots.get(slot) !== Infinity) return slot;
    }
    return undefined;
  }
}
