/** Where `weft changes` brings what the change feed tells. */

/** An event of the feed, as it came. */
export interface FeedLine {
  readonly kind: string;
  readonly position: string;
  readonly namespace: number;
  /** Of an event that is a part of its commit; 0 for the only one. */
  readonly part: number;
  /** With it the position is complete. */
  readonly isLast: boolean;
  /** The line without its end. */
  readonly text: string;
}

export interface Sink {
  /**
   * All of it has arrived when it resolves. Rejects with SinkRefusal where trying again is of no use, with anything
   * else where it may help: then the same lines come again.
   */
  deliver(lines: readonly FeedLine[]): Promise<void>;
  /** What was delivered of the commit at hand comes once more, from its beginning. */
  rewind?(): Promise<void>;
  /** What of the sink belongs to a position: kept with it, and given back when it is gone on from. */
  mark?(): Promise<number>;
  /** Whether what it writes to should be put aside now, which is done between two states that are kept. */
  readonly isFull?: boolean;
  putAside?(): Promise<void>;
  close(): Promise<void>;
}

/** The other side does not take it, and will not. */
export class SinkRefusal extends Error {
  override readonly name = "SinkRefusal";
}

/** A line of the feed: an event of a commit, or a heartbeat, the end, an error. */
export function readFeedLine(text: string): FeedLine | ToldLine {
  const told = JSON.parse(text) as ToldLine;
  const { kind, position = "", namespace, commit, part = 0, more } = told;
  if (commit === undefined || namespace === undefined) return told;
  return { kind, position, namespace, part, isLast: more !== true, text };
}

/** Members that are looked at, of whatever there is. */
export interface ToldLine {
  readonly kind: string;
  readonly position?: string;
  readonly commit?: number;
  readonly namespace?: number;
  readonly part?: number;
  readonly more?: boolean;
  readonly code?: string;
  readonly message?: string;
}
