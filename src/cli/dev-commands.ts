/** `weft dev`: its flags, beside those of `weft serve`. */
import { Option, type Command } from "commander";
import type { ServeOptions } from "./config.ts";
import { setting } from "./setting.ts";

/**
 * Which migrations are applied as they are saved. safe: those that lose nothing, others when they are asked for. all:
 * every one. off: none; they are checked alone.
 */
export type MigrateMode = (typeof migrateModes)[number];

const migrateModes = ["safe", "all", "off"] as const;

/** The options of `weft dev`. */
export interface DevOptions extends ServeOptions {
  readonly schema: string;
  readonly migrations: string;
  readonly migrate: MigrateMode;
  readonly fixtures: string | undefined;
  /** `--no-types` is false. */
  readonly types: string | boolean;
  readonly reset: boolean;
}

/** The options of `weft init`. */
export interface InitOptions {
  readonly template: "typescript" | "javascript" | "minimal";
  readonly force: boolean;
}

export function addInit(program: Command): void {
  program
    .command("init")
    .description("make a project that starts: schema, resolvers, fixtures, a test, a container")
    .argument("[dir]", "its folder, made when it is missing", ".")
    .addOption(
      new Option("--template <name>", "what it begins with")
        .choices(["typescript", "javascript", "minimal"])
        .default("typescript"),
    )
    .option("--force", "in a folder that is not empty; files that are there stay", false)
    .addHelpText(
      "after",
      `
Nothing is asked, and nothing that is there is changed. minimal is a schema alone.

Examples:
  weft init shop
  weft init shop --template javascript`,
    )
    .action(async (dir: string, options: InitOptions) => {
      const { runInit } = await import("./command-init.ts");
      runInit(dir, options);
    });
}

/** In place of what `weft serve` begins with. */
const ownDefaults: Readonly<Record<string, string>> = {
  "--data": ".weft",
  "--workers": "1",
  "--log": "level=info; slow=200ms",
  "--drain": "2s",
};

/** Flags of `weft serve` that its help shows. */
const shown = new Set(["--data", "--http", "--lambda", "--log"]);

export function addDev(program: Command, addServeOptions: (command: Command) => Command): void {
  const command = program
    .command("dev")
    .description("serve a project while it is written: schema, resolvers and fixtures on save")
    .argument("[dir]", "folder of the project", ".")
    .addOption(setting("--schema <file>", "GraphQL schema").default("schema.graphql"))
    .addOption(
      setting("--migrations <dir>", "applied at the start, and on save").default("migrations"),
    )
    .addOption(
      setting("--migrate <which>", "safe: those that lose nothing, others when asked; all; off")
        .choices([...migrateModes])
        .default("safe"),
    )
    .addOption(
      setting("--fixtures <path>", "data for an empty store: .graphql, .json, .rdf, or a folder"),
    )
    .addOption(setting("--types <dir>", "where types are written").default("weft"))
    .addOption(new Option("--no-types", "write none"))
    .option("--reset", "begin with an empty store", false);
  addServeOptions(command);
  for (const option of command.options) {
    const given = ownDefaults[option.long ?? ""];
    if (given !== undefined) {
      option.default(given);
      command.setOptionValueWithSource(option.attributeName(), given, "default");
    }
  }
  hideOthers(command);
  command
    .addHelpText(
      "after",
      `
All flags of weft serve work, too (weft help serve). A schema that is wrong, or that stored data does not fit, leaves
the one of before running. Resolvers are looked for in resolvers.ts, resolvers.js, and in src.

Examples:
  weft dev
  weft dev ./shop --http 127.0.0.1:9000
  weft dev --reset --fixtures test/people.graphql`,
    )
    .action(async (dir: string, options: DevOptions) => {
      const { runDev } = await import("./command-dev.ts");
      await runDev(dir, options);
    });
}

/** Behind the flags that are this command's own. */
function hideOthers(command: Command): void {
  const own = new Set(["schema", "migrations", "migrate", "fixtures", "types", "reset"]);
  for (const option of command.options) {
    const name = option.attributeName();
    if (!own.has(name) && !shown.has(option.long ?? "")) option.hideHelp();
  }
}
