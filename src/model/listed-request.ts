/** A request that runs, as `runningRequests` at /admin lists it: `weft top` and the console show these. */
export interface ListedRequest {
  readonly id: string;
  readonly process: string;
  readonly operation: string;
  readonly tag: string | null;
  readonly address: string;
  readonly user: string | null;
  readonly key: string | null;
  readonly ms: number;
  readonly work: number;
  readonly bytes: number;
  readonly text: string | null;
}

/** What is asked of each. */
export const listedFields = "id process operation tag address user key ms work bytes text";
