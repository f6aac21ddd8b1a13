/** What is wrong with a schema, for whoever writes it: `file:line:column: error: …`. */
import type { SchemaProblem } from "../graphql/schema/sdl-draft.ts";

export function printProblems(name: string, problems: readonly SchemaProblem[]): string[] {
  return problems.map(({ message, at }) => {
    const place = at === undefined ? name : `${name}:${at.line}:${at.column}`;
    return `${place}: error: ${message}`;
  });
}
