/** What one of several machines has of what is committed: see `seen-header.ts`. */

export interface SeenState {
  /** Of the newest commit that it has. */
  newestTs(): number;
  /** Resolves when it has a commit. Rejects with Fault E_NOT_CURRENT where that takes too long. */
  whenSeen(commitTs: number): Promise<void>;
}
