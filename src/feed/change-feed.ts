/** The change feed of a process: what was committed, by any process, told to those who follow. */
import { metrics } from "../base/metrics.ts";
import type { ProcessMemory } from "../model/process-memory.ts";
import { Fault } from "../model/fault.ts";
import type { Store } from "../store/store.ts";
import { FeedMemory } from "./feed-memory.ts";
import type { FeedFilter } from "./feed-filter.ts";
import { FeedFollower, logGone } from "./feed-follower.ts";
import { readOldest } from "./feed-rows.ts";
import { isOfStore, parsePosition, printPosition } from "./position.ts";
import { SchemaHistory } from "./schema-history.ts";

export type { FeedEvent } from "./feed-event.ts";
export type { FeedFilter } from "./feed-filter.ts";
export type { FeedFollower } from "./feed-follower.ts";

interface ChangeFeedOptions {
  readonly store: Store;
  /** Names the store in positions: one that was restored of it has another. */
  readonly storeId: string;
  readonly memory: ProcessMemory;
  /** Followers at a time. */
  readonly followersMax: number;
}

export interface FollowRequest {
  /** A position, the number of a commit, `newest` or `oldest`. */
  readonly from: string;
  readonly follows: boolean;
  readonly filter: FeedFilter;
}

export class ChangeFeed {
  readonly #options: ChangeFeedOptions;
  readonly #schemas = new SchemaHistory();
  readonly #followers = new Set<FeedFollower>();
  /** Begun, and not in the set yet. */
  #opening = 0;
  #stopListening: (() => void) | undefined = undefined;

  constructor(options: ChangeFeedOptions) {
    this.#options = options;
    metrics.gauge("weft_change_feeds", "Change feeds that are open", () => this.#followers.size);
  }

  /**
   * Close it. Fault E_PARAMETER for a position that is none or lies in the future, E_LOG_GONE where the log does not
   * reach back to it, E_OVERLOADED where too many follow.
   */
  async follow({ from, follows, filter }: FollowRequest): Promise<FeedFollower> {
    const { followersMax, memory, store, storeId } = this.#options;
    if (this.#followers.size + this.#opening >= followersMax) {
      const text = `${followersMax} change feeds are open in this process (--limit feeds)`;
      throw new Fault("E_OVERLOADED", text);
    }
    this.#opening++;
    try {
      this.#stopListening ??= store.onCommit(() => {
        for (const one of this.#followers) one.wake();
      });
      const { after, newest } = await this.#findStart(from);
      const follower = new FeedFollower({
        filter,
        after,
        follows,
        newest,
        storeId,
        openSnapshot: async () => await store.snapshot(),
        schemas: this.#schemas,
        memory: new FeedMemory(memory),
        onClose: () => this.#forget(follower),
      });
      this.#followers.add(follower);
      return follower;
    } finally {
      this.#opening--;
      this.#listenNoMore();
    }
  }

  async #findStart(from: string): Promise<{ after: number; newest: number }> {
    const { store, storeId } = this.#options;
    const snapshot = await store.snapshot();
    try {
      const newest = snapshot.ts;
      if (from === "newest") return { after: newest, newest };
      const oldest = await readOldest(snapshot);
      if (from === "oldest") return { after: oldest, newest };
      const position = parsePosition(from);
      if (position === undefined) {
        const shown = JSON.stringify(from.slice(0, shownMax));
        const words = `a position as the feed tells it, the number of a commit, newest or oldest`;
        throw new Fault("E_PARAMETER", `while parsing from: ${words}, not ${shown}`);
      }
      if (!isOfStore(position, storeId)) {
        const own = printPosition(storeId, newest);
        const text = `position ${from} is of another store than this one, which is at ${own}`;
        throw new Fault("E_LOG_GONE", text);
      }
      if (position.commitTs > newest) {
        const text = `while parsing from: there is no commit ${position.commitTs} yet, the newest is ${newest}`;
        throw new Fault("E_PARAMETER", text);
      }
      if (position.commitTs < oldest) throw logGone(from);
      return { after: position.commitTs, newest };
    } finally {
      snapshot.close();
    }
  }

  #forget(follower: FeedFollower): void {
    this.#followers.delete(follower);
    this.#listenNoMore();
  }

  #listenNoMore(): void {
    if (this.#followers.size + this.#opening > 0) return;
    this.#stopListening?.();
    this.#stopListening = undefined;
  }
}

const shownMax = 60;
