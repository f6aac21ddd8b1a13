/** What the server refuses, in its words. */
export class RefusedByServer extends Error {
  /** Whether a key, a token or a login may change the answer. */
  readonly isAccess: boolean;

  constructor(message: string, isAccess: boolean) {
    super(message);
    this.isAccess = isAccess;
  }
}
