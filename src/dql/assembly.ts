/** Drafts → tree: fragments are put in the places where they are named, and nothing changes any more. */
import type { Block, Directives, Field, Page, PredicateField } from "./ast.ts";
import { noDirectives, noPage } from "./ast.ts";
import { type BlockDraft, toShortest } from "./block-parser.ts";
import { failPlainly } from "./cursor.ts";
import { everyField } from "./directive-parser.ts";
import { type Draft, toPredicateName } from "./draft.ts";

/** The fragments of a request, each assembled once, when it is first named. */
export class FragmentTable {
  private readonly drafts = new Map<string, Draft>();
  private readonly fields = new Map<string, readonly Field[]>();
  private readonly open = new Set<string>();

  add(fragment: Draft): void {
    this.drafts.set(fragment.name, fragment);
  }

  get(name: string): readonly Field[] {
    const known = this.fields.get(name);
    if (known !== undefined) return known;
    const draft = this.drafts.get(name);
    if (draft === undefined) failPlainly(`Missing fragment: ${name}`);
    if (this.open.has(name)) failPlainly(`Cycle detected: ${name}`);
    this.open.add(name);
    const fields = assembleFields(draft.children ?? [], this);
    this.open.delete(name);
    this.fields.set(name, fields);
    return fields;
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
    children: assembleFields(draft.children ?? [], fragments),
    at: draft.at,
  };
}

function kindOf(block: BlockDraft): Block["kind"] {
  const { name, isEmptyBlock } = block.draft;
  if (isEmptyBlock) return "empty";
  return name === "var" || name === "shortest" ? name : "query";
}

function assembleFields(drafts: readonly Draft[], fragments: FragmentTable): Field[] {
  const fields: Field[] = [];
  for (const draft of drafts) {
    if (draft.form === "fragment") fields.push(...fragments.get(draft.name));
    else fields.push(assembleField(draft, fragments));
  }
  return fields;
}

function assembleField(draft: Draft, fragments: FragmentTable): Field {
  const { alias, variable, extra, form } = draft;
  if (extra !== undefined) {
    if (extra.kind === "expand") return assembleExpand(draft, extra.of, fragments);
    if (extra.kind === "val") return { kind: "val", alias, variable: extra.variable };
    return { alias, variable, ...extra };
  }
  if (form === "countUid") return { kind: "countUid", alias, variable };
  if (form === "count") return assembleCount(draft);
  if (draft.name === "uid" && draft.languages.length === 0) return { kind: "uid", alias, variable };
  return assemblePredicate(draft, fragments);
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
): Field {
  return {
    kind: "expand",
    of,
    filter: draft.filter,
    page: pageOf(draft),
    directives: directivesOf(draft),
    children: childrenOf(draft, fragments),
  };
}

function assemblePredicate(draft: Draft, fragments: FragmentTable): PredicateField {
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
    children: childrenOf(draft, fragments),
    at: draft.at,
  };
}

function childrenOf(draft: Draft, fragments: FragmentTable): readonly Field[] | undefined {
  return draft.children === undefined ? undefined : assembleFields(draft.children, fragments);
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
