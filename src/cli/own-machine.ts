/**
 * The machine that a node's process keeps. One that has given the lead up in order is opened anew in the same process: its
 * clients wait some tenths of a second less than for another one.
 */
import type { Logger } from "../base/log.ts";
import type { ClusterNode, NodeEnd } from "../cluster/cluster-node.ts";
import { openMachine } from "../cluster/open-machine.ts";
import type { PeerTls } from "../cluster/peer-connection.ts";
import { must } from "../base/assert.ts";
import { readIdentity } from "../stores/place.ts";
import type { ClosingNotice } from "./closing-notice.ts";
import { leadLostExit } from "./messages.ts";

type MachineOptions = Omit<Parameters<typeof openMachine>[0], "onEnd" | "onOpen">;

interface Surroundings {
  readonly logger: Logger;
  readonly closing: ClosingNotice;
}

/** One that is being opened while the server ends is not waited for: its journal has what it wrote. */
const openWaitMs = 3000;

export class OwnMachine {
  readonly #around: Surroundings;
  #options: MachineOptions;
  #machine: ClusterNode | undefined;
  #opening: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(around: Surroundings, options: MachineOptions) {
    this.#around = around;
    this.#options = options;
  }

  /** Rejects as `openMachine` does. */
  async open(): Promise<void> {
    await openMachine({
      ...this.#options,
      onEnd: (end) => this.#end(end),
      onOpen: (machine) => (this.#machine = machine),
    });
    const { store } = this.#options;
    // The processes of this server read these files from now on.
    const identity = store.identity ?? (await readIdentity(store.dir));
    this.#options = { ...this.#options, store: { ...store, identity } };
  }

  /** While one is opened in its place: the one before, which has ended. */
  get machine(): ClusterNode {
    return must(this.#machine, "it was opened");
  }

  exchangeTls(tls: PeerTls): void {
    this.#options = { ...this.#options, tls };
    this.machine.exchangeTls(tls);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const late = new Promise((resolve) => setTimeout(resolve, openWaitMs));
    await Promise.race([this.#opening, late]);
    await this.machine.close();
  }

  #end(end: NodeEnd): void {
    // What it had under way is not known to this process: the supervisor starts another one, which opens the store anew.
    if (end === "lost") process.exit(leadLostExit);
    this.#opening = this.#openAnew();
  }

  async #openAnew(): Promise<void> {
    const { logger, closing } = this.#around;
    logger.info("this machine has given the lead up");
    try {
      await closing.announce();
      await this.machine.close();
      if (this.#isClosed) return;
      await this.open();
      closing.tellOpened();
    } catch (error) {
      // Its directory may be gone.
      logger.warn("the store is not opened anew", { why: String(error) });
      process.exit(leadLostExit);
    }
  }
}
