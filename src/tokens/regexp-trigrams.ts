import { encodeUtf8 } from "../base/bytes.ts";
import { parseRegexp, type RegexpNode } from "./regexp-syntax.ts";

/**
 * What the trigrams of a text must be for an expression to match it. "all" asks nothing: the expression is too
 * wide-ranging for a root (reference/dql 4.3.5). "none" can never match.
 */
export type TrigramQuery =
  | { readonly kind: "all" }
  | { readonly kind: "none" }
  | { readonly kind: "trigram"; readonly token: Uint8Array }
  | { readonly kind: "and" | "or"; readonly queries: readonly TrigramQuery[] };

/** The trigrams that every match of a well-formed expression has. */
export function trigramsOfRegexp(source: string, ignoreCase: boolean): TrigramQuery {
  const facts = simplify(factsOf(parseRegexp(source, ignoreCase)), true);
  return toQuery(addExact(facts).match);
}

/**
 * The method of Russ Cox ("Regular expression matching with a trigram index"): of each part of an expression one
 * knows whether it can be empty, all texts it can be (while they are few), what they begin and end with, and what
 * trigrams they must have. Texts are byte strings of UTF-8, a character for each byte.
 */
interface Facts {
  readonly canBeEmpty: boolean;
  readonly exact: ReadonlySet<string> | undefined;
  readonly prefixes: ReadonlySet<string>;
  readonly suffixes: ReadonlySet<string>;
  readonly match: Match;
}

/** A query while it is being built; trigrams as byte strings, "and" and "or" with at least two members. */
type Match =
  | { readonly kind: "all" }
  | { readonly kind: "none" }
  | { readonly kind: "trigram"; readonly trigram: string }
  | Compound;

interface Compound {
  readonly kind: "and" | "or";
  readonly members: ReadonlyMap<string, Match>;
}

const all: Match = { kind: "all" };
const none: Match = { kind: "none" };

const exactSetMax = 7;
const affixSetMax = 20;
/** Texts of a product of two sets that are still looked at. */
const crossMax = affixSetMax * affixSetMax;

const emptySet: ReadonlySet<string> = new Set();
const blankSet: ReadonlySet<string> = new Set([""]);

const emptyFacts: Facts = {
  canBeEmpty: true,
  exact: blankSet,
  prefixes: emptySet,
  suffixes: emptySet,
  match: all,
};

const anyFacts: Facts = {
  canBeEmpty: false,
  exact: undefined,
  prefixes: blankSet,
  suffixes: blankSet,
  match: all,
};

function factsOf(node: RegexpNode): Facts {
  switch (node.kind) {
    case "empty":
      return emptyFacts;
    case "any":
      return anyFacts;
    case "characters": {
      const exact = new Set(node.characters.map(toByteString));
      return simplify({ ...anyFacts, exact, prefixes: emptySet, suffixes: emptySet }, false);
    }
    case "concat":
      return node.parts.map(factsOf).reduce(concat, emptyFacts);
    case "alternate":
      return node.parts.map(factsOf).reduce(alternate);
    case "repeat":
      return repeat(node);
  }
}

function toByteString(character: string): string {
  return String.fromCharCode(...encodeUtf8(character));
}

/** Copies of a repeated part that are looked at one by one. */
const copiesMax = 8;

function repeat(node: RegexpNode & { readonly kind: "repeat" }): Facts {
  if (node.max === 0) return emptyFacts;
  const part = factsOf(node.part);
  const copies = Math.min(node.min, copiesMax);
  let facts = emptyFacts;
  for (let i = 0; i < copies; i++) facts = concat(facts, part);
  if (node.max === node.min && copies === node.min) return facts;
  if (node.min === 0 && node.max === 1) return alternate(part, emptyFacts);
  if (node.min === 0) return { ...anyFacts, canBeEmpty: true };
  const more = simplify(addExact(facts), false);
  return {
    ...more,
    exact: undefined,
    prefixes: facts.exact ?? facts.prefixes,
    suffixes: facts.exact ?? facts.suffixes,
  };
}

function concat(x: Facts, y: Facts): Facts {
  let match = and(x.match, y.match);
  const canBeEmpty = x.canBeEmpty && y.canBeEmpty;
  if (x.exact !== undefined && y.exact !== undefined && x.exact.size * y.exact.size <= crossMax) {
    return simplify(
      { canBeEmpty, exact: cross(x.exact, y.exact), prefixes: emptySet, suffixes: emptySet, match },
      false,
    );
  }
  const left = spread(x);
  const right = spread(y);
  let prefixes = x.exact === undefined ? x.prefixes : cross(x.exact, right.prefixes);
  if (x.canBeEmpty && x.exact === undefined) prefixes = union(prefixes, right.prefixes);
  let suffixes = y.exact === undefined ? y.suffixes : cross(left.suffixes, y.exact);
  if (y.canBeEmpty && y.exact === undefined) suffixes = union(suffixes, left.suffixes);
  const seamSize = left.suffixes.size * right.prefixes.size;
  if (x.exact === undefined && y.exact === undefined && seamSize <= crossMax) {
    match = andTrigrams(match, cross(left.suffixes, right.prefixes));
  }
  return simplify({ canBeEmpty, exact: undefined, prefixes, suffixes, match }, false);
}

/** The affixes of a part whose texts are all known are these texts. */
function spread(facts: Facts): Pick<Facts, "prefixes" | "suffixes"> {
  if (facts.exact === undefined) return facts;
  return { prefixes: facts.exact, suffixes: facts.exact };
}

function alternate(x: Facts, y: Facts): Facts {
  const canBeEmpty = x.canBeEmpty || y.canBeEmpty;
  if (x.exact !== undefined && y.exact !== undefined) {
    const exact = union(x.exact, y.exact);
    const match = or(x.match, y.match);
    return simplify({ canBeEmpty, exact, prefixes: emptySet, suffixes: emptySet, match }, false);
  }
  const left = spread(x);
  const right = spread(y);
  return simplify(
    {
      canBeEmpty,
      exact: undefined,
      prefixes: union(left.prefixes, right.prefixes),
      suffixes: union(left.suffixes, right.suffixes),
      match: or(addExact(x).match, addExact(y).match),
    },
    false,
  );
}

/** What the known texts ask for goes into the match. */
function addExact(facts: Facts): Facts {
  if (facts.exact === undefined) return facts;
  return { ...facts, match: andTrigrams(facts.match, facts.exact) };
}

/** Gives up exact texts that are too many or long enough, and shortens affixes to what can still make a trigram. */
function simplify(facts: Facts, isLast: boolean): Facts {
  let { exact, prefixes, suffixes, match } = facts;
  if (exact !== undefined) {
    const shortest = shortestOf(exact);
    const isLong = shortest >= 4 || (shortest >= 3 && isLast);
    if (exact.size <= exactSetMax && !isLong) return facts;
    match = andTrigrams(match, exact);
    prefixes = new Set([...exact].map((text) => text.slice(0, 2)));
    suffixes = new Set([...exact].map((text) => text.slice(-2)));
    exact = undefined;
  }
  const front = shortenAffixes(prefixes, match, (text, length) => text.slice(0, length));
  const back = shortenAffixes(suffixes, front.match, (text, length) =>
    length === 0 ? "" : text.slice(-length),
  );
  return {
    canBeEmpty: facts.canBeEmpty,
    exact,
    prefixes: front.affixes,
    suffixes: back.affixes,
    match: back.match,
  };
}

function shortenAffixes(
  affixes: ReadonlySet<string>,
  before: Match,
  cut: (text: string, length: number) => string,
): { affixes: ReadonlySet<string>; match: Match } {
  const match = andTrigrams(before, affixes);
  let shorter = affixes;
  for (let length = 2; length === 2 || shorter.size > affixSetMax; length--) {
    const kept = length;
    shorter = new Set([...shorter].map((text) => (text.length > kept ? cut(text, kept) : text)));
    if (length === 0) break;
  }
  return { affixes: shorter, match };
}

function shortestOf(texts: ReadonlySet<string>): number {
  let shortest = Infinity;
  for (const text of texts) shortest = Math.min(shortest, text.length);
  return texts.size === 0 ? 0 : shortest;
}

function cross(left: ReadonlySet<string>, right: ReadonlySet<string>): ReadonlySet<string> {
  const product = new Set<string>();
  for (const first of left) for (const second of right) product.add(first + second);
  return product;
}

function union(a: ReadonlySet<string>, b: ReadonlySet<string>): ReadonlySet<string> {
  return new Set([...a, ...b]);
}

/** The match, and one of the texts with all of its trigrams; nothing is known if one of them is too short. */
function andTrigrams(match: Match, texts: ReadonlySet<string>): Match {
  if (shortestOf(texts) < 3) return match;
  let any: Match = none;
  for (const text of texts) {
    let each: Match = all;
    for (let i = 0; i + 3 <= text.length; i++) {
      each = and(each, { kind: "trigram", trigram: text.slice(i, i + 3) });
    }
    any = or(any, each);
  }
  return and(match, any);
}

function and(a: Match, b: Match): Match {
  if (a.kind === "none" || b.kind === "all") return a;
  if (b.kind === "none" || a.kind === "all") return b;
  return combine("and", a, b);
}

function or(a: Match, b: Match): Match {
  if (a.kind === "all" || b.kind === "none") return a;
  if (b.kind === "all" || a.kind === "none") return b;
  return combine("or", a, b);
}

function combine(kind: "and" | "or", a: Match, b: Match): Match {
  const members = new Map<string, Match>();
  for (const match of [a, b]) {
    if (isCompound(match, kind)) for (const [name, each] of match.members) members.set(name, each);
    else members.set(nameOf(match), match);
  }
  if (kind === "or") dropImplied(members);
  const [only] = members.values();
  return members.size === 1 && only !== undefined ? only : { kind, members };
}

function isCompound(match: Match, kind: "and" | "or"): match is Compound {
  return match.kind === kind;
}

/** Of "a" or "a and b" the first alone is left. */
function dropImplied(members: Map<string, Match>): void {
  for (const [name, match] of members) {
    if (!isCompound(match, "and")) continue;
    for (const part of match.members.keys()) if (members.has(part)) members.delete(name);
  }
}

/** Equal matches have equal names. */
function nameOf(match: Match): string {
  if (match.kind === "trigram") return match.trigram;
  if (match.kind === "all" || match.kind === "none") return match.kind;
  const names = [...match.members.keys()];
  return `${match.kind}(${names.sort().join(",")})`;
}

function toQuery(match: Match): TrigramQuery {
  if (match.kind === "trigram") {
    return { kind: "trigram", token: Uint8Array.from(match.trigram, (c) => c.charCodeAt(0)) };
  }
  if (match.kind === "all" || match.kind === "none") return { kind: match.kind };
  return { kind: match.kind, queries: [...match.members.values()].map(toQuery) };
}
