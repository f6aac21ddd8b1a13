/** Commands for whoever develops an application: `weft types`. */
import { Option, type Command } from "commander";

/** The options of `weft types`. */
export interface TypesOptions {
  readonly schema: string;
  readonly out: string;
  readonly int64: "number" | "string";
  readonly watch: boolean;
}

export function addTypes(program: Command): void {
  program
    .command("types")
    .description("write the types of a GraphQL schema, for the client and for resolvers")
    .option("--schema <file>", "GraphQL schema", "schema.graphql")
    .option("--out <dir>", "where schema.d.ts and resolvers.d.ts go", "weft")
    .addOption(
      new Option("--int64 <type>", "of an Int64 in answers: string with --graphql int64=text")
        .choices(["number", "string"])
        .default("number"),
    )
    .option("--watch", "again at each change of the schema", false)
    .addHelpText(
      "after",
      `
Examples:
  weft types --schema schema.graphql --out src/weft
  weft types --schema schema.graphql --out src/weft --watch`,
    )
    .action(async (options: TypesOptions) => {
      const { runTypes } = await import("./command-types.ts");
      await runTypes(options);
    });
}
