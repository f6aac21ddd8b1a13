/** GraphQL documents as text: texts, strings that know their types, and nodes. */
import { print, type ASTNode } from "graphql";

/** Of documents that are used again and again. */
const printed = new WeakMap<object, string>();

export function textOfDocument(document: unknown): string {
  if (typeof document === "string") return document;
  if (typeof document !== "object" || document === null) {
    throw new TypeError("a GraphQL document is a text or a typed document");
  }
  // Strings that know their types are objects of a class of their own.
  const value: unknown = document.valueOf();
  if (typeof value === "string") return value;
  const known = printed.get(document);
  if (known !== undefined) return known;
  const text = print(document as ASTNode);
  printed.set(document, text);
  return text;
}
