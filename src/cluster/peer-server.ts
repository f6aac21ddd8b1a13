/** Where a machine takes connections of the others. Whoever has no certificate of the cluster's authority is not heard. */
import { createServer } from "node:tls";
import type { AddressInfo, Socket } from "node:net";
import type { Logger } from "../base/log.ts";
import { Fault } from "../model/fault.ts";
import { Seldom } from "./seldom.ts";
import { readFrame, sendFrame, type PeerTls } from "./peer-connection.ts";
import { decodePeerHello, peerKind, type PeerHello } from "./peer-words.ts";

interface PeerServerOptions {
  /** HOST:PORT to bind. */
  readonly bind: { readonly host: string; readonly port: number };
  readonly tls: PeerTls;
  readonly storeId: string;
  readonly logger: Logger;
  /** A connection with its hello, paused. What it throws is told to the other side as a refusal. */
  readonly take: (hello: PeerHello, socket: Socket) => void | Promise<void>;
}

export interface PeerServer {
  readonly port: number;
  exchangeTls(tls: PeerTls): void;
  close(): Promise<void>;
}

/** For a handshake and a hello. */
const greetMs = 5000;
const connectionsMax = 2000;

/** Fault E_STARTUP where the address cannot be bound. */
export async function openPeerServer(options: PeerServerOptions): Promise<PeerServer> {
  const { bind, tls, logger } = options;
  const sockets = new Set<Socket>();
  const server = createServer(
    {
      ...tls,
      requestCert: true,
      rejectUnauthorized: true,
      minVersion: "TLSv1.2",
      handshakeTimeout: greetMs,
    },
    (socket) => {
      socket.setNoDelay(true);
      void greet(socket, options);
    },
  );
  server.maxConnections = connectionsMax;
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  const seldom = new Seldom();
  server.on("tlsClientError", (error, socket) => {
    const why = socket.authorizationError?.message ?? error.message;
    const from = socket.remoteAddress;
    seldom.do(() => logger.warn("a connection to the cluster's address is refused", { from, why }));
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error) => {
      reject(
        new Fault(
          "E_STARTUP",
          `--cluster: cannot listen on ${bind.host}:${bind.port}: ${error.message}`,
        ),
      );
    });
    server.listen(bind.port, bind.host, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    exchangeTls: (next) => server.setSecureContext(next),
    close: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

async function greet(socket: Socket, { storeId, take }: PeerServerOptions): Promise<void> {
  const timer = setTimeout(() => socket.destroy(), greetMs);
  try {
    const frame = await readFrame(socket);
    if (frame.kind !== peerKind.hello) throw new Error("it begins with no hello");
    const hello = decodePeerHello(frame.payload);
    socket.on("error", () => socket.destroy());
    if (hello.storeId !== storeId) throw new Error("it is a machine of another store");
    await take(hello, socket);
  } catch (error) {
    socket.on("error", () => {});
    const why = error instanceof Error ? error.message : String(error);
    sendFrame(socket, peerKind.refused, Buffer.from(why));
    socket.end();
    setTimeout(() => socket.destroy(), 500).unref();
  } finally {
    clearTimeout(timer);
  }
}
