/** `@custom` (reference/graphql 8.2): queries written in DQL, and requests to services outside. */
import { Kind } from "graphql";
import { checkCustomHttp, identifies } from "../custom-http-check.ts";
import { findHttp, readCustomHttp } from "../custom-http-read.ts";
import type { CustomHttp } from "../custom-http.ts";
import {
  baseName,
  directiveAt,
  type DraftField,
  type DraftType,
  type SchemaProblem,
} from "../sdl-draft.ts";
import { builtinScalars, isRootName } from "../sdl-names.ts";
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
  /** The request; undefined where it is left out. */
  readonly http: CustomHttp | undefined;
  /** What is written for `http` is not an object with members. */
  readonly httpFault: "empty" | "notAnObject" | undefined;
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
  read(node) {
    const value = findHttp(node);
    const http = value === undefined ? undefined : readCustomHttp(value);
    const isEmpty = value?.kind === Kind.STRING && value.value === "";
    const fault = isEmpty ? "empty" : "notAnObject";
    return {
      at: directiveAt(node),
      count: node.arguments?.length ?? 0,
      dql: findArgument(node, "dql") && readText(node, "dql"),
      http,
      httpFault: value === undefined || http !== undefined ? undefined : fault,
    };
  },
  checkField(_draft, type, field, given) {
    const problems = checkPlace(type, field, given);
    const { at, count, dql, http, httpFault } = given;
    const refuse = (text: string): SchemaProblem => refuseField(type, field, text, at);
    if (count !== 1)
      problems.push(
        refuse(
          `has ${count} arguments for @custom directive, it should contain exactly one of \`http\` or \`dql\` arguments.`,
        ),
      );
    if (dql !== undefined) {
      if (count === 1) problems.push(...checkDql(type, field, dql, refuse));
    } else if (http !== undefined) {
      problems.push(...checkCustomHttp(type, field, http, at));
    } else if (httpFault === undefined) {
      problems.push(
        refuse("one of `http` or `dql` arguments must be present for @custom directive."),
      );
    } else {
      const wish = httpFault === "empty" ? "not be empty" : "be of type Object";
      problems.push(refuse(`http argument for @custom directive should ${wish}.`));
    }
    return problems;
  },
};

function checkPlace(type: DraftType, field: DraftField, { at }: Custom): SchemaProblem[] {
  const problems: SchemaProblem[] = [];
  const refuse = (text: string): void => {
    problems.push({ message: `Type ${type.name}; Field ${field.name}; ${text}`, at });
  };
  for (const other of ["search", "dgraph"] as const)
    if (field.directives[other] !== undefined)
      refuse(`custom directive not allowed along with @${other} directive.`);
  if (isRootName(type.name) || field.directives.custom?.dql !== undefined) return problems;
  if (type.fields.some(identifies)) return problems;
  refuse(
    "@custom directive is only allowed on fields where the type definition has a field with " +
      "type ID! or a field with @id directive.",
  );
  return problems;
}

function checkDql(
  type: DraftType,
  field: DraftField,
  dql: TextArgument,
  refuse: (text: string) => SchemaProblem,
): readonly SchemaProblem[] {
  if (type.name !== "Query")
    return [refuse("@custom directive with `dql` can be used only on queries.")];
  if (!dql.isString) return [refuse("dql argument for @custom directive must be of type String.")];
  if (dql.text.trim() === "")
    return [refuse("dql argument for @custom directive must not be empty.")];
  const odd = field.arguments.find(
    (each) => each.type.kind === "list" || !builtinScalars.has(baseName(each.type)),
  );
  if (odd === undefined) return [];
  return [
    refuse(
      `Argument ${odd.name}: must be of a scalar type. @custom DQL queries accept only scalar arguments.`,
    ),
  ];
}
