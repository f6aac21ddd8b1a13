/** The lambda server beside a database: a child of the supervisor's like the others, without a store. */
import { systemClock } from "../base/clock.ts";
import { openLambdaServer } from "../lambda/server.ts";
import type { LambdaServer } from "../lambda/server.ts";
import { urlOfAddress } from "./address.ts";
import type { ServeConfig } from "./config.ts";
import { makeLogger } from "./log.ts";
import { openPrivateSockets } from "./private-socket.ts";

/** It listens on a socket in the store's directory: nobody but this database's processes can call it. */
export async function openLambdaBeside(config: ServeConfig): Promise<LambdaServer> {
  const { script, limits, hosts, shows } = config.lambda;
  const sockets = openPrivateSockets(config.dataDir);
  const server = await openLambdaServer({
    script: config.isDevelopment ? undefined : script,
    options: { shows, tracesConsole: config.isDevelopment },
    listen: { path: sockets.pathOf("lambda") },
    databaseUrl: urlOfAddress(config),
    ...(config.tls === undefined ? {} : { databaseSocket: sockets.pathOf("own") }),
    // Resolvers use data, and never administer.
    token: config.ownKeys.client,
    hosts,
    limits,
    clock: systemClock,
    logger: makeLogger("lambda", config.log),
  });
  // Whatever ends this process: resolvers end with it.
  process.once("exit", () => server.kill());
  return server;
}
