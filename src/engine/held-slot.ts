/**
 * A process's slot, as long as it is its own. The store refuses what a process commits under a slot that it has lost;
 * start times are handed out without asking the store, so each is checked against the state that it belongs to: a slot
 * is given to another only after every state from then on says so.
 */
import { andThen } from "../base/maybe.ts";
import type { MaybePromise } from "../base/maybe.ts";
import { Fault } from "../model/fault.ts";
import type { Snapshot, Store } from "../store/store.ts";

export class HeldSlot {
  readonly slot: number;
  readonly floorTs: number;
  readonly #store: Store;
  readonly #onLost: () => void;
  /** Of the slots in which this one was seen to be held. */
  #seenVersion = -1;
  #isLost = false;

  constructor(
    store: Store,
    token: { readonly slot: number; readonly floorTs: number },
    onLost: () => void,
  ) {
    this.slot = token.slot;
    this.floorTs = token.floorTs;
    this.#store = store;
    this.#onLost = onLost;
  }

  /** Throws E_STORE_UNAVAILABLE unless the slot is this process's in `snapshot`. One comparison, nearly always. */
  check(snapshot: Snapshot): MaybePromise<void> {
    const { slotsVersion } = snapshot;
    if (this.#isLost) throw lostFault();
    if (slotsVersion === this.#seenVersion) return undefined;
    return andThen(this.#store.slots(), (slots) => {
      if (slots.get(this.slot) !== this.floorTs) this.lose();
      if (this.#isLost) throw lostFault();
      this.#seenVersion = slotsVersion;
    });
  }

  /** Nothing is handed out under it from now on. */
  lose(): void {
    if (this.#isLost) return;
    this.#isLost = true;
    this.#onLost();
  }
}

function lostFault(): Fault {
  return new Fault("E_STORE_UNAVAILABLE", "this process has lost its slot, please try again");
}
