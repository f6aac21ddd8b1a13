/** GraphQL SDL → files of types: `weft types`. */
import type { CompiledSchema } from "../graphql/schema/compiled-schema.ts";
import { printResolverTypes } from "./resolver-types.ts";
import { printSchemaTypes } from "./schema-types.ts";
import type { TypeOptions } from "./type-text.ts";

export { listResolvers, listWebhooks } from "./resolver-types.ts";
export type { TypeOptions } from "./type-text.ts";

/** Name of a file → its text. `client`: where the types of the client are imported from. */
export function writtenTypes(
  schema: CompiledSchema,
  options: TypeOptions,
  client: string,
): ReadonlyMap<string, string> {
  return new Map([
    ["schema.d.ts", printSchemaTypes(schema, options)],
    ["resolvers.d.ts", printResolverTypes(schema, options, client)],
  ]);
}
