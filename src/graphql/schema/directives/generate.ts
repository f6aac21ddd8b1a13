/** `@generate`: which parts of a type's API are generated (reference/graphql 2.8). */
import { Kind } from "graphql";
import type { ConstValueNode } from "graphql";
import { directiveAt, positionOf, type SchemaProblem } from "../sdl-draft.ts";
import { findArgument, onNodeTypes, rawText, refuseType, type DirectiveSpec } from "./directive.ts";
import type { Given } from "./given.ts";

interface Switch extends Given {
  /** undefined where it is neither true nor false. */
  readonly isOn: boolean | undefined;
  readonly text: string;
}

interface Part extends Given {
  /** By name; undefined where the argument is no object. */
  readonly switches: Readonly<Record<string, Switch>> | undefined;
}

interface Generate extends Given {
  readonly query: Part | undefined;
  readonly mutation: Part | undefined;
  readonly subscription: Switch | undefined;
}

const names: Readonly<Record<"query" | "mutation", readonly string[]>> = {
  query: ["get", "query", "password", "aggregate"],
  mutation: ["add", "update", "delete"],
};

declare module "./given.ts" {
  interface GivenDirectives {
    readonly generate?: Generate | undefined;
  }
}

export const generate: DirectiveSpec<Generate> = {
  declaration: `directive @generate(
	query: GenerateQueryParams,
	mutation: GenerateMutationParams,
	subscription: Boolean) on OBJECT | INTERFACE`,
  onTypes: onNodeTypes,
  isInternal: true,
  read(node) {
    const subscription = findArgument(node, "subscription");
    return {
      at: directiveAt(node),
      query: readPart(findArgument(node, "query")),
      mutation: readPart(findArgument(node, "mutation")),
      subscription: subscription && readSwitch(subscription),
    };
  },
  checkType(_draft, type, given) {
    if (given === undefined) return undefined;
    const problems: SchemaProblem[] = [];
    for (const part of ["query", "mutation"] as const) {
      const argument = given[part];
      if (argument === undefined) continue;
      if (argument.switches === undefined) {
        const text = `${part} argument for @generate directive should be of type Object.`;
        problems.push(refuseType(type, text, argument.at));
        continue;
      }
      for (const name of names[part]) {
        const value = argument.switches[name];
        if (value === undefined || value.isOn !== undefined) continue;
        const text =
          `${name} field inside ${part} argument of @generate directive can only be ` +
          `true/false, found: \`${value.text}`;
        problems.push(refuseType(type, text, value.at));
      }
    }
    const { subscription } = given;
    if (subscription !== undefined && subscription.isOn === undefined) {
      const text = `subscription argument in @generate directive can only be true/false, found: \`${subscription.text}\`.`;
      problems.push(refuseType(type, text, given.at));
    }
    return problems;
  },
};

function readPart(argument: ConstValueNode | undefined): Part | undefined {
  if (argument === undefined) return undefined;
  if (argument.kind !== Kind.OBJECT) return { at: positionOf(argument), switches: undefined };
  const switches = argument.fields
    .toReversed()
    .map(({ name, value }) => [name.value, readSwitch(value)] as const);
  return { at: positionOf(argument), switches: Object.fromEntries(switches) };
}

function readSwitch(value: ConstValueNode): Switch {
  return {
    at: positionOf(value),
    isOn: value.kind === Kind.BOOLEAN ? value.value : undefined,
    text: rawText(value),
  };
}
