/**
 * Whom a connection comes from, as the listener that took it says. It is written down when the connection is accepted:
 * later a socket may have lost its address (after a reset it has none), and a header is whatever its sender likes.
 */
import type { IncomingMessage } from "node:http";

/**
 * network: an address, "" for a connection that had none left when it was accepted; it is nobody's. private: another
 * process of this server, which alone is believed when it names the address of somebody else.
 */
export type Peer =
  { readonly kind: "network"; readonly address: string } | { readonly kind: "private" };

const peerKey = Symbol("peer");

interface Marked {
  [peerKey]?: Peer;
}

export const privatePeer: Peer = { kind: "private" };
const nowhere: Peer = { kind: "network", address: "" };

/** Without effect on a socket that is marked already. */
export function markPeer(socket: object, peer: Peer): void {
  (socket as Marked)[peerKey] ??= peer;
}

/** From nowhere, unless the socket is marked. */
export function peerOf(req: Pick<IncomingMessage, "socket">): Peer {
  return (req.socket as Marked)[peerKey] ?? nowhere;
}

/**
 * Names the first sender of a request that a process hands over to the owner of its transaction. Read on the private
 * socket alone; what a client sends under this name is dropped.
 */
export const handedOverFrom = "x-weft-remote-address";

/** The sender's address; "" for none. */
export function findRemoteAddress(req: Pick<IncomingMessage, "socket" | "headers">): string {
  const peer = peerOf(req);
  if (peer.kind === "network") return peer.address;
  const handed = req.headers[handedOverFrom];
  return typeof handed === "string" ? handed : "";
}
