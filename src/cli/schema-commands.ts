/** `weft schema …`: GraphQL schemas in files. */
import type { Command } from "commander";

/** The options of `weft schema check`. */
export interface SchemaCheckFlags {
  readonly lambda: boolean;
  readonly strictRules: boolean;
}

export function addSchema(program: Command): void {
  const schema = program.command("schema").description("look at GraphQL schemas");
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
