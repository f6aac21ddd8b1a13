/**
 * Hot: bench/index-column.ts. A column of values read from an index instead of from records: where a predicate has few different values and many
 * nodes are asked, walking its tokens beside the nodes costs 3 ns a member, a record 500 ns.
 */
import { must } from "../base/assert.ts";
import {
  areManyNodes,
  columnTokens,
  countsOn,
  isCountKept,
  isSought,
  takesColumn,
} from "../optimizer/column-choice.ts";
import { tokenizerOf } from "../tokens/tokenizers.ts";
import { makeArray } from "../base/array.ts";
import { gallop, lowerBound } from "../base/sorted.ts";
import type { Cell } from "../graph/reader.ts";
import type { Predicate, PredicateIndex, Schema } from "../graph/schema.ts";
import type { UidSet } from "../model/uid.ts";
import type { Value } from "../model/value.ts";
import type { RootPlan } from "../plan/plan.ts";
import { decodeNumberToken } from "../tokens/number-tokens.ts";
import { bindValues } from "./bind-values.ts";
import { makeCell } from "./cells.ts";
import { isCutToken, languageRange, rangeOf } from "./index-tokens.ts";
import type { Run } from "./run.ts";
import { scanYielding } from "./yielding-scan.ts";

interface TokenCount {
  readonly tokens: number;
  readonly ts: number;
}

const tokenCounts = new WeakMap<Schema, Map<number, TokenCount>>();

/**
 * The value of each node, one cell for all nodes with the same value; undefined where records are the better way.
 * Facets are not in an index, so callers that show them do not ask. `root`: the root that found the nodes, whose
 * conditions may say which values there can be.
 */
export async function readIndexColumn(
  run: Run,
  predicate: Predicate,
  uids: UidSet,
  root?: RootPlan,
): Promise<(Cell | undefined)[] | undefined> {
  if (!areManyNodes(uids.length) && root === undefined) return undefined;
  const index = findValueIndex(predicate);
  if (index === undefined) return undefined;
  const token = root === undefined ? undefined : knownToken(run, root, index);
  if (token !== undefined) return fillAlike(predicate, index, token, uids);
  const found = await findColumnIndex(run, predicate, uids.length, true);
  return found === undefined ? undefined : fillColumn(run, predicate, found, uids);
}

/**
 * The index that the values of so many nodes are read from; undefined where their records are the better way. `keeps`:
 * later runs may know what was counted.
 */
export async function findColumnIndex(
  run: Run,
  predicate: Predicate,
  nodes: number,
  keeps: boolean,
): Promise<PredicateIndex | undefined> {
  if (!areManyNodes(nodes)) return undefined;
  const index = findValueIndex(predicate);
  if (index === undefined) return undefined;
  const [counted] = await run.reader.countLists([{ kind: "presence", predicate: predicate.id }]);
  const present = must(counted, "one list was counted");
  if (!takesColumn(present, nodes)) return undefined;
  const tokensMax = columnTokens(nodes);
  return (await countIndexTokens(run, index, tokensMax, keeps)) > tokensMax ? undefined : index;
}

/** The token that all nodes of a root have, where a condition of it on the same index says so. */
function knownToken(run: Run, root: RootPlan, index: PredicateIndex): Uint8Array | undefined {
  for (const { call } of root.choices) {
    if (call.kind !== "compare" || call.operator !== "eq" || call.index?.id !== index.id) continue;
    const kind = call.use.predicate?.definition.kind;
    if (kind === undefined || kind === "uid" || call.refusal !== undefined) continue;
    const bounds = bindValues(run, call.values, kind, call.operator, true);
    if (bounds.length === 1) return rangeOf(index, "eq", bounds, call.use).from;
  }
  return undefined;
}

/** A column of one value for all. */
function fillAlike(
  predicate: Predicate,
  index: PredicateIndex,
  token: Uint8Array,
  uids: UidSet,
): (Cell | undefined)[] | undefined {
  const value = decodeToken(predicate, index, token);
  if (value === undefined) return undefined;
  return makeArray<Cell | undefined>(uids.length).fill(makeCell(value, "", undefined));
}

/** An index whose tokens hold the whole value. Dates are left out: their offset is not in the token. */
function findValueIndex(predicate: Predicate): PredicateIndex | undefined {
  const { list, lang } = predicate.definition;
  if (list || lang) return undefined;
  return predicate.indexes.find(
    ({ tokenizer, state }) =>
      state === "ready" && ["int", "float", "bool", "exact"].includes(tokenizer),
  );
}

/** How many different tokens there are, as far as `max` goes. */
async function countIndexTokens(
  run: Run,
  index: PredicateIndex,
  max: number,
  keeps: boolean,
): Promise<number> {
  const { schema, ts } = run.reader;
  let known = tokenCounts.get(schema);
  if (known === undefined) tokenCounts.set(schema, (known = new Map<number, TokenCount>()));
  const before = known.get(index.id);
  if (before !== undefined && isCountKept(Math.abs(ts - before.ts))) {
    if (before.tokens > max || countsOn(before.tokens)) return before.tokens;
  }
  let tokens = 0;
  await run.reader.countTokens(index.id, languageRange(index, ""), () => {
    tokens++;
    return countsOn(tokens);
  });
  if (keeps) known.set(index.id, { tokens, ts });
  return tokens;
}

async function fillColumn(
  run: Run,
  predicate: Predicate,
  index: PredicateIndex,
  uids: UidSet,
): Promise<(Cell | undefined)[] | undefined> {
  const cells: (Cell | undefined)[] = [];
  for (let i = 0; i < uids.length; i++) cells.push(undefined);
  let isExact = true;
  await scanYielding(run, index.id, languageRange(index, ""), (token, members) => {
    const value = decodeToken(predicate, index, token);
    if (value === undefined) {
      isExact = false;
      return false;
    }
    placeCells(cells, uids, members, makeCell(value, "", undefined));
    return true;
  });
  return isExact ? cells : undefined;
}

/** undefined for tokens that do not say the value to the last bit. */
function decodeToken(
  predicate: Predicate,
  index: PredicateIndex,
  token: Uint8Array,
): Value | undefined {
  if (tokenizerOf(index)?.kind === "string") {
    if (isCutToken(token)) return undefined;
    return { kind: "string", text: new TextDecoder().decode(token.subarray(1)) };
  }
  const kind = predicate.definition.kind;
  if (kind === "uid") return undefined;
  const value = decodeNumberToken(kind, token);
  // −0 has the token of 0 and prints differently.
  return value.kind === "float" && value.float === 0 ? undefined : value;
}

/** Gives the cell to those of `uids` that are members. `members` may be one chunk of many. */
export function placeCells(
  cells: (Cell | undefined)[],
  uids: UidSet,
  members: UidSet,
  cell: Cell,
): void {
  if (members.length === 0) return;
  const start = lowerBound(uids, must(members[0], "there are members"));
  const end = lowerBound(uids, must(members.at(-1), "there are members") + 1, start);
  if (isSought(members.length, end - start)) {
    let at = start;
    for (let m = 0; m < members.length; m++) {
      const member = members[m]!;
      at = gallop(uids, member, at);
      if (uids[at] === member) cells[at] = cell;
    }
    return;
  }
  const isSparse = isSought(end - start, members.length);
  let m = 0;
  for (let i = start; i < end; i++) {
    const uid = uids[i]!;
    if (isSparse) m = gallop(members, uid, m);
    else while (members[m]! < uid) m++;
    if (members[m] === uid) cells[i] = cell;
  }
}
