/** Commands for whoever develops an application: `weft types`, `weft token`. */
import { Option, type Command } from "commander";

/** The options of `weft types`. */
export interface TypesOptions {
  readonly schema: string;
  readonly out: string;
  readonly int64: "number" | "string";
  readonly watch: boolean;
}

/** The options of `weft token`. */
export interface TokenOptions {
  readonly schema: string;
  readonly expires: string;
}

export function addToken(program: Command): void {
  program
    .command("token")
    .description("sign a token with the key of a schema's # Dgraph.Authorization, to try its rules")
    .argument("[claims...]", "NAME=VALUE, or an object of JSON")
    .option("--schema <file>", "GraphQL schema", "schema.graphql")
    .option("--expires <duration>", "how long it is good for", "24h")
    .addHelpText(
      "after",
      `
The token goes to standard output alone. Keys that are public, and key sets, sign nothing.

Examples:
  weft token USER=ann ROLE=ADMIN
  curl http://127.0.0.1:8080/graphql -H "X-My-App-Auth: $(weft token USER=ann)" …`,
    )
    .action(async (claims: string[], options: TokenOptions) => {
      const { runToken } = await import("./command-token.ts");
      runToken(claims, options);
    });
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
