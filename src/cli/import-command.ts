/** `weft import` as the command line has it. */
import { Option, type Command } from "commander";
import type { CredentialOptions } from "./credentials.ts";
import { addServer } from "./server-flags.ts";
import { configFlag, configHelp, setting } from "./setting.ts";

/** The options of `weft import`. */
export interface ImportFlags extends CredentialOptions {
  readonly files: string;
  readonly mapping: string | undefined;
  readonly format: "csv" | "tsv" | "json" | "ndjson" | undefined;
  readonly graphqlSchema: string | undefined;
  readonly draft: boolean;
  readonly type: string | undefined;
  readonly separator: string | undefined;
  readonly dryRun: boolean;
  readonly onError: "stop" | "skip";
  readonly rejected: string | undefined;
  readonly progress: string | undefined;
  readonly again: boolean;
  readonly batch: string;
  readonly inFlight: string;
}

export function addImport(program: Command): void {
  addServer(program.command("import"))
    .description("load tables (CSV, TSV) and objects (JSON, NDJSON) as nodes of a type")
    .requiredOption("--files <file,…>", "files and folders, plain or .gz; - for standard input")
    .option("--mapping <file>", "which column goes to which field: YAML, or JSON")
    .addOption(
      new Option("--format <format>", "of files whose names do not say it").choices([
        "csv",
        "tsv",
        "json",
        "ndjson",
      ]),
    )
    .option(
      "--graphql-schema <file>",
      "GraphQL schema to set first; with --draft and --dry-run: to use",
    )
    .option("--draft", "write a mapping that fits the first file, and import nothing", false)
    .option("--type <name>", "of a draft: the type of the nodes")
    .option("--separator <text>", "of a draft: between the columns of CSV (,)")
    .option("--dry-run", "show what would be written, and what would be refused", false)
    .addOption(
      new Option("--on-error <what>", "what a faulty row does")
        .choices(["stop", "skip"])
        .default("stop"),
    )
    .option(
      "--rejected <file>",
      "where skipped rows go; default: NAME.rejected.csv beside the mapping",
    )
    .option("--progress <file>", "keeps how far it is; default: MAPPING.progress")
    .option("--again", "import all rows, whatever was imported before", false)
    .addOption(setting("--batch <n>", "rows in a transaction").default("500"))
    .addOption(setting("--in-flight <n>", "transactions under way at once").default("4"))
    .addOption(setting(configFlag, configHelp))
    .addHelpText(
      "after",
      `
What was ended goes on when the same command is called again, and makes nothing twice. A row whose
@id is there already updates its node (existing: keep or refuse in the mapping).

Examples:
  weft import --draft --type Person --files people.csv > people.yaml
  weft import --mapping people.yaml --files people.csv --dry-run
  weft import --mapping people.yaml --files people.csv --to http://127.0.0.1:8080
  weft import --mapping people.yaml --files ./2024,./2025 --on-error skip
  zcat people.ndjson.gz | weft import --mapping people.yaml --files - --format ndjson`,
    )
    .action(async (options: ImportFlags) => {
      const { runImport } = await import("./command-import.ts");
      await runImport(options);
    });
}
