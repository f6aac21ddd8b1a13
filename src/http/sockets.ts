/** Which upgrades are taken as WebSockets (reference/graphql 9.2); every other one is a request like those without. */
import { Buffer } from "node:buffer";
import type { IncomingMessage, Server } from "node:http";
import type { Socket } from "node:net";
import { WebSocketServer } from "ws";
import type { GraphqlService } from "../graphql/service/service.ts";
import type { ServerContext } from "./server-context.ts";
import { judge } from "./gate.ts";
import { mayListen } from "./origins.ts";
import { findRemoteAddress } from "./peer.ts";
import { openConnection } from "./socket-connection.ts";
import type { Dialect } from "./socket-dialect.ts";
import { dialects } from "./socket-dialects.ts";
import { rightOf } from "./rights.ts";
import type { Streams } from "./streams.ts";

/** Nothing of the administration can be subscribed to, but clients of the reference may connect. */
const nothingToSubscribe: Pick<GraphqlService, "subscribe"> = {
  subscribe: () => {
    const message =
      "Not resolving subscription because schema doesn't have any fields defined for subscription operation.";
    return Promise.resolve({ kind: "refused", message, errors: [{ message }] });
  },
};

/** Takes the upgrades of `server`. */
export function serveSockets(server: Server, context: ServerContext, streams: Streams): void {
  const { socketMessageBytesMax } = context.limits;
  const acceptor = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    autoPong: false,
    // Compressing each push for each reader would cost more than the network.
    perMessageDeflate: false,
    maxPayload: socketMessageBytesMax,
    handleProtocols: (offered) => chooseDialect(offered)?.name ?? false,
  });
  server.on("upgrade", (req: IncomingMessage, socket: Socket, head: Buffer) => {
    const path = (req.url ?? "/").replace(/\?.*$/s, "");
    const dialect = isWebSocket(req, path) ? chooseDialect(offersOf(req)) : undefined;
    if (dialect === undefined || (path === "/admin" && dialect.answersAll)) {
      readAgain(server, req, socket, head);
      return;
    }
    const service = path === "/admin" ? nothingToSubscribe : context.graphql;
    socket.on("error", () => socket.destroy());
    mayOpen(req, context, streams)
      .then((status) => {
        if (status !== undefined) {
          socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
          return;
        }
        acceptor.handleUpgrade(req, socket, head, (webSocket) => {
          const { headers } = req;
          const remoteAddress = findRemoteAddress(req);
          const parts = { webSocket, socket, dialect, context, streams, service };
          openConnection({ ...parts, headers, remoteAddress });
        });
      })
      .catch(() => socket.destroy());
  });
}

function isWebSocket(req: IncomingMessage, path: string): boolean {
  if (path !== "/graphql" && path !== "/admin") return false;
  return req.method === "GET" && req.headers.upgrade?.toLowerCase() === "websocket";
}

function offersOf(req: IncomingMessage): Set<string> {
  const offers = (req.headers["sec-websocket-protocol"] ?? "").split(",");
  return new Set(offers.map((offer) => offer.trim()));
}

function chooseDialect(offered: ReadonlySet<string>): Dialect | undefined {
  return dialects.find(({ name }) => offered.has(name));
}

/** A status that refuses the upgrade; undefined for none. */
async function mayOpen(
  req: IncomingMessage,
  context: ServerContext,
  streams: Streams,
): Promise<string | undefined> {
  if (streams.isFull || context.controls.switches.isDraining) return "503 Service Unavailable";
  if (await isForeignName(req, context)) return "403 Forbidden";
  return (await mayListen(context, req.headers, req.headers)) ? undefined : "403 Forbidden";
}

/** Keys are judged with each operation, since they may come with the first message; what the browser says is here. */
async function isForeignName(req: IncomingMessage, context: ServerContext): Promise<boolean> {
  return (await judge(rightOf("/graphql"), req, context))?.kind === "page";
}

/**
 * A server that listens for upgrades is handed every one of them, also those to protocols that nobody here speaks, which
 * are to be answered as if nothing had been offered: the request is read once more, without its offer.
 */
function readAgain(server: Server, req: IncomingMessage, socket: Socket, head: Buffer): void {
  const lines = [`${req.method ?? "GET"} ${req.url ?? "/"} HTTP/${req.httpVersion}`];
  for (let i = 0; i < req.rawHeaders.length; i += 2) {
    const name = req.rawHeaders[i] ?? "";
    const value = req.rawHeaders[i + 1] ?? "";
    if (/^upgrade$/i.test(name)) continue;
    const kept = /^connection$/i.test(name) ? withoutUpgrade(value) : value;
    if (kept !== "") lines.push(`${name}: ${kept}`);
  }
  const start = Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1");
  socket.unshift(Buffer.concat([start, head]));
  server.emit("connection", socket);
  socket.resume();
}

function withoutUpgrade(connection: string): string {
  const words = connection.split(",").map((word) => word.trim());
  return words.filter((word) => word.toLowerCase() !== "upgrade").join(", ");
}
