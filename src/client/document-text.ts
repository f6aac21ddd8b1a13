/** GraphQL documents as text: texts, strings that know their types, and nodes that keep their source. */
import type { DocumentText } from "./document-types.ts";

class TypedText extends String implements DocumentText<unknown, never> {
  /** Without the fragments that it spreads. */
  readonly own: string;
  /** All that it spreads and does not define itself. */
  readonly fragments: readonly TypedText[];

  constructor(own: string, fragments: readonly TypedText[]) {
    super([own, ...fragments.map((one) => one.own)].join("\n"));
    this.own = own;
    this.fragments = fragments;
  }
}

/** A text with the fragments behind it, each once. */
export function composeDocument(text: string, fragments: readonly unknown[]): TypedText {
  const all = new Map<string, TypedText>();
  for (const one of fragments) {
    if (!(one instanceof TypedText)) throw new TypeError("fragments are made by the same function");
    for (const each of [one, ...one.fragments]) all.set(each.own, each);
  }
  return new TypedText(text, [...all.values()]);
}

interface SourceNode {
  readonly loc?: { readonly source?: { readonly body?: string } };
}

/** Throws a TypeError for what is no document. */
export function documentTextOf(document: unknown): string {
  if (typeof document === "string") return document;
  if (typeof document === "object" && document !== null) {
    const value: unknown = document.valueOf();
    if (typeof value === "string") return value;
    const { loc } = document as SourceNode;
    if (typeof loc?.source?.body === "string") return loc.source.body;
  }
  throw new TypeError(
    "a GraphQL document is a text, a typed string, or a node with its source (codegen: documentMode string)",
  );
}

/** Whether it may change something; a text that only looks so is taken for one. */
export function isChange(text: string): boolean {
  return /\bmutation\b/.test(text);
}
