/** The switches of a running server, the same in all its processes. They are gone with a restart, as the reference's. */
export interface ServerSwitches {
  /** Only administration is answered; /health says so. */
  readonly isDraining: boolean;
  /** Mebibytes of each process's cache of records and lists. */
  readonly cacheMb: number;
  /** Each request of the native endpoints is told to the log. */
  readonly logsRequests: boolean;
}

export interface Controls {
  /** As this process last heard; what it turned itself it has heard. */
  readonly switches: ServerSwitches;
  /** Resolves when every process has heard. */
  turn(change: Partial<ServerSwitches>): Promise<void>;
  /** Ends the server as SIGTERM does: what is under way is answered. */
  shutdown(): void;
}

export const initialSwitches: ServerSwitches = {
  isDraining: false,
  cacheMb: 256,
  logsRequests: false,
};

/** The reference's words for whoever asks meanwhile (reference/dql 1.7). */
export const drainingWords =
  "the server is in draining mode and client requests will only be allowed after exiting the mode  by sending a GraphQL draining(enable: false) mutation to /admin";
