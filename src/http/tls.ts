/**
 * TLS in front of the HTTP server: a connection is what it was without, behind a handshake. Which certificate is shown,
 * and who is let in, is the operator's; what both sides then speak, HTTP/1.1 or HTTP/2, is theirs (ALPN).
 */
import { Buffer } from "node:buffer";
import type { Socket } from "node:net";
import { createServer, type SecureContextOptions, type TLSSocket } from "node:tls";

/**
 * Of clients' certificates. none: not asked for. request: asked for, never looked at. requireany: must be there.
 * verifyifgiven: is from the operator's authority, or is not there. requireandverify: is there, and from it.
 */
export type ClientAuth = "none" | "request" | "requireany" | "verifyifgiven" | "requireandverify";

/** Plain data: it travels to the children as a message. Certificates and keys are PEM. */
export interface TlsMaterial {
  readonly cert: string;
  readonly key: string;
  /** Of the authority that clients' certificates are from. */
  readonly clientCa: string | undefined;
  readonly min: "TLSv1.2" | "TLSv1.3";
  readonly clientAuth: ClientAuth;
  /**
   * 48 bytes in base64, the same in all processes: a client resumes with any of them. Others with each change of the
   * files, so that nobody resumes what would not be let in any more.
   */
  readonly ticketKeys: string;
}

export interface TlsAcceptor {
  accept(socket: Socket): void;
  /** For connections to come; those that are open stay. */
  reload(material: TlsMaterial): void;
}

/** A client that dawdles with its handshake is cut off. */
const handshakeMs = 10_000;

/** `accept`: takes what is agreed on, one of `protocols`. */
export function openTls(
  material: TlsMaterial,
  accept: (socket: TLSSocket) => void,
  protocols: readonly string[] = ["h2", "http/1.1"],
): TlsAcceptor {
  const { clientAuth } = material;
  const server = createServer({
    ...tlsContextOf(material),
    ALPNProtocols: [...protocols],
    handshakeTimeout: handshakeMs,
    requestCert: clientAuth !== "none",
    rejectUnauthorized: clientAuth === "requireandverify",
    noDelay: true,
    pauseOnConnect: false,
  });
  server.on("secureConnection", (socket) => {
    if (isWelcome(socket, clientAuth)) accept(socket);
    else socket.destroy();
  });
  server.on("tlsClientError", (_error, socket) => socket.destroy());
  return {
    accept: (socket) => void server.emit("connection", socket),
    reload: (next) => server.setSecureContext(tlsContextOf(next)),
  };
}

export function tlsContextOf(material: TlsMaterial): SecureContextOptions {
  const { cert, key, clientCa, min, ticketKeys } = material;
  return {
    cert,
    key,
    minVersion: min,
    ticketKeys: Buffer.from(ticketKeys, "base64"),
    ...(clientCa === undefined ? {} : { ca: clientCa }),
  };
}

/** What the handshake itself has not refused. */
function isWelcome(socket: TLSSocket, clientAuth: ClientAuth): boolean {
  if (clientAuth !== "requireany" && clientAuth !== "verifyifgiven") return true;
  const isGiven = Object.keys(socket.getPeerCertificate()).length > 0;
  return clientAuth === "requireany" ? isGiven : !isGiven || socket.authorized;
}
