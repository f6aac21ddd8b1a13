/** How deep documents nest once their fragments are in their places; each fragment is looked into once. */
import type { DocumentNode, FragmentDefinitionNode, SelectionSetNode } from "graphql";
import type { DocumentLimits } from "./document-meter.ts";
import { tooDeep } from "./document-meter.ts";

/**
 * Throws RequestRefused for what is deeper than allowed, chains of fragments included: the walks over a document that
 * passed may recurse. Fragments in a circle pass where the circle is short; returns whether there is one.
 */
export function checkDepth(document: DocumentNode, limits: DocumentLimits): boolean {
  const walk = new DepthWalk(document, limits);
  for (const definition of document.definitions) {
    if (definition.kind === "FragmentDefinition") walk.fragment(definition, 0);
  }
  for (const definition of document.definitions) {
    if (definition.kind === "OperationDefinition") walk.set(definition.selectionSet, 0);
  }
  return walk.isCircular;
}

class DepthWalk {
  isCircular = false;
  readonly #limits: DocumentLimits;
  readonly #fragments = new Map<string, FragmentDefinitionNode>();
  readonly #depths = new Map<FragmentDefinitionNode, number>();
  readonly #open = new Set<FragmentDefinitionNode>();

  constructor(document: DocumentNode, limits: DocumentLimits) {
    this.#limits = limits;
    for (const definition of document.definitions) {
      if (definition.kind !== "FragmentDefinition") continue;
      const name = definition.name.value;
      if (!this.#fragments.has(name)) this.#fragments.set(name, definition);
    }
  }

  /** Levels below a fragment's own place, itself counted; `at` levels are above it. */
  fragment(fragment: FragmentDefinitionNode, at: number): number {
    const known = this.#depths.get(fragment);
    if (known !== undefined) return this.#check(at, known);
    if (this.#open.has(fragment)) {
      this.isCircular = true;
      return 0;
    }
    this.#open.add(fragment);
    const depth = 1 + this.set(fragment.selectionSet, at + 1);
    this.#open.delete(fragment);
    this.#depths.set(fragment, depth);
    return depth;
  }

  set(set: SelectionSetNode, at: number): number {
    this.#check(at, 0);
    let deepest = 0;
    for (const selection of set.selections) {
      let depth = 0;
      if (selection.kind === "FragmentSpread") {
        const fragment = this.#fragments.get(selection.name.value);
        if (fragment !== undefined) depth = this.fragment(fragment, at);
      } else if (selection.selectionSet !== undefined) {
        depth = 1 + this.set(selection.selectionSet, at + 1);
      }
      if (depth > deepest) deepest = depth;
    }
    return deepest;
  }

  #check(at: number, below: number): number {
    if (at + below > this.#limits.depthMax) throw tooDeep(this.#limits);
    return below;
  }
}
