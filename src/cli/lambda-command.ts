/** The command `weft lambda`. */
import type { Command } from "commander";
import { configFlag, configHelp, setting } from "./setting.ts";

export const lambdaLimitHelp =
  '"time=50s; block=5s; memory=256MB; script-bytes=500KB; running=2; processes=16; fetch=HOST,…; errors=own"';

/** The options of `weft lambda`. */
export interface LambdaOptions {
  readonly http: string;
  readonly graphql: string;
  readonly token: string | undefined;
  readonly limit: string;
  readonly log: string;
}

export function addLambda(program: Command): void {
  const { PORT: port, SCRIPT_PATH: path, DGRAPH_URL: url } = process.env;
  program
    .command("lambda")
    .description("run a script's resolvers for a database")
    .argument("[script]", "JavaScript or TypeScript (SCRIPT_PATH)", path ?? "./script/script.js")
    .addOption(
      setting("--http <host:port>", "where to listen (PORT)").default(`127.0.0.1:${port ?? 8686}`),
    )
    .addOption(
      setting("--graphql <url>", "the database (DGRAPH_URL)").default(
        url ?? "http://127.0.0.1:8080",
      ),
    )
    .addOption(setting("--token <token>", "sent as X-Auth-Token (DGRAPH_TOKEN)"))
    .addOption(setting("--limit <settings>", lambdaLimitHelp).default(""))
    .addOption(setting("--log <settings>", 'LEVEL, or "level=info; format=json"').default("info"))
    .addOption(setting(configFlag, configHelp))
    .addHelpText(
      "after",
      `
Answers POST /graphql-worker. A database calls it when it is started with --lambda-url.

Examples:
  weft lambda ./resolvers.ts --http 127.0.0.1:8686 --graphql http://127.0.0.1:8080
  SCRIPT_PATH=./resolvers.js PORT=8686 DGRAPH_URL=http://127.0.0.1:8080 weft lambda`,
    )
    .action(async (script: string, options: LambdaOptions) => {
      const { runLambda } = await import("./command-lambda.ts");
      await runLambda(script, options);
    });
}
