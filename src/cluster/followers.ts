/** The leader's end of the connections of those who follow. */
import type { Socket } from "node:net";
import type { ClusterMember } from "../model/cluster-facts.ts";
import { endWhenSilent, readFrames, sendFrame } from "./peer-connection.ts";
import { decodeApplied, encodeMembers, encodeSeq, peerKind } from "./peer-words.ts";
import type { PeerHello } from "./peer-words.ts";

interface FollowersOptions {
  /** All that is kept up to what it gives was kept when it was asked. Rejects where the lead is not certain. */
  readonly confirm: () => Promise<number>;
  readonly kept: () => number;
  /** Somebody came or went. */
  readonly onChange: () => void;
  /** Nothing is heard of a machine any more. */
  readonly onSilent: (node: string) => void;
  readonly onDigest: (node: string, payload: Uint8Array) => void;
}

export type FollowHello = PeerHello & { readonly purpose: "follow" };

/** Until it has reported. */
const starting = "it has just connected";

interface Follower {
  readonly hello: FollowHello;
  readonly socket: Socket;
  applied: number;
  /** Why it could not lead, as it says. */
  problem: string | undefined;
}

export class Followers {
  readonly #options: FollowersOptions;
  readonly #all = new Set<Follower>();
  #toldSeq = 0;
  #isTelling = false;

  constructor(options: FollowersOptions) {
    this.#options = options;
  }

  /** One for each machine: the newest connection. */
  get all(): readonly Pick<Follower, "hello" | "applied" | "problem">[] {
    return [...new Map([...this.#all].map((one) => [one.hello.node, one])).values()];
  }

  take(hello: FollowHello, socket: Socket): void {
    const follower: Follower = { hello, socket, applied: hello.applied, problem: starting };
    this.#all.add(follower);
    sendFrame(socket, peerKind.welcome);
    readFrames(socket, ({ kind, request, payload }) => {
      switch (kind) {
        case peerKind.current:
          this.#options.confirm().then(
            (seq) => sendFrame(socket, peerKind.isCurrent, encodeSeq(seq), request),
            () => sendFrame(socket, peerKind.notCurrent, undefined, request),
          );
          return;
        case peerKind.applied:
          ({ seq: follower.applied, problem: follower.problem } = decodeApplied(payload));
          return;
        case peerKind.digest:
          this.#options.onDigest(hello.node, payload);
      }
    });
    endWhenSilent(socket, () => this.#options.onSilent(hello.node));
    socket.once("close", () => {
      this.#all.delete(follower);
      this.#options.onChange();
    });
    sendFrame(socket, peerKind.kept, encodeSeq(this.#options.kept()));
    this.#options.onChange();
  }

  /** Something more is kept: told once a turn of the event loop. */
  tellKept(): void {
    if (this.#isTelling || this.#all.size === 0) return;
    this.#isTelling = true;
    setImmediate(() => {
      this.#isTelling = false;
      const seq = this.#options.kept();
      if (seq <= this.#toldSeq) return;
      this.#toldSeq = seq;
      const payload = encodeSeq(seq);
      for (const { socket } of this.#all) sendFrame(socket, peerKind.kept, payload);
    });
  }

  tellMembers(members: readonly ClusterMember[]): void {
    const payload = encodeMembers(members);
    for (const { socket } of this.#all) sendFrame(socket, peerKind.members, payload);
  }

  tellDigest(payload: Uint8Array): void {
    for (const { socket } of this.#all) sendFrame(socket, peerKind.digest, payload);
  }

  /** It is not one of the machines any more. */
  part(node: string): void {
    for (const { hello, socket } of this.#all) if (hello.node === node) socket.destroy();
  }

  /** The lead is given up. */
  tellResigned(): void {
    for (const { socket } of this.#all) sendFrame(socket, peerKind.resigned);
  }

  close(): void {
    for (const { socket } of this.#all) socket.destroy();
  }
}
