/** Changes that wait for their group, in the order in which they came. */
import type { Change, CommitResult } from "../../store/store.ts";

/** Patches of one group at most, so that no one waits behind a second of others' work. */
const groupPatchesMax = 20_000;

/** Patches that may wait: some hundreds of megabytes. */
const patchesWaitingMax = 1_000_000;

export interface Waiting {
  readonly change: Change;
  readonly id: string;
  /** There was no room for it together with others, or none may be beside it. */
  isAlone: boolean;
  readonly resolve: (result: CommitResult) => void;
  readonly reject: (error: unknown) => void;
}

export class ChangeQueue {
  private readonly changesMax: number;
  private queue: Waiting[] = [];
  private patches = 0;
  /** Of those in the queue and of those whose group is under way. */
  private readonly promises = new Map<string, Promise<CommitResult>>();
  /** Changes at its head that wait for a starving one. */
  private heldCount = 0;

  constructor(changesMax: number) {
    this.changesMax = changesMax;
  }

  get length(): number {
    return this.queue.length;
  }

  get isFull(): boolean {
    return this.queue.length >= this.changesMax || this.patches > patchesWaitingMax;
  }

  /** Nothing but changes that are held back. */
  get isHeld(): boolean {
    return this.heldCount === this.queue.length;
  }

  /** What comes of a change that has not been answered. */
  promiseOf(id: string): Promise<CommitResult> | undefined {
    return this.promises.get(id);
  }

  /** `id`: of the change, as a text. */
  add(change: Change, id: string): Promise<CommitResult> {
    const promise = new Promise<CommitResult>((resolve, reject) => {
      const isAlone = change.beginsLog === true;
      this.queue.push({ change, id, isAlone, resolve, reject });
    });
    this.patches += change.patches.length;
    this.promises.set(id, promise);
    return promise;
  }

  /** From its head. */
  takeGroup(): Waiting[] {
    let patches = 0;
    let count = 0;
    for (const { change, isAlone } of this.queue) {
      if (count > 0 && (isAlone || this.queue[0]?.isAlone === true)) break;
      patches += change.patches.length;
      if (count > 0 && patches > groupPatchesMax) break;
      count++;
    }
    const group = this.queue.splice(0, count);
    for (const { change } of group) this.patches -= change.patches.length;
    this.heldCount = 0;
    return group;
  }

  takeAll(): Waiting[] {
    const all = this.queue;
    this.queue = [];
    this.patches = 0;
    this.heldCount = 0;
    return all;
  }

  /** Before all others. */
  putBack(group: readonly Waiting[]): void {
    this.queue.unshift(...group);
    for (const { change } of group) this.patches += change.patches.length;
  }

  /** As `putBack`, of changes for which it is too early. */
  hold(group: readonly Waiting[]): void {
    this.putBack(group);
    this.heldCount = group.length;
  }

  resolve({ id, resolve }: Waiting, result: CommitResult): void {
    this.promises.delete(id);
    resolve(result);
  }

  refuse({ id, reject }: Waiting, error: unknown): void {
    this.promises.delete(id);
    reject(error);
  }
}
