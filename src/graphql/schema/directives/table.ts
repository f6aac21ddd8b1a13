/** The directives of this API, in the order of their declarations in the generated schema. */
import type { ConstDirectiveNode } from "graphql";
import { auth } from "./auth.ts";
import { cacheControl, cascade } from "./of-requests.ts";
import { custom } from "./custom.ts";
import { defaultSpec } from "./default.ts";
import { deprecated } from "./deprecated.ts";
import { dgraph } from "./dgraph.ts";
import type { DirectiveSpec } from "./directive.ts";
import { embedding } from "./embedding.ts";
import { extendsSpec, external, key, provides, requires } from "./federation.ts";
import type { GivenDirectives, Given } from "./given.ts";
import { generate } from "./generate.ts";
import { hasInverse } from "./has-inverse.ts";
import { id } from "./id.ts";
import { lambdaOnMutate } from "./lambda-on-mutate.ts";
import { lambda } from "./lambda.ts";
import { onDelete } from "./on-delete.ts";
import { remoteResponse } from "./remote-response.ts";
import { remote } from "./remote.ts";
import { search } from "./search.ts";
import { secret } from "./secret.ts";
import { withSubscription } from "./with-subscription.ts";

/** Declared in every generated schema. */
const own = {
  hasInverse,
  search,
  embedding,
  dgraph,
  id,
  default: defaultSpec,
  withSubscription,
  secret,
  auth,
  custom,
  remote,
  remoteResponse,
  cascade,
  lambda,
  lambdaOnMutate,
  cacheControl,
  generate,
};

/** Additions to the reference: each is declared where the SDL uses it, so that other schemas are as the reference prints them. */
const added = { onDelete };

/** Declared where the SDL uses Apollo federation. */
const federation = { external, requires, provides, key, extends: extendsSpec };

/** A row for each directive that can be given: none lacks, and none is given that has no row. */
const table: {
  readonly [Name in keyof GivenDirectives]-?: DirectiveSpec<NonNullable<GivenDirectives[Name]>>;
} = { ...own, ...added, ...federation, deprecated };

/** Those that this API does not know are left out. */
function readDirectives(nodes: readonly ConstDirectiveNode[]): GivenDirectives {
  if (nodes.length === 0) return {};
  const found: Record<string, Given> = {};
  for (const node of nodes) {
    const name = node.name.value;
    const spec = specOf(name);
    if (spec !== undefined && found[name] === undefined) found[name] = spec.read(node);
  }
  return found;
}

/** Gives a definition its directives: in place of those that it has. */
export function giveDirectives(
  to: { written: readonly ConstDirectiveNode[]; directives: GivenDirectives },
  nodes: readonly ConstDirectiveNode[],
): void {
  to.written = nodes;
  to.directives = readDirectives(nodes);
}

/** The row of a directive, whatever it says. */
type AnySpec = DirectiveSpec<Given>;

const specs: ReadonlyMap<string, AnySpec> = new Map<string, AnySpec>(Object.entries(table));

export function specOf(name: string): AnySpec | undefined {
  return specs.get(name);
}

/** In the order of the table. */
export const allSpecs: Iterable<readonly [string, AnySpec]> = specs;

/** What was read of the directive `name`. */
export function givenOf(directives: GivenDirectives, name: string): Given | undefined {
  return Object.hasOwn(directives, name) ? directives[name as keyof GivenDirectives] : undefined;
}

function print(rows: Readonly<Record<string, { readonly declaration: string }>>): string {
  return Object.values(rows)
    .map(({ declaration }) => `${declaration}\n`)
    .join("");
}

/** As they stand in the generated schema. */
export const ownDeclarations = print(own);
/** Of the directives that this API adds, those among `names`. */
export function addedDeclarations(names: { has(name: string): boolean }): string {
  return print(Object.fromEntries(Object.entries(added).filter(([name]) => names.has(name))));
}

/** Those that a federation's gateway is shown. */
export const shownDeclarations = print(
  Object.fromEntries(
    Object.entries<{ declaration: string; isInternal?: true }>(own).filter(
      ([, { isInternal }]) => isInternal !== true,
    ),
  ),
);
export const federationDeclarations = print(federation);
