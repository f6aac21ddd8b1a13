/** Connections between machines: mutual TLS by the cluster's own authority, a hello, and then what its purpose says. */
import { connect, type TLSSocket } from "node:tls";
import type { Socket } from "node:net";
import { encodeFrame, FrameCutter, type StreamFrame } from "../base/frames.ts";
import {
  encodePeerHello,
  helloBytesMax,
  peerFrameBytesMax,
  peerKind,
  type PeerHello,
} from "./peer-words.ts";

/** PEM. Whoever has a certificate of `ca` is a machine of the cluster. */
export interface PeerTls {
  readonly ca: Buffer;
  readonly cert: Buffer;
  readonly key: Buffer;
}

/** The other side answered that it does not do this now. */
export class PeerRefused extends Error {
  override readonly name = "PeerRefused";
}

/** Nothing is heard of the other side. */
export class PeerSilent extends Error {
  override readonly name = "PeerSilent";
}

/** How long a connection may take to be made and answered. */
const dialMs = 3000;

interface Dialled {
  readonly socket: TLSSocket;
  readonly welcome: Uint8Array;
}

/** Rejects with `PeerRefused`, or as the network does. `address`: HOST:PORT. */
export async function dialPeer(address: string, tls: PeerTls, hello: PeerHello): Promise<Dialled> {
  const at = address.lastIndexOf(":");
  const host = address.slice(0, at).replace(/^\[(.*)\]$/, "$1");
  const port = Number(address.slice(at + 1));
  const socket = connect({ host, port, ...tls, minVersion: "TLSv1.2" });
  socket.setNoDelay(true);
  const silent = new PeerSilent("the machine does not answer");
  const timer = setTimeout(() => socket.destroy(silent), dialMs);
  try {
    await new Promise<void>((resolve, reject) => {
      socket.once("secureConnect", resolve);
      socket.once("error", reject);
      socket.once("close", () => reject(new Error("the connection was closed")));
    });
    socket.write(encodeFrame(peerKind.hello, 0, encodePeerHello(hello)));
    const frame = await readFrame(socket);
    if (frame.kind === peerKind.refused) {
      throw new PeerRefused(Buffer.from(frame.payload).toString());
    }
    if (frame.kind !== peerKind.welcome) throw new Error("the machine speaks another protocol");
    socket.on("error", () => socket.destroy());
    return { socket, welcome: frame.payload };
  } catch (error) {
    socket.on("error", () => {});
    socket.destroy();
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

/** The first frame of a connection; what follows it is read by whoever reads the socket next, which is paused. */
export function readFrame(socket: Socket): Promise<StreamFrame> {
  return new Promise((resolve, reject) => {
    let held: Buffer = Buffer.alloc(0);
    const end = (error: Error): void => {
      forget();
      reject(error);
    };
    const onClose = (): void => end(new Error("the connection was closed"));
    const onData = (piece: Buffer): void => {
      held = held.length === 0 ? piece : Buffer.concat([held, piece]);
      if (held.length < 4) return;
      const size = 4 + held.readUInt32LE(0);
      if (size < 9 || size > helloBytesMax) {
        end(new Error("the machine speaks another protocol"));
        return;
      }
      if (held.length < size) return;
      forget();
      socket.pause();
      const rest = held.subarray(size);
      if (rest.length > 0) socket.unshift(rest);
      const kind = held.readUInt8(4);
      resolve({ kind, request: held.readUInt32LE(5), payload: held.subarray(9, size) });
    };
    const forget = (): void => {
      socket.off("data", onData);
      socket.off("error", end);
      socket.off("close", onClose);
    };
    socket.on("data", onData);
    socket.on("error", end);
    socket.on("close", onClose);
    socket.resume();
  });
}

/** Reads frames until the connection ends, which a frame that is none, or a `take` that throws, does. */
export function readFrames(socket: Socket, take: (frame: StreamFrame) => void): void {
  const cutter = new FrameCutter(peerFrameBytesMax);
  socket.on("data", (piece: Buffer) => {
    try {
      if (!cutter.push(piece, take)) socket.destroy();
    } catch {
      socket.destroy();
    }
  });
  socket.resume();
}

export function sendFrame(
  socket: Socket,
  kind: number,
  payload: Uint8Array = noBytes,
  request = 0,
): void {
  if (!socket.destroyed) socket.write(encodeFrame(kind, request, payload));
}

const noBytes = new Uint8Array(0);

/**
 * Ends a connection whose other side says nothing for a while, as a network does that loses all and tells nobody. For
 * connections on which something is said every half second.
 */
export function endWhenSilent(socket: Socket, onSilent: () => void): void {
  let isHeard = true;
  const timer = setInterval(() => {
    if (!isHeard) {
      onSilent();
      socket.destroy();
    }
    isHeard = false;
  }, silenceMs / 2);
  timer.unref();
  socket.on("data", () => (isHeard = true));
  socket.once("close", () => clearInterval(timer));
}

/** At the most; half of it at least. */
const silenceMs = 5000;

/**
 * Ends a connection on which nothing has moved for a while, neither way. For those that carry a lot, and then end: what
 * a network swallows is never answered, and whoever waits for the rest of it would wait for ever.
 */
export function endWhenIdle(socket: Socket, ms: number): void {
  socket.setTimeout(ms, () => socket.destroy(new Error(`nothing came for ${ms} ms`)));
}

/** Bytes go both ways until one side ends. */
export function joinSockets(one: Socket, other: Socket): void {
  for (const [from, to] of [
    [one, other],
    [other, one],
  ] as const) {
    from.on("error", () => from.destroy());
    from.once("close", () => to.destroy());
    from.pipe(to);
  }
}
