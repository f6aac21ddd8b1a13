/** The commands that fill a running server: `weft live` and `weft sample`. */
import { type Command, Option } from "commander";
import type { CredentialOptions } from "./credentials.ts";
import { addServer } from "./server-flags.ts";
import { configFlag, configHelp, setting } from "./setting.ts";

/** The options of `weft live`. */
export interface LiveOptions extends CredentialOptions {
  readonly files: string;
  readonly schema: string | undefined;
  readonly graphqlSchema: string | undefined;
  readonly format: "rdf" | "json" | undefined;
  readonly xidmap: string | undefined;
  readonly upsertPredicate: string | undefined;
  readonly batch: string;
  readonly inFlight: string;
}

export function addLive(program: Command): void {
  addServer(program.command("live"))
    .description("load RDF or JSON files into a running server")
    .requiredOption("--files <file,…>", "files and folders: .rdf or .json, plain or .gz")
    .addOption(new Option("--format <format>", "of all files").choices(["rdf", "json"]))
    .option("--schema <file>", "DQL schema to set first, plain or .gz")
    .option("--graphql-schema <file>", "GraphQL schema to set first, or as an export has it")
    .option("--xidmap <file>", "keeps the uids of labels, and goes on where a load was ended")
    .option("--upsert-predicate <name>", "its values are keys, as those of @id and @unique")
    .addOption(setting("--batch <n>", "facts in a request").default("1000"))
    .addOption(setting("--in-flight <n>", "requests under way at once").default("8"))
    .addOption(setting(configFlag, configHelp))
    .addHelpText(
      "after",
      `
Blank nodes are the same nodes through the whole load, over all its files.

Examples:
  weft live --files film.rdf.gz --schema film.schema --to http://127.0.0.1:8080
  weft live --files people.json,more.rdf --graphql-schema schema.graphql --token secret
  WEFT_CREDS="user=groot; password=…" weft live --files film.rdf.gz`,
    )
    .action(async (options: LiveOptions) => {
      const { runLive } = await import("./command-live.ts");
      await runLive(options);
    });
}

/** The options of `weft sample`. */
export interface SampleOptions extends CredentialOptions {
  /** undefined: the packages that come with Weft. */
  readonly npm: string | undefined;
}

export function addSample(program: Command): void {
  addServer(program.command("sample"))
    .description("load a graph of npm packages into a running server")
    .addOption(setting("--npm <dir>", "project whose node_modules to read instead of Weft's own"))
    .addOption(setting(configFlag, configHelp))
    .addHelpText(
      "after",
      `
Examples:
  weft sample --to http://127.0.0.1:8080
  weft sample --npm . --to http://127.0.0.1:8080
  weft sample --npm ~/projects/shop --token secret`,
    )
    .action(async (options: SampleOptions) => {
      const { runSample } = await import("./command-sample.ts");
      await runSample(options);
    });
}
