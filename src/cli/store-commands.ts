/** Commands that work on the directory of a store: no server is asked. */
import { availableParallelism } from "node:os";
import { Option, type Command } from "commander";
import { configFlag, configHelp, encryptionSetting, setting } from "./setting.ts";

/** The options of `weft bulk`. */
export interface BulkFlags {
  readonly data: string;
  readonly encryption: string;
  readonly files: string;
  readonly format: "rdf" | "json" | undefined;
  readonly schema: string | undefined;
  readonly graphqlSchema: string | undefined;
  readonly newUids: boolean;
  readonly memory: string;
  readonly threads: string;
}

/** The options of `weft export`. */
export interface ExportFlags {
  readonly data: string;
  readonly encryption: string;
  readonly to: string;
  readonly format: "rdf" | "json";
  readonly namespace: string;
  readonly only: "data" | "schema" | "graphql";
}

export function addBulk(program: Command): void {
  program
    .command("bulk")
    .description("load RDF or JSON files into a new store that no server serves yet")
    .addOption(setting("--data <dir>", "directory of the new store").default("./weft-data"))
    .addOption(encryptionSetting())
    .requiredOption("--files <file,…>", "files and folders: .rdf or .json, plain or .gz")
    .addOption(
      new Option("--format <format>", "of all files; default: by their names").choices([
        "rdf",
        "json",
      ]),
    )
    .option("--schema <file>", "DQL schema to begin with, plain or .gz")
    .option("--graphql-schema <file>", "GraphQL schema, plain or .gz, or as an export has it")
    .option("--new-uids", "give nodes new uids in place of those that the files name", false)
    .addOption(
      setting("--memory <size>", "memory that the load may take, nearly, as 512MB or 2GB").default(
        "1GB",
      ),
    )
    .option(
      "--threads <n>",
      "threads beside the one that reads and writes; default: one for each core",
      String(availableParallelism()),
    )
    .addOption(setting(configFlag, configHelp))
    .addHelpText(
      "after",
      `
Several times as fast as weft live, and the store is smaller. Makes the same store.

Examples:
  weft bulk --data ./weft-data --files film.rdf.gz --schema film.schema
  weft bulk --data ./weft-data --files ./export --schema ./export/g01.schema.gz \\
    --graphql-schema ./export/g01.gql_schema.gz --memory 2GB`,
    )
    .action(async (options: BulkFlags) => {
      const { runBulk } = await import("./command-bulk.ts");
      await runBulk(options);
    });
}

/** The options of `weft compact`. */
export interface CompactFlags {
  readonly data: string;
  readonly encryption: string;
}

export function addCompact(program: Command): void {
  program
    .command("compact")
    .description(
      "give the room that a store no longer needs back to the disk, also beside a running server",
    )
    .addOption(setting("--data <dir>", "directory of the store").default("./weft-data"))
    .addOption(encryptionSetting())
    .addOption(setting(configFlag, configHelp))
    .addHelpText(
      "after",
      `
Writes the store anew beside the old one, verifies each row on the way, and puts it in its place.
A stop at any moment leaves the old store or the new one. A server that has the store open goes on
answering; its writes wait for some milliseconds at the end.

Examples:
  weft compact --data ./weft-data`,
    )
    .action(async (options: CompactFlags) => {
      const { runCompact } = await import("./command-compact.ts");
      await runCompact(options);
    });
}

export function addExport(program: Command): void {
  program
    .command("export")
    .description("write all data and schemas of a store to files that loaders read")
    .addOption(setting("--data <dir>", "directory of the store").default("./weft-data"))
    .addOption(encryptionSetting())
    .requiredOption(
      "--to <place>",
      "directory or s3://BUCKET/PREFIX; - writes plain text to stdout",
    )
    .addOption(
      new Option("--format <format>", "of the facts").choices(["rdf", "json"]).default("rdf"),
    )
    .option("--namespace <n,…>", "which namespaces", "all")
    .addOption(
      new Option("--only <part>", "what goes to stdout")
        .choices(["data", "schema", "graphql"])
        .default("data"),
    )
    .addOption(setting(configFlag, configHelp))
    .addHelpText(
      "after",
      `
Reads the store beside a running server, or without one, as it is at one commit. Makes g01.rdf.gz
(or g01.json.gz), g01.schema.gz and g01.gql_schema.gz. What was ended half-way goes on when it is
called again, as long as nothing was written to the store meanwhile. To a bucket it begins anew.

Examples:
  weft export --data ./weft-data --to ./export
  weft export --to ./export --format json --namespace 0,7
  weft export --to s3://copies/shop/2026-11-25
  weft export --to - | gzip > film.rdf.gz
  weft export --to - --only schema`,
    )
    .action(async (options: ExportFlags) => {
      const { runExport } = await import("./command-export.ts");
      await runExport(options);
    });
}
