import { compareText } from "../model/text-order.ts";
import { defaultLanguage, isLanguage } from "./languages.ts";

/** Negative, zero or positive; a total order on texts. */
type TextOrder = (a: string, b: string) => number;

const orders = new Map<string, TextOrder>();

/** Bounds the cache: tags come from clients. */
const cacheMax = 200;

/**
 * The order of tagged texts (reference/dql 4.6): the language's collation, ties by bytes. undefined for a tag that is
 * no language: indexed predicates then use English (`englishOrder`), others bytes (`compareText`).
 */
export function collationOf(tag: string): TextOrder | undefined {
  const known = orders.get(tag);
  if (known !== undefined) return known;
  if (!isLanguage(tag)) return undefined;
  const collator = new Intl.Collator(tag.replaceAll("_", "-"));
  const order: TextOrder = (a, b) => collator.compare(a, b) || compareText(a, b);
  if (orders.size >= cacheMax) orders.clear();
  orders.set(tag, order);
  return order;
}

/** Collation of English: what an indexed predicate uses for a tag that is no language. */
function englishOrder(): TextOrder {
  return collationOf(defaultLanguage) ?? compareText;
}

/** How texts with a tag compare: untagged ones ("") and those of any language (".") by bytes. */
export function textOrder(tag: string, isIndexed: boolean): TextOrder {
  if (tag === "" || tag === ".") return compareText;
  return collationOf(tag) ?? (isIndexed ? englishOrder() : compareText);
}
