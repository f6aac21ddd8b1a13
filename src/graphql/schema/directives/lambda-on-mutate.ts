/** `@lambdaOnMutate`: resolvers that are told of mutations (reference/graphql 7.3). */
import { Kind } from "graphql";
import type { ConstDirectiveNode, ConstValueNode } from "graphql";
import type { WatchedOperation } from "../compiled-schema.ts";
import { directiveAt, positionOf, type SchemaProblem } from "../sdl-draft.ts";
import type { SdlPosition } from "../sdl-position.ts";
import { findArgument, onNodeTypes, rawText, refuseType, type DirectiveSpec } from "./directive.ts";
import type { Given } from "./given.ts";

const operations: readonly WatchedOperation[] = ["add", "update", "delete"];

interface LambdaOnMutate extends Given {
  /** Those that are told. */
  readonly watched: ReadonlySet<WatchedOperation>;
  /** Arguments that are no boolean. */
  readonly odd: readonly OddArgument[];
}

interface OddArgument {
  readonly name: WatchedOperation;
  /** As written. */
  readonly text: string;
  readonly at: SdlPosition;
}

declare module "./given.ts" {
  interface GivenDirectives {
    readonly lambdaOnMutate?: LambdaOnMutate | undefined;
  }
}

export const lambdaOnMutate: DirectiveSpec<LambdaOnMutate> = {
  declaration:
    "directive @lambdaOnMutate(add: Boolean, update: Boolean, delete: Boolean) on OBJECT | INTERFACE",
  onTypes: onNodeTypes,
  read(node) {
    const watched = operations.filter((name) => isTrue(findArgument(node, name)));
    return { at: directiveAt(node), watched: new Set(watched), odd: findOdd(node) };
  },
  checkType(draft, type, given) {
    if (given === undefined) return undefined;
    const problems: SchemaProblem[] = [];
    const { at, odd } = given;
    if (!draft.hasLambda) {
      const text =
        "has the @lambdaOnMutate directive, but the `--graphql lambda-url` flag wasn't specified during alpha startup.";
      problems.push({ message: `Type ${type.name}: ${text}`, at });
    }
    if (type.directives.remote !== undefined) {
      const text = "@lambdaOnMutate directive not allowed along with @remote directive.";
      problems.push(refuseType(type, text, at));
    }
    for (const { name, text, at: place } of odd) {
      const told = `${name} argument in @lambdaOnMutate directive can only be true/false, found: \`${text}\`.`;
      problems.push(refuseType(type, told, place));
    }
    return problems;
  },
};

function isTrue(value: ConstValueNode | undefined): boolean {
  return value?.kind === Kind.BOOLEAN && value.value;
}

function findOdd(node: ConstDirectiveNode): readonly OddArgument[] {
  return operations.flatMap((name): readonly OddArgument[] => {
    const value = findArgument(node, name);
    if (value === undefined || value.kind === Kind.BOOLEAN) return [];
    const text = value.kind === Kind.STRING ? JSON.stringify(value.value) : rawText(value);
    return [{ name, text, at: positionOf(value) }];
  });
}
