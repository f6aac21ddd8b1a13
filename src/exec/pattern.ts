/**
 * regexp() and match(): candidates by trigrams, then every candidate's text (reference/dql 4.3.5, 4.3.6). Price: the
 * lists of the trigrams, and one read of the candidates' texts; in a filter without a narrower list, of all
 * candidates'.
 */
import { unionAll } from "../base/sorted.ts";
import { ConversionError } from "../model/conversion-error.ts";
import { parseInt64 } from "../model/int.ts";
import { makeLimitFault } from "../model/limits.ts";
import { emptyUidSet, type UidSet } from "../model/uid.ts";
import type { CallPlan } from "../plan/plan.ts";
import { trigramsOfRegexp, type TrigramQuery } from "../tokens/regexp-trigrams.ts";
import { trigramTokens } from "../tokens/text-tokens.ts";
import { intersectLists, readLists, listOfToken } from "./lookup.ts";
import { needsRecheck, type Candidates } from "./candidates.ts";
import type { CellTest } from "./compare.ts";
import { buildDistanceTest } from "./levenshtein.ts";
import { compileRegexp } from "./regexp-match.ts";
import { queryFault, slotText, type Run } from "./run.ts";

type RegexpCall = Extract<CallPlan, { kind: "regexp" }>;
type MatchCall = Extract<CallPlan, { kind: "match" }>;

/** Linear in the characters of the texts; Fault E_LIMIT beyond `regexpCharactersMax` of them in a query. */
export function buildRegexTest(run: Run, source: string, flags: string): CellTest {
  const matches = compileRegexp(source, flags);
  const { work } = run;
  const max = run.limits.regexpCharactersMax;
  return (cell) => {
    const { text } = cell;
    work.regexpCharacters += text.length;
    if (work.regexpCharacters > max) {
      throw makeLimitFault("regexp-characters", `Exceeded regexp limit = ${max} characters.`);
    }
    return matches(text);
  };
}

/** The nodes of a regexp root. An expression that asks for no trigram is refused. */
export async function findRegex(run: Run, call: RegexpCall): Promise<Candidates> {
  const source = slotText(run, call.source);
  const flags = call.flags ?? "";
  const test = buildRegexTest(run, source, flags);
  if (call.index === undefined) {
    throw queryFault(
      `Attribute ${call.use.name} does not have trigram index for regex matching. ` +
        "Please add a trigram index or use has/uid function with regexp() as filter.",
    );
  }
  const query = trigramsOfRegexp(source, flags === "i");
  if (query.kind === "all") {
    throw queryFault("regular expression is too wide-ranging and can't be executed efficiently");
  }
  const candidates = await findTrigrams(run, call.index.id, query, undefined);
  return needsRecheck(candidates ?? emptyUidSet, call.use, test);
}

/** Those of `candidates` that may match by their trigrams; undefined where no index or no trigram tells. */
export async function narrowRegexp(
  run: Run,
  call: RegexpCall,
  candidates: UidSet,
): Promise<UidSet | undefined> {
  if (call.index === undefined) return undefined;
  const query = trigramsOfRegexp(slotText(run, call.source), call.flags === "i");
  if (query.kind === "all") return undefined;
  return findTrigrams(run, call.index.id, query, candidates);
}

/** Nodes whose trigrams fit, among `within` where given; undefined for all. */
async function findTrigrams(
  run: Run,
  index: number,
  query: TrigramQuery,
  within: UidSet | undefined,
): Promise<UidSet | undefined> {
  switch (query.kind) {
    case "all":
      return within;
    case "none":
      return emptyUidSet;
    case "trigram":
      return intersectLists(run, [listOfToken(index, query.token)], within);
    case "and": {
      const lists = query.queries.flatMap((part) =>
        part.kind === "trigram" ? [listOfToken(index, part.token)] : [],
      );
      let found = lists.length === 0 ? within : await intersectLists(run, lists, within);
      for (const part of query.queries) {
        if (part.kind === "trigram" || found?.length === 0) continue;
        found = await findTrigrams(run, index, part, found);
      }
      return found;
    }
    case "or": {
      const sets: UidSet[] = [];
      for (const part of query.queries) {
        const found = await findTrigrams(run, index, part, within);
        if (found === undefined) return undefined;
        sets.push(found);
      }
      return unionAll(sets);
    }
  }
}

/** Empty values never match; the distance counts characters of the whole value. */
export function buildMatchTest(run: Run, call: MatchCall): CellTest {
  const distance = bindDistance(slotText(run, call.distance));
  const isNear = buildDistanceTest(slotText(run, call.text), distance);
  return (cell) => cell.text !== "" && isNear(cell.text);
}

function bindDistance(text: string): number {
  const distance = parseDistance(text);
  if (distance < 0) {
    throw queryFault(`Levenshtein distance value must be greater than 0, got ${text}`);
  }
  return distance;
}

function parseDistance(text: string): number {
  try {
    const distance = parseInt64(text);
    if (distance <= 2147483647 && distance >= -2147483648) return Number(distance);
  } catch (error) {
    if (!(error instanceof ConversionError)) throw error;
  }
  throw queryFault(`Levenshtein distance value must be an int, got ${text}`);
}

/** The nodes of a match root: those that share at least one trigram with the text. */
export async function findMatches(run: Run, call: MatchCall): Promise<Candidates> {
  const test = buildMatchTest(run, call);
  const tokens = trigramTokens(slotText(run, call.text));
  const lists = tokens.map((token) => listOfToken(call.index.id, token));
  const candidates = unionAll(await readLists(run, lists));
  return needsRecheck(candidates, call.use, test);
}
