/**
 * Processes of other machines, reached like those of this one: a socket file for each of their slots, behind which the
 * bytes go over TLS to the machine that the process is on. So a transaction goes on wherever its requests arrive.
 */
import type { ClusterMember } from "../model/cluster-facts.ts";
import { chmodSync, renameSync, rmSync, statSync } from "node:fs";
import { createServer, connect, type Server, type Socket } from "node:net";
import type { Clock } from "../base/clock.ts";
import type { Logger } from "../base/log.ts";
import { LineWatch } from "./line-watch.ts";
import { dialPeer, joinSockets, sendFrame, type PeerTls } from "./peer-connection.ts";
import { peerKind } from "./peer-words.ts";
import type { PeerSelf } from "./peer-words.ts";

interface ProcessDoorsOptions {
  /** Where the process of a slot is reached on this machine. */
  readonly pathOf: (slot: number, isGrpc: boolean) => string;
  readonly self: PeerSelf;
  readonly tls: () => PeerTls;
  readonly logger: Logger;
  readonly clock: Clock;
  /** As `LineWatch` takes it. */
  readonly quietMs?: number;
}

/** No process has it: a machine that is asked for it is heard. */
export const noSlot = 255;

interface Door {
  readonly server: Server;
  readonly path: string;
  /** Of the socket file. */
  readonly inode: bigint;
}

interface SlotDoors {
  readonly address: string;
  readonly doors: readonly Door[];
}

export class ProcessDoors {
  readonly #options: ProcessDoorsOptions;
  readonly #watch: LineWatch;
  readonly #open = new Map<number, SlotDoors>();
  #members: readonly ClusterMember[] = [];
  #turn: Promise<void> = Promise.resolve();

  constructor(options: ProcessDoorsOptions) {
    this.#options = options;
    const { clock, quietMs, self, tls } = options;
    this.#watch = new LineWatch({
      nowMs: () => clock.tickMs(),
      ...(quietMs === undefined ? {} : { quietMs }),
      probe: async (address) => {
        const hello = { ...self, purpose: "process", slot: noSlot, isGrpc: false } as const;
        (await dialPeer(address, tls(), hello)).socket.destroy();
      },
    });
  }

  /** Who has which slots now. */
  update(members: readonly ClusterMember[]): void {
    this.#members = members;
    this.#turn = this.#turn.then(() => this.#arrange()).catch(() => {});
  }

  /** Whether the process of a slot is on this machine. */
  isOwn(slot: number): boolean {
    const { node } = this.#options.self;
    return this.#members.some((member) => member.node === node && member.slots.includes(slot));
  }

  /** A connection of another machine to a process of this one. Throws where there is none. */
  enter(slot: number, isGrpc: boolean, socket: Socket): void {
    if (!this.isOwn(slot)) throw new Error("the process is not on this machine");
    const own = connect(this.#options.pathOf(slot, isGrpc));
    own.once("connect", () => {
      sendFrame(socket, peerKind.welcome);
      joinSockets(socket, own);
    });
    own.on("error", () => socket.destroy());
    socket.once("close", () => own.destroy());
  }

  async close(): Promise<void> {
    await this.#turn;
    for (const [slot, { doors }] of this.#open) this.#shut(slot, doors);
    this.#watch.close();
  }

  async #arrange(): Promise<void> {
    const wanted = new Map<number, string>();
    for (const { node, address, slots } of this.#members) {
      if (node === this.#options.self.node) continue;
      for (const slot of slots) wanted.set(slot, address);
    }
    for (const [slot, { address, doors }] of this.#open) {
      if (wanted.get(slot) === address) wanted.delete(slot);
      else this.#shut(slot, doors);
    }
    for (const [slot, address] of wanted) {
      const doors = await Promise.all(
        [false, true].map((isGrpc) => this.#makeDoor(slot, isGrpc, address)),
      );
      this.#open.set(slot, { address, doors });
    }
  }

  /** Under another name first: the file of a server that is closed goes away by the name that it was made under. */
  async #makeDoor(slot: number, isGrpc: boolean, address: string): Promise<Door> {
    const path = this.#options.pathOf(slot, isGrpc);
    const made = `${path}.new`;
    rmSync(made, { force: true });
    const server = createServer({ pauseOnConnect: true }, (socket) => {
      void this.#lead(socket, { slot, isGrpc, address });
    });
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen({ path: made, exclusive: true }, resolve);
    });
    server.on("error", () => {});
    chmodSync(made, 0o600);
    const { ino } = statSync(made, { bigint: true });
    renameSync(made, path);
    return { server, path, inode: ino };
  }

  async #lead(
    socket: Socket,
    { slot, isGrpc, address }: { slot: number; isGrpc: boolean; address: string },
  ): Promise<void> {
    socket.on("error", () => socket.destroy());
    const { self, tls } = this.#options;
    try {
      const dialled = await dialPeer(address, tls(), { ...self, purpose: "process", slot, isGrpc });
      joinSockets(socket, dialled.socket);
      this.#watch.add(address, socket, dialled.socket);
    } catch {
      socket.destroy();
    }
  }

  /** A process of this machine that has the slot by now has a file of its own there, which stays. */
  #shut(slot: number, doors: readonly Door[]): void {
    this.#open.delete(slot);
    for (const { server, path, inode } of doors) {
      server.close();
      const { ino } = statSync(path, { bigint: true, throwIfNoEntry: false }) ?? {};
      if (ino === inode) rmSync(path, { force: true });
    }
  }
}
