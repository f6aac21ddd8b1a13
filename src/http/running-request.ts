/** A request under way, as an administrator sees it. */
export interface RunningRequest {
  readonly id: string;
  readonly operation: string;
  readonly tag: string | undefined;
  readonly address: string;
  readonly user: string | undefined;
  readonly key: string | undefined;
  readonly namespace: number | undefined;
  readonly ms: number;
  /** Nodes, edges, values and members that it has looked at so far. */
  readonly work: number;
  /** That it holds now. */
  readonly bytes: number;
  /** What it runs, without the texts in it. */
  readonly text: string | undefined;
}
