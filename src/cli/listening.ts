/** Where the supervisor takes connections: the address of the settings, and a socket of its own. */
import { rmSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { Fault } from "../model/fault.ts";
import type { Address } from "./address.ts";
import { openPrivateSockets } from "./private-socket.ts";

/**
 * Behind TLS, for what belongs to this server itself: plain HTTP through a socket file in the store's directory, whose
 * rights guard it. Who comes through it is on this machine.
 */
export async function listenBeside(dir: string, accept: (socket: Socket) => void): Promise<Server> {
  const path = openPrivateSockets(dir).pathOf("own");
  rmSync(path, { force: true });
  return await new Promise((resolve, reject) => {
    const server = createServer({ pauseOnConnect: true }, accept);
    server.once("error", reject);
    server.listen({ path, exclusive: true }, () => resolve(server));
  });
}

/** Sockets come paused: the process that answers them reads them. `flag`: which names the address. */
export function listen(
  { host, port }: Address,
  accept: (socket: Socket) => void,
  flag = "--http",
): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer({ pauseOnConnect: true }, accept);
    server.once("error", (error: NodeJS.ErrnoException) => {
      reject(
        new Fault("E_STARTUP", explainListen(error.code, { host, port, flag }), { cause: error }),
      );
    });
    server.listen({ host, port, exclusive: true }, () => resolve(server));
  });
}

function explainListen(
  code: string | undefined,
  { host, port, flag }: Address & { readonly flag: string },
): string {
  const where = `${host}:${port}`;
  if (code === "EADDRINUSE")
    return `port ${port} is in use (${where}); choose another with ${flag}`;
  if (code === "EACCES") return `port ${port} needs more rights than this user has (${where})`;
  if (code === "EADDRNOTAVAIL" || code === "ENOTFOUND")
    return `this machine has no address ${host}`;
  return `cannot listen on ${where} (${code ?? "unknown"})`;
}
