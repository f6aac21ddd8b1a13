/** The gRPC server of one process: calls of the service `api.Dgraph`, answered by the same engine as HTTP. */
import type { Socket } from "node:net";
import { metrics } from "../base/metrics.ts";
import { markPeer, openTls, type TlsAcceptor, type TlsMaterial } from "../http/interface.ts";
import type { GrpcContext } from "./call.ts";
import { Connections } from "./connections.ts";
import { Service } from "./service.ts";

export interface GrpcServer {
  /** Takes over a connection that another process has accepted, from where it says. `isTls`: it begins with a handshake. */
  accept(socket: Socket, address: string, isTls: boolean): void;
  /** For connections to come. */
  reloadTls(material: TlsMaterial): void;
  /** What comes through the socket file is believed to come from a process of this server. */
  listen(path: string): Promise<void>;
  /** Tells clients to call elsewhere, answers what is under way and resolves when nothing is. */
  drain(): Promise<void>;
}

/** `tls`: for connections that begin with a handshake; undefined: there are none. */
export function openGrpcServer(context: GrpcContext, tls?: TlsMaterial): GrpcServer {
  const service = new Service(context);
  const { clock, limits } = context;
  const { answer } = service;
  const connectionsMax = limits.grpcConnectionsMax;
  const words = `this process has ${connectionsMax} connections already (--limit grpc-connections)`;
  const open = new Connections({ clock, answer, bound: { connectionsMax, words } });
  const own = new Connections({ clock, answer, bound: undefined });
  metrics.gauge("weft_grpc_connections", "Connections to the port for gRPC", () => open.count);
  const take = (socket: Socket, address: string): void => {
    markPeer(socket, { kind: "network", address });
    open.accept(socket);
  };
  const acceptor: TlsAcceptor | undefined =
    tls && openTls(tls, (socket) => take(socket, socket.remoteAddress ?? ""), ["h2"]);
  return {
    accept(socket, address, isTls) {
      socket.setNoDelay(true);
      if (!isTls) take(socket, address);
      else if (acceptor === undefined) socket.destroy();
      else acceptor.accept(socket);
      socket.resume();
    },
    reloadTls: (material) => acceptor?.reload(material),
    listen: (path) => own.listen(path),
    drain: async () => {
      await open.drain();
      // Whose calls were handed over have their answers now; what others hand over is theirs to wait for.
      await own.drain();
      service.close();
    },
  };
}
