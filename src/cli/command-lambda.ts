/** `weft lambda`: the lambda server alone, for any database that calls it. */
import { systemClock } from "../base/clock.ts";
import { countWords } from "../base/count-words.ts";
import { openLambdaServer } from "../lambda/server.ts";
import { workerPath } from "../lambda/wire.ts";
import { parseAddress, urlOfAddress } from "./address.ts";
import type { LambdaOptions } from "./lambda-command.ts";
import { parseLambdaSettings } from "./lambda-config.ts";
import { parseLog } from "./log-config.ts";
import { makeLogger, say } from "./log.ts";

/** Runs until a signal ends it. Fault E_STARTUP when the script cannot be used. */
export async function runLambda(script: string, options: LambdaOptions): Promise<void> {
  const { limits, hosts, shows } = parseLambdaSettings("limit", options.limit);
  const server = await openLambdaServer({
    script,
    options: { shows, tracesConsole: false },
    listen: parseAddress(options.http),
    databaseUrl: options.graphql.replace(/\/graphql\/?$/, ""),
    token: options.token ?? process.env["DGRAPH_TOKEN"],
    hosts,
    limits,
    clock: systemClock,
    logger: makeLogger("lambda", parseLog(options.log, process.stderr.isTTY)),
  });
  process.once("exit", () => server.kill());
  const { address, resolvers } = server;
  if (address !== undefined) {
    const count = countWords(resolvers.length, "resolvers");
    say(`${script}: ${count} on ${urlOfAddress(address)}${workerPath}`);
  }
  const signal = await new Promise<string>((resolve) => {
    for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
      process.once(name, () => resolve(name));
    }
  });
  say(`${signal}: stopping`);
  await server.close();
  process.exit(0);
}
