/** `weft schema …`: GraphQL schemas in files, and on a server that has data. */
import { Option, type Command } from "commander";
import type { CredentialOptions } from "./credentials.ts";
import { addServer } from "./server-flags.ts";
import { configFlag, configHelp, setting } from "./setting.ts";

/** The options of `weft schema check`. */
export interface SchemaCheckFlags {
  readonly lambda: boolean;
  readonly strictRules: boolean;
}

export interface SchemaPlanOptions extends CredentialOptions {
  readonly json: boolean;
}

export interface SchemaApplyOptions extends CredentialOptions {
  readonly force: readonly string[];
  readonly backfill: readonly string[];
}

export interface SchemaNewOptions extends CredentialOptions {
  readonly dir: string;
  readonly empty: boolean;
}

/** Of `status` and `down`; each knows those that it has. */
export interface MigrateOptions extends CredentialOptions {
  readonly dir: string;
  readonly json: boolean;
  readonly force: readonly string[];
}

export interface MigrateToOptions extends MigrateOptions {
  readonly upTo: string | undefined;
  /** false: what a schema is warned of is told elsewhere. */
  readonly warns?: boolean;
  /** Asked between the batches of a step: whether it is to end. */
  readonly isStopped?: () => boolean;
}

export function addSchema(program: Command): void {
  const schema = program
    .command("schema")
    .description("check GraphQL schemas, plan and apply their changes, run migrations");
  addCheck(schema);
  for (const command of [
    addPlan(schema),
    addApply(schema),
    addNew(schema),
    addStatus(schema),
    addUp(schema),
    addDown(schema),
  ]) {
    addServer(command).addOption(setting(configFlag, configHelp));
  }
}

function collect(value: string, known: readonly string[]): readonly string[] {
  return [...known, value];
}

const force = (): Option =>
  new Option("--force <name>", "Type.field or Type whose nodes may lose; again for others")
    .argParser(collect)
    .default([], "none");
const folder = (): Option =>
  new Option("--dir <folder>", "where migrations are").default("./migrations");
const json = (): Option => new Option("--json", "print JSON instead of a table").default(false);

function addPlan(schema: Command): Command {
  return schema
    .command("plan <file>")
    .description("what setting a GraphQL schema would change, and which stored nodes that touches")
    .addOption(json())
    .addHelpText(
      "after",
      `
Exit code 2 where weft schema apply would refuse it. Nothing is changed.

Examples:
  weft schema plan schema.graphql
  weft schema plan schema.graphql --json --to https://db.example.com --key "$WEFT_KEY"`,
    )
    .action(async (file: string, options: SchemaPlanOptions) => {
      const { runSchemaPlan } = await import("./command-schema-plan.ts");
      await runSchemaPlan(file, options);
    });
}

function addApply(schema: Command): Command {
  return schema
    .command("apply <file>")
    .description("set a GraphQL schema, unless stored nodes would lose by it")
    .addOption(force())
    .addOption(
      new Option(
        "--backfill <Type.field=VALUE>",
        "the value that nodes without one get; again for others",
      )
        .argParser(collect)
        .default([], "none"),
    )
    .addHelpText(
      "after",
      `
A backfill runs in batches before the schema is set; one that was ended goes on when it is asked for again.

Examples:
  weft schema apply schema.graphql
  weft schema apply schema.graphql --backfill "User.city=unknown" --force Post.draft`,
    )
    .action(async (file: string, options: SchemaApplyOptions) => {
      const { runSchemaApply } = await import("./command-schema-plan.ts");
      await runSchemaApply(file, options);
    });
}

function addNew(schema: Command): Command {
  return schema
    .command("new <name>")
    .description("make the folder of a migration, with the schema that is served to begin with")
    .addOption(folder())
    .option("--empty", "begin with no schema: no server is asked", false)
    .addHelpText(
      "after",
      `
Examples:
  weft schema new "add cities"
  weft schema new first --empty --dir db/migrations`,
    )
    .action(async (name: string, options: SchemaNewOptions) => {
      const { runSchemaNew } = await import("./command-migrate.ts");
      await runSchemaNew(name, options);
    });
}

function addStatus(schema: Command): Command {
  return schema
    .command("status")
    .description("which migrations are applied; exit code 1 where files and journal are at odds")
    .addOption(folder())
    .addOption(json())
    .addHelpText(
      "after",
      `
Examples:
  weft schema status
  weft schema status --json --to https://db.example.com --key "$WEFT_KEY"`,
    )
    .action(async (options: MigrateOptions) => {
      const { runSchemaStatus } = await import("./command-migrate.ts");
      await runSchemaStatus(options);
    });
}

function addUp(schema: Command): Command {
  return schema
    .command("up")
    .description("apply the migrations that are not applied yet, in order")
    .addOption(folder())
    .option(
      "--up-to <number>",
      "number of the last one to be applied, as 3 of 0003-cities; default: all",
    )
    .addOption(force())
    .addHelpText(
      "after",
      `${migrationHelp}

Examples:
  weft schema up
  weft schema up --up-to 3 --force Post.draft`,
    )
    .action(async (options: MigrateToOptions) => {
      const { runSchemaUp } = await import("./command-migrate.ts");
      await runSchemaUp(options);
    });
}

function addDown(schema: Command): Command {
  return schema
    .command("down")
    .description("take back the migration that was applied last")
    .addOption(folder())
    .addOption(force())
    .addHelpText("after", `${migrationHelp}\n\nExamples:\n  weft schema down`)
    .action(async (options: MigrateOptions) => {
      const { runSchemaDown } = await import("./command-migrate.ts");
      await runSchemaDown(options);
    });
}

const migrationHelp = `
A migration is a folder of the files that it needs, its steps in this order:
  before.dql      DQL, run before the schemas are changed
  storage.dql     lines for /alter
  schema.graphql  the whole GraphQL schema from then on
  after.dql       DQL, run after
  force           Type.field or Type whose nodes may lose, one a line
  down.dql        DQL, run by weft schema down before the schema of the migration before is set

An upsert block with a named query is run again until that finds nothing. A migration that was ended goes on at
the step that was under way.`;

function addCheck(schema: Command): void {
  schema
    .command("check <file>")
    .description("tell every fault of a GraphQL schema with its place; no server is asked")
    .option("--no-lambda", "for a server without resolvers: @lambda is a fault")
    .option("--strict-rules", "as serve --graphql strict-rules=true", false)
    .addHelpText(
      "after",
      `
Ends with status 1 where something is wrong. Warnings are told, and nothing else.

Examples:
  weft schema check schema.graphql
  cat types/*.graphql | weft schema check -`,
    )
    .action(async (file: string, options: SchemaCheckFlags) => {
      const { runSchemaCheck } = await import("./command-schema.ts");
      runSchemaCheck(file, options);
    });
}
