/**
 * Hands a request, whole, to the process that holds its transaction (reference/transactions 2), and its answer back.
 */
import { Agent, request, type IncomingMessage, type ServerResponse } from "node:http";
import { Fault } from "../model/fault.ts";
import { readParameters, type Exchange } from "./exchange.ts";
import { dropRecord } from "./audit.ts";
import { parseBoolParameter } from "./parameters.ts";
import { findRemoteAddress, handedOverFrom } from "./peer.ts";
import { engineShape, makeErrorReply, sendError } from "./reply.ts";

/** What of the head belongs to one connection only. */
const ownToConnection = new Set(["connection", "keep-alive", "transfer-encoding", "upgrade"]);

/**
 * Connections stay open: an owner that answers and closes at once would break the last, empty write of a request that is
 * still being ended here. Idle ones end before the owner's own limit.
 */
const agent = new Agent({ keepAlive: true, timeout: 30_000 });

/**
 * Streams body and answer through the owner's unix socket. When it has died the transaction is gone with it, unless it
 * was asked to commit: then nobody knows.
 */
export function handOver(exchange: Exchange, socketPath: string): Promise<void> {
  const { req, res, context } = exchange;
  dropRecord(res);
  exchange.watched.isHandedOver = true;
  return new Promise((resolve) => {
    const headers: Record<string, string | string[] | undefined> = {};
    for (const [name, value] of Object.entries(req.headers)) {
      // Of HTTP/2, a name that begins with a colon is not a header; the host has its own as well.
      const isHeader = !name.startsWith(":") && !ownToConnection.has(name);
      if (isHeader && name !== handedOverFrom) headers[name] = value;
    }
    if (headers["content-length"] === undefined) headers["transfer-encoding"] = "chunked";
    headers[handedOverFrom] = findRemoteAddress(req);
    headers["x-request-id"] = exchange.watched.id;
    const path = req.url ?? "/";
    const method = req.method ?? "POST";
    const onward = request({ socketPath, method, path, headers, agent });
    let isReached = false;
    onward.once("socket", (socket) => {
      isReached = !socket.connecting;
      // One that is used again never connects again: its listeners would only become more.
      if (!isReached) socket.once("connect", () => (isReached = true));
    });
    onward.on("response", (answer) => passBack(answer, res, resolve));
    onward.on("error", () => {
      const fault = isReached && mayCommit(exchange) ? unknownOutcome() : aborted();
      if (!res.headersSent) sendError(res, makeErrorReply(fault, engineShape, context.logger));
      else res.destroy();
      resolve();
    });
    res.once("close", () => onward.destroy());
    req.pipe(onward);
  });
}

function mayCommit(exchange: Exchange): boolean {
  const parameters = readParameters(exchange);
  try {
    return exchange.path === "/commit"
      ? !parseBoolParameter(parameters, "abort")
      : parseBoolParameter(parameters, "commitNow");
  } catch {
    // The route refuses it.
    return false;
  }
}

function aborted(): Fault {
  return new Fault(
    "E_TXN_ABORTED",
    "rpc error: code = Aborted desc = Transaction has been aborted. Please retry",
  );
}

function unknownOutcome(): Fault {
  return new Fault("E_OUTCOME_UNKNOWN", "the outcome of the transaction is unknown");
}

function passBack(answer: IncomingMessage, res: ServerResponse, done: () => void): void {
  const headers: string[] = [];
  for (let i = 0; i < answer.rawHeaders.length; i += 2) {
    const name = answer.rawHeaders[i] ?? "";
    if (!ownToConnection.has(name.toLowerCase()))
      headers.push(name, answer.rawHeaders[i + 1] ?? "");
  }
  res.writeHead(answer.statusCode ?? 502, headers);
  answer.on("error", () => res.destroy());
  answer.on("close", done);
  answer.pipe(res);
}
