/**
 * A follower's connection to whoever leads: it is told what is kept, who the members are, and asks what is kept now. It
 * is made again when it breaks, and to another machine when that leads.
 */
import type { Socket } from "node:net";
import type { Logger } from "../base/log.ts";
import type { ClusterMember } from "../model/cluster-facts.ts";
import { PendingTable, pendingSlotsMax } from "../base/pending-table.ts";
import {
  dialPeer,
  endWhenSilent,
  PeerRefused,
  readFrames,
  sendFrame,
  type PeerTls,
} from "./peer-connection.ts";
import { decodeMembers, decodeSeq, encodeApplied, peerKind } from "./peer-words.ts";
import type { PeerSelf } from "./peer-words.ts";
import { Seldom } from "./seldom.ts";

interface LeaderLinkOptions {
  readonly tls: () => PeerTls;
  readonly self: PeerSelf;
  readonly formats: readonly number[];
  readonly logger: Logger;
  readonly applied: () => number;
  readonly onKept: (seq: number) => void;
  readonly onMembers: (members: readonly ClusterMember[]) => void;
  /** The leader has given up its lead. */
  readonly onResigned: () => void;
  /** The leader asks how this machine's rows look at a record. */
  readonly onDigest: (payload: Uint8Array) => void;
  /** Nothing is heard of the leader any more: what else waits for it waits in vain. */
  readonly onSilent: () => void;
  /** It is connected, or is not any more. */
  readonly onChange: () => void;
}

interface Asked {
  resolve(seq: number): void;
  reject(error: Error): void;
}

const retryMs = 100;
/** One that has just taken the lease leads a moment later: the first tries follow each other faster. */
const soonMs = 20;
const soonMax = 10;

export class LeaderLink {
  readonly #options: LeaderLinkOptions;
  #address: string | undefined = undefined;
  #socket: Socket | undefined = undefined;
  #isDialling = false;
  /** Tries at this address. */
  #tries = 0;
  #isClosed = false;
  readonly #seldom = new Seldom();
  #asked = new PendingTable<Asked>();
  /** A question that has not left yet: whoever asks in the same turn of the event loop has the same answer. */
  #question: Promise<number> | undefined = undefined;

  constructor(options: LeaderLinkOptions) {
    this.#options = options;
  }

  get isConnected(): boolean {
    return this.#socket !== undefined;
  }

  /** Who is said to lead; undefined: nobody, or this machine itself. */
  follow(address: string | undefined): void {
    if (address === this.#address) return;
    this.#address = address;
    this.#tries = 0;
    this.#socket?.destroy();
    this.#dial();
  }

  /** All that is kept up to what it gives was kept when it was asked. Rejects where the leader is lost, or not certain. */
  askCurrent(): Promise<number> {
    this.#question ??= this.#ask();
    return this.#question;
  }

  /** `problem`: why this machine could not lead. */
  reportApplied(seq: number, problem: string | undefined): void {
    if (this.#socket === undefined) return;
    sendFrame(this.#socket, peerKind.applied, encodeApplied(seq, problem));
  }

  reportDigest(payload: Uint8Array): void {
    if (this.#socket !== undefined) sendFrame(this.#socket, peerKind.digest, payload);
  }

  close(): void {
    this.#isClosed = true;
    this.#socket?.destroy();
  }

  #ask(): Promise<number> {
    return new Promise((resolve, reject) => {
      // The question leaves behind this turn: all that was asked in it is older than the answer.
      setImmediate(() => {
        this.#question = undefined;
        const socket = this.#socket;
        if (socket === undefined || this.#asked.size >= pendingSlotsMax) {
          reject(new Error("no leader is known"));
          return;
        }
        const request = this.#asked.add({ resolve, reject });
        sendFrame(socket, peerKind.current, undefined, request);
      });
    });
  }

  #dial(): void {
    const address = this.#address;
    if (address === undefined || this.#isDialling || this.#isClosed || this.#socket) return;
    this.#isDialling = true;
    const { tls, self, formats, applied } = this.#options;
    dialPeer(address, tls(), { ...self, purpose: "follow", applied: applied(), formats }).then(
      ({ socket }) => {
        this.#isDialling = false;
        if (this.#isClosed || address !== this.#address) {
          socket.destroy();
          this.#dial();
          return;
        }
        this.#adopt(socket);
      },
      (error: unknown) => {
        this.#isDialling = false;
        const isSoon = error instanceof PeerRefused && ++this.#tries <= soonMax;
        if (!isSoon) this.#tellUnreached(address, error);
        setTimeout(() => this.#dial(), isSoon ? soonMs : retryMs).unref();
      },
    );
  }

  #tellUnreached(address: string, error: unknown): void {
    const why = error instanceof Error ? error.message : String(error);
    this.#seldom.do(() => {
      this.#options.logger.warn("the machine that leads is not reached", { address, why });
    });
  }

  #adopt(socket: Socket): void {
    this.#socket = socket;
    const asked = new PendingTable<Asked>();
    this.#asked = asked;
    readFrames(socket, ({ kind, request, payload }) => {
      switch (kind) {
        case peerKind.kept:
          this.#options.onKept(decodeSeq(payload));
          return;
        case peerKind.members:
          this.#options.onMembers(decodeMembers(payload));
          return;
        case peerKind.resigned:
          this.#options.onResigned();
          return;
        case peerKind.digest:
          this.#options.onDigest(payload);
          return;
        case peerKind.isCurrent:
          asked.take(request)?.resolve(decodeSeq(payload));
          return;
        case peerKind.notCurrent:
          asked.take(request)?.reject(new Error("the leader is not certain of its lead"));
      }
    });
    endWhenSilent(socket, this.#options.onSilent);
    socket.once("close", () => {
      if (this.#socket === socket) this.#socket = undefined;
      for (const one of asked.clear()) one.reject(new Error("the leader is lost"));
      this.#options.onChange();
      if (!this.#isClosed) setTimeout(() => this.#dial(), retryMs / 5).unref();
    });
    this.#options.onChange();
  }
}
