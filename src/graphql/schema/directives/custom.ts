/** `@custom` (reference/graphql 8.2), as far as it is about queries written in DQL. */
import { baseName, directiveAt, type SchemaProblem } from "../sdl-draft.ts";
import { builtinScalars } from "../sdl-names.ts";
import {
  findArgument,
  readText,
  refuseField,
  type DirectiveSpec,
  type TextArgument,
} from "./directive.ts";
import type { Given } from "./given.ts";

interface Custom extends Given {
  /** How many arguments it has. */
  readonly count: number;
  /** The query; undefined where it is left out. */
  readonly dql: TextArgument | undefined;
}

declare module "./given.ts" {
  interface GivenDirectives {
    readonly custom?: Custom | undefined;
  }
}

export const custom: DirectiveSpec<Custom> = {
  declaration: "directive @custom(http: CustomHTTP, dql: String) on FIELD_DEFINITION",
  onTypes: [],
  isInternal: true,
  read: (node) => ({
    at: directiveAt(node),
    count: node.arguments?.length ?? 0,
    dql: findArgument(node, "dql") && readText(node, "dql"),
  }),
  checkField(_draft, type, field, { at, count, dql }) {
    const refuse = (text: string): SchemaProblem => refuseField(type, field, text, at);
    for (const other of ["search", "dgraph"] as const)
      if (field.directives[other] !== undefined) {
        const text = `custom directive not allowed along with @${other} directive.`;
        return { message: `Type ${type.name}; Field ${field.name}; ${text}`, at };
      }
    const problems: SchemaProblem[] = [];
    if (count !== 1)
      problems.push(
        refuse(
          `has ${count} arguments for @custom directive, it should contain exactly one of \`http\` or \`dql\` arguments.`,
        ),
      );
    if (count === 0)
      problems.push(
        refuse("one of `http` or `dql` arguments must be present for @custom directive."),
      );
    if (problems.length > 0 || dql === undefined) return problems;
    if (type.name !== "Query")
      return refuse("@custom directive with `dql` can be used only on queries.");
    if (!dql.isString) return refuse("dql argument for @custom directive must be of type String.");
    if (dql.text.trim() === "")
      return refuse("dql argument for @custom directive must not be empty.");
    const odd = field.arguments.find(
      (each) => each.type.kind === "list" || !builtinScalars.has(baseName(each.type)),
    );
    if (odd === undefined) return undefined;
    return refuse(
      `Argument ${odd.name}: must be of a scalar type. @custom DQL queries accept only scalar arguments.`,
    );
  },
  /** Requests to services outside are not served. */
  isUnavailable: ({ dql }) => dql === undefined,
};
