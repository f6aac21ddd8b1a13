/** Drafts → tree: fragments are put in the places where they are named, and nothing changes any more. */
import { makeLimitFault } from "../model/limits.ts";
import type { Limits } from "../model/limits.ts";
import type { Block, Directives, Field, Page, PredicateField } from "./ast.ts";
import { noDirectives, noPage } from "./ast.ts";
import { type BlockDraft, toShortest } from "./block-parser.ts";
import { failPlainly } from "./cursor.ts";
import { everyField } from "./directive-parser.ts";
import { type Draft, toPredicateName } from "./draft.ts";

/** What a text may come to; beyond it Fault E_LIMIT. */
export type ParseLimits = Pick<
  Limits,
  | "depthMax"
  | "documentFieldsMax"
  | "documentRootsMax"
  | "documentTokensMax"
  | "filterConditionsMax"
>;

/** A fragment in its place. */
interface Assembled {
  readonly fields: readonly Field[];
  /** Fields in it, those below fields counted, too. */
  readonly size: number;
  /** Levels of fields in it. */
  readonly depth: number;
}

/**
 * The fragments of a request, each assembled once, when it is first named, and the count of what they come to: whoever
 * goes through the tree meets a fragment as often as it is named.
 */
export class FragmentTable {
  private readonly drafts = new Map<string, Draft>();
  private readonly assembled = new Map<string, Assembled>();
  private readonly open = new Set<string>();
  private readonly limits: ParseLimits;
  /** Fields so far, and the deepest level since it was set. */
  private size = 0;
  private deepest = 0;

  constructor(limits: ParseLimits) {
    this.limits = limits;
  }

  add(fragment: Draft): void {
    this.drafts.set(fragment.name, fragment);
  }

  /** The fields of a fragment that is named at a level. */
  get(name: string, level: number): readonly Field[] {
    const known = this.assembled.get(name);
    if (known !== undefined) {
      this.count(known.size, level + known.depth);
      return known.fields;
    }
    const draft = this.drafts.get(name);
    if (draft === undefined) failPlainly(`Missing fragment: ${name}`);
    if (this.open.has(name)) failPlainly(`Cycle detected: ${name}`);
    this.open.add(name);
    // A fragment that names another alone is no level of fields, and one of the recursion all the same.
    this.count(0, this.open.size);
    const { size, deepest } = this;
    this.deepest = level;
    const fields = assembleFields(draft.children ?? [], this, level);
    const depth = this.deepest - level;
    this.assembled.set(name, { fields, size: this.size - size, depth });
    this.deepest = Math.max(deepest, this.deepest);
    this.open.delete(name);
    return fields;
  }

  /** So many fields more, down to a level. Throws Fault E_LIMIT. */
  count(fields: number, level: number): void {
    const { depthMax, documentFieldsMax } = this.limits;
    this.size += fields;
    if (this.size > documentFieldsMax) {
      const text = `the request has more than ${documentFieldsMax} fields with its fragments in their places`;
      throw makeLimitFault("document-fields", text);
    }
    if (level > this.deepest) this.deepest = level;
    if (level > depthMax)
      throw makeLimitFault("depth", `Exceeded query depth limit = ${depthMax}.`);
  }
}

export function assembleBlock(block: BlockDraft, fragments: FragmentTable): Block {
  const { draft } = block;
  return {
    kind: kindOf(block),
    name: draft.name,
    variable: draft.variable,
    root: block.root,
    filter: draft.filter,
    page: pageOf(draft),
    order: draft.order,
    directives: directivesOf(draft),
    recurse: block.recurse,
    shortest: toShortest(block),
    children: assembleFields(draft.children ?? [], fragments, 0),
    at: draft.at,
  };
}

function kindOf(block: BlockDraft): Block["kind"] {
  const { name, isEmptyBlock } = block.draft;
  if (isEmptyBlock) return "empty";
  return name === "var" || name === "shortest" ? name : "query";
}

function assembleFields(
  drafts: readonly Draft[],
  fragments: FragmentTable,
  level: number,
): Field[] {
  const fields: Field[] = [];
  for (const draft of drafts) {
    if (draft.form === "fragment") {
      for (const field of fragments.get(draft.name, level)) fields.push(field);
      continue;
    }
    fragments.count(1, level);
    fields.push(assembleField(draft, fragments, level));
  }
  return fields;
}

function assembleField(draft: Draft, fragments: FragmentTable, level: number): Field {
  const { alias, variable, extra, form } = draft;
  if (extra !== undefined) {
    if (extra.kind === "expand") return assembleExpand(draft, extra.of, fragments, level);
    if (extra.kind === "val") return { kind: "val", alias, variable: extra.variable };
    return { alias, variable, ...extra };
  }
  if (form === "countUid") return { kind: "countUid", alias, variable };
  if (form === "count") return assembleCount(draft);
  if (draft.name === "uid" && draft.languages.length === 0) return { kind: "uid", alias, variable };
  return assemblePredicate(draft, fragments, level);
}

function assembleCount(draft: Draft): Field {
  return {
    kind: "count",
    alias: draft.alias,
    variable: draft.variable,
    predicate: toPredicateName(draft.name, draft.languages),
    page: pageOf(draft),
    filter: draft.filter,
    facetFilter: draft.facetFilter,
  };
}

function assembleExpand(
  draft: Draft,
  of: Extract<Field, { kind: "expand" }>["of"],
  fragments: FragmentTable,
  level: number,
): Field {
  return {
    kind: "expand",
    of,
    filter: draft.filter,
    page: pageOf(draft),
    directives: directivesOf(draft),
    children: childrenOf(draft, fragments, level + 1),
  };
}

function assemblePredicate(draft: Draft, fragments: FragmentTable, level: number): PredicateField {
  return {
    kind: "predicate",
    alias: draft.alias,
    variable: draft.variable,
    predicate: toPredicateName(draft.name, draft.languages),
    page: pageOf(draft),
    order: draft.order,
    filter: draft.filter,
    facets: draft.facets,
    facetFilter: draft.facetFilter,
    directives: directivesOf(draft),
    children: childrenOf(draft, fragments, level + 1),
    at: draft.at,
  };
}

function childrenOf(
  draft: Draft,
  fragments: FragmentTable,
  level: number,
): readonly Field[] | undefined {
  return draft.children === undefined
    ? undefined
    : assembleFields(draft.children, fragments, level);
}

function pageOf(draft: Draft): Page {
  const { first, offset, after } = draft;
  if (first === undefined && offset === undefined && after === undefined) return noPage;
  return { first, offset, after };
}

function directivesOf(draft: Draft): Directives {
  const { normalize, ignoreReflex, cascade, groupBy } = draft;
  if (!normalize && !ignoreReflex && cascade === undefined && groupBy === undefined) {
    return noDirectives;
  }
  const isWhole = cascade?.includes(everyField) === true;
  return { normalize, ignoreReflex, cascade: isWhole ? [] : cascade, groupBy };
}
