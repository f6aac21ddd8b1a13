/** The commands about requests: `weft top`, `weft kill` and `weft explain`. */
import type { Command } from "commander";
import type { CredentialOptions } from "./credentials.ts";
import { addServer } from "./server-flags.ts";
import { configFlag, configHelp, setting } from "./setting.ts";

/** The options of `weft top`. */
export interface TopOptions extends CredentialOptions {
  readonly tag: string | undefined;
  readonly every: string | undefined;
  readonly json: boolean;
}

export function addTop(program: Command): void {
  addServer(program.command("top"))
    .description("show the requests that run on a server now, the longest first")
    .option("--tag <tag>", "those with this tag alone (header X-Weft-Tag, or ?tag= of the request)")
    .option("--every <duration>", "again and again, until it is interrupted")
    .option("--json", "print JSON instead of a table", false)
    .addOption(setting(configFlag, configHelp))
    .addHelpText(
      "after",
      `
Examples:
  weft top
  weft top --every 2s --tag nightly-report`,
    )
    .action(async (options: TopOptions) => {
      const { runTop } = await import("./command-top.ts");
      await runTop(options);
    });
}

/** The options of `weft kill`. */
export interface KillOptions extends CredentialOptions {
  readonly tag: string | undefined;
}

export function addKill(program: Command): void {
  addServer(program.command("kill"))
    .description("end requests that run on a server")
    .argument("[id...]", "ids, as weft top shows them")
    .option("--tag <tag>", "all requests with this tag")
    .addOption(setting(configFlag, configHelp))
    .addHelpText(
      "after",
      `
Examples:
  weft kill cy7-mwtgyh6y-1
  weft kill --tag nightly-report`,
    )
    .action(async (ids: string[], options: KillOptions) => {
      const { runKill } = await import("./command-top.ts");
      await runKill(ids, options);
    });
}

/** The options of `weft explain`. */
export interface ExplainFlags extends CredentialOptions {
  readonly header: readonly string[];
  readonly profile: boolean;
  readonly json: boolean;
  readonly graphql: boolean;
  readonly variables: string | undefined;
}

export function addExplain(program: Command): void {
  addServer(program.command("explain"))
    .description("show how a running server would run a query, or with --profile, how it did")
    .argument("<file>", "the query; - for standard input")
    .option("--profile", "run the query and measure its steps", false)
    .option("--json", "print JSON instead of a table", false)
    .option("--graphql", "the query is GraphQL, not DQL", false)
    .option("--variables <json>", "values of the query's variables, as a JSON object")
    .option(
      "--header <name: value>",
      "sent along, such as an application's token; may be repeated",
      collect,
      [],
    )
    .addOption(setting(configFlag, configHelp))
    .addHelpText(
      "after",
      `
GraphQL is explained to administrators alone: the numbers tell of nodes that rules hide.

Examples:
  weft explain query.dql
  weft explain --profile --to http://127.0.0.1:8080 query.dql
  echo '{ q(func: has(name), first: 5) { name } }' | weft explain --profile -
  weft explain --graphql --variables '{"city": "Oslo"}' --key KEY query.graphql`,
    )
    .action(async (file: string, options: ExplainFlags) => {
      const { runExplain } = await import("./command-explain.ts");
      await runExplain(file, options);
    });
}

function collect(value: string, before: readonly string[]): readonly string[] {
  return [...before, value];
}
