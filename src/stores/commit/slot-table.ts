/**
 * The slots of the processes that write, each with its floor: the number of the commit by which it was taken. Floors are
 * fencing tokens: a change is taken only from the process that holds its slot with its floor (`group.ts`), and a slot
 * is given again only after the row that frees it was written, so that every state in which another may have it
 * tells the process of before.
 */
import { Fault } from "../../model/fault.ts";
import type { Change, ChangeId, CommitResult } from "../../store/store.ts";
import { slotCount, type SlotHold } from "./state.ts";

type Slots = ReadonlyMap<number, SlotHold>;

interface SlotHost {
  commitTs(): number;
  commit(change: Change): Promise<CommitResult>;
  /** Whether nothing is written any more. */
  isStopped(): boolean;
  /** `write` may follow its end at once, and not otherwise. */
  whenWritable(): Promise<void>;
  /** Writes the row that `make` gives when its turn has come; `settle` is called when it is durable. */
  write(make: () => Slots, settle: (slots: Slots) => void): Promise<void>;
}

export class SlotTable {
  private readonly slots: Map<number, SlotHold>;
  /** Given to somebody, whose first commit is under way. */
  private readonly claimed = new Set<number>();
  private readonly host: SlotHost;
  private claims = 0;

  /** `slots`: as the last writer left them; its own are free, since only one process writes. */
  constructor(slots: ReadonlyMap<number, SlotHold>, host: SlotHost) {
    this.slots = new Map([...slots].filter(([, hold]) => !hold.isWriters));
    this.host = host;
  }

  /** Slots are freed when their process is gone. */
  get taken(): ReadonlyMap<number, SlotHold> {
    return this.slots;
  }

  floors(): ReadonlyMap<number, number> {
    return floorsOf(this.slots);
  }

  /**
   * Whether a change with this id may be committed. Floor 0: the writing process itself, without a slot; no such id is
   * taken from another one.
   */
  admits(id: ChangeId): boolean {
    return id.floorTs === 0 || this.slots.get(id.slot)?.floorTs === id.floorTs;
  }

  /** Takes a free slot by an empty commit, whose number is the floor. Fault E_STARTUP when there is none. */
  async claim(isWriters: boolean): Promise<{ slot: number; floorTs: number }> {
    const slot = this.findFree();
    if (slot === undefined)
      throw new Fault("E_STARTUP", `all ${slotCount} process slots are taken`);
    // Taken at once, so that a second claim while this one waits finds another.
    this.claimed.add(slot);
    try {
      const { commitTs } = await this.commitEmpty(slot);
      await this.host.whenWritable();
      await this.write((slots) => void slots.set(slot, { floorTs: commitTs, isWriters }));
      return { slot, floorTs: commitTs };
    } finally {
      this.claimed.delete(slot);
    }
  }

  /** Does nothing where the slot is another's by now. */
  async release(slot: number, floorTs: number): Promise<void> {
    await this.host.whenWritable();
    if (this.host.isStopped() || this.slots.get(slot)?.floorTs !== floorTs) return;
    await this.write((slots) => {
      if (slots.get(slot)?.floorTs === floorTs) slots.delete(slot);
    });
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

  /** What is kept in memory follows the row, so that a row which could not be written changes nothing. */
  private write(edit: (slots: Map<number, SlotHold>) => void): Promise<void> {
    const make = (): Slots => {
      const slots = new Map(this.slots);
      edit(slots);
      return slots;
    };
    return this.host.write(make, (slots) => {
      this.slots.clear();
      for (const [slot, hold] of slots) this.slots.set(slot, hold);
    });
  }

  private findFree(): number | undefined {
    for (let slot = 0; slot < slotCount; slot++) {
      if (!this.slots.has(slot) && !this.claimed.has(slot)) return slot;
    }
    return undefined;
  }
}

export function floorsOf(slots: ReadonlyMap<number, SlotHold>): ReadonlyMap<number, number> {
  const floors = new Map<number, number>();
  for (const [slot, { floorTs }] of slots) floors.set(slot, floorTs);
  return floors;
}
