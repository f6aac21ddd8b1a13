/** For loads: predicates of `@id` fields, of whose values each names one node. */
import { compileSchema } from "./schema-compile.ts";

/**
 * Not those that types have from an interface which leaves the values to each type: there one value may be on a node of
 * each. Throws Fault E_GRAPHQL_SCHEMA.
 */
export function keyPredicatesOf(sdl: string): readonly string[] {
  const names = new Set<string>();
  const shared = new Set<string>();
  for (const { node } of compileSchema(sdl).nodes) {
    for (const { source } of node.xids) {
      if (source.kind !== "value") continue;
      const { predicate } = source;
      if (names.has(predicate) && source.xid?.isInterfaceWide !== true) shared.add(predicate);
      names.add(predicate);
    }
  }
  return [...names].filter((name) => !shared.has(name));
}
