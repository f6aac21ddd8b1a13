/**
 * A process's session at the leader, from another machine: the frames of the link go over TLS as they are; before an
 * answer stands up to which record of the log it rests.
 */
import type { Socket } from "node:net";
import { PendingTable, pendingSlotsMax } from "../base/pending-table.ts";
import type { LinkSession, PlacedAnswer, ProcessSession, SlotToken } from "../stores/open.ts";
import { dialPeer, readFrames, sendFrame, type PeerTls } from "./peer-connection.ts";
import { decodeSeq, encodeSeq, peerKind, type PeerHello, type PeerSelf } from "./peer-words.ts";

type Self = PeerSelf;

/** Rejects where the machine does not lead, or is not reached. */
export async function openRemoteSession(
  leader: string,
  tls: PeerTls,
  { self, slot }: { readonly self: Self; readonly slot: SlotToken | undefined },
): Promise<ProcessSession> {
  const hello: PeerHello = { ...self, purpose: "session", slot };
  const { socket, welcome } = await dialPeer(leader, tls, hello);
  return new RemoteSession(socket, welcome[0] === 1);
}

interface Asked {
  resolve(answer: PlacedAnswer): void;
  reject(error: Error): void;
}

class RemoteSession implements ProcessSession {
  readonly hasSlot: boolean;
  readonly #socket: Socket;
  readonly #asked = new PendingTable<Asked>();
  #onLost: () => void = () => {};

  constructor(socket: Socket, hasSlot: boolean) {
    this.#socket = socket;
    this.hasSlot = hasSlot;
    readFrames(socket, ({ kind, request, payload }) => {
      const seq = decodeSeq(payload);
      this.#asked.take(request)?.resolve({ kind, seq, payload: payload.subarray(8) });
    });
    socket.once("close", () => {
      for (const one of this.#asked.clear()) one.reject(new Error("the leader is lost"));
      this.#onLost();
    });
  }

  ask(kind: number, payload: Uint8Array): Promise<PlacedAnswer> {
    if (this.#socket.destroyed || this.#asked.size >= pendingSlotsMax) {
      return Promise.reject(new Error("the leader is lost"));
    }
    return new Promise((resolve, reject) => {
      const request = this.#asked.add({ resolve, reject });
      sendFrame(this.#socket, kind, payload, request);
    });
  }

  onLost(listener: () => void): void {
    this.#onLost = listener;
    if (this.#socket.destroyed) listener();
  }

  close(): void {
    this.#socket.destroy();
  }
}

/** The leader's end of such a session. */
export interface ServedSession {
  readonly node: string;
  readonly slot: number | undefined;
  onClose(listener: () => void): void;
  close(): void;
}

interface SessionHost {
  /** Up to where answers of now rest on the log. */
  readonly seq: () => number;
  /** Whether what was answered is to be told: not where the lead was lost meanwhile. */
  readonly leads: () => boolean;
  /** The process has taken a slot, or is gone. */
  readonly onChange: () => void;
}

export type SessionHello = PeerHello & { readonly purpose: "session" };

export function serveSession(
  socket: Socket,
  session: LinkSession,
  { hello, host }: { readonly hello: SessionHello; readonly host: SessionHost },
): ServedSession {
  const { slot, node } = hello;
  const hasSlot = slot !== undefined && session.rejoin(slot);
  sendFrame(socket, peerKind.welcome, Uint8Array.of(hasSlot ? 1 : 0));
  readFrames(socket, ({ kind, request, payload }) => {
    const before = session.slot;
    void session.answer(kind, payload).then((answer) => {
      // Whoever leads next is asked again, and knows what came of it.
      if (!host.leads()) {
        socket.destroy();
        return;
      }
      sendFrame(
        socket,
        answer.kind,
        Buffer.concat([encodeSeq(host.seq()), answer.payload]),
        request,
      );
      if (session.slot !== before) host.onChange();
    });
  });
  socket.once("close", () => {
    session.leave();
    host.onChange();
  });
  return {
    node,
    get slot() {
      return session.slot?.slot;
    },
    onClose: (listener) => void socket.once("close", listener),
    close: () => void socket.destroy(),
  };
}

interface OwnSessionHost extends SessionHost {
  readonly onClose: () => void;
}

/** The session of a process of the machine that leads. */
export class OwnSession implements ProcessSession {
  readonly hasSlot: boolean;
  readonly #session: LinkSession;
  readonly #host: OwnSessionHost;
  #onLost: () => void = () => {};

  constructor(session: LinkSession, slot: SlotToken | undefined, host: OwnSessionHost) {
    this.#session = session;
    this.#host = host;
    this.hasSlot = slot !== undefined && session.rejoin(slot);
  }

  async ask(kind: number, payload: Uint8Array): Promise<PlacedAnswer> {
    const before = this.#session.slot;
    const answer = await this.#session.answer(kind, payload);
    if (!this.#host.leads()) throw new Error("the lead is lost");
    if (this.#session.slot !== before) this.#host.onChange();
    // This machine has applied it.
    return { ...answer, seq: 0 };
  }

  onLost(listener: () => void): void {
    this.#onLost = listener;
  }

  close(): void {
    this.#session.leave();
    this.#host.onClose();
    this.#host.onChange();
  }

  /** The lead is lost. */
  lose(): void {
    this.#onLost();
  }
}
