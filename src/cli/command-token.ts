/** `weft token`: a token for who develops, signed with the key that the schema itself names. */
import { parseLifetimeMs } from "./duration.ts";
import type { TokenOptions } from "./project-commands.ts";
import { readSchemaFile } from "./schema-files.ts";
import { signToken } from "./sign-token.ts";

export function runToken(claims: readonly string[], options: TokenOptions): void {
  const schema = { sdl: readSchemaFile(options.schema), name: options.schema };
  const lifeMs = parseLifetimeMs("--expires", options.expires);
  const { token, header, exp } = signToken(schema, claims, lifeMs);
  process.stderr.write(
    `weft: for the header ${header}; it ends at ${new Date(exp * 1000).toISOString()}\n`,
  );
  process.stdout.write(`${token}\n`);
}
