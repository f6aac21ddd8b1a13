/** The lambda server beside a database: a child of the supervisor's like the others, without a store. */
import { systemClock } from "../base/clock.ts";
import { ScriptFault, type ScriptProblem } from "../lambda/script-fault.ts";
import { openLambdaServer } from "../lambda/server.ts";
import type { LambdaServer } from "../lambda/server.ts";
import { urlOfAddress } from "./address.ts";
import type { ServeConfig } from "./config.ts";
import { makeLogger } from "./log.ts";
import type { ScriptReport, ToChild } from "./messages.ts";
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

/** For `weft dev`. Never rejects. */
export function reloadScript(
  server: LambdaServer,
  { script }: Extract<ToChild, { kind: "reloadScript" }>,
): Promise<ScriptReport> {
  return server.reload(script).then(
    (loaded): ScriptReport => ({ ok: true, script: loaded }),
    (error: unknown): ScriptReport => ({ ok: false, problems: problemsOf(error) }),
  );
}

function problemsOf(error: unknown): readonly ScriptProblem[] {
  if (error instanceof ScriptFault) return error.problems;
  const text = error instanceof Error ? error.message : String(error);
  return [{ text, place: undefined, lineText: undefined }];
}
