/**
 * near, within, contains, intersects: candidates by cells, then every candidate's geometry (reference/dql 4.3.11).
 * Price: the lists of some dozen cells, and one read of the candidates' geometries, each tested exactly.
 */
import { Lru } from "../../base/lru.ts";
import { intersect, unionAll } from "../../base/sorted.ts";
import type { FunctionCall } from "../../dql/ast.ts";
import type { ListRef } from "../../graph/reader.ts";
import type { PredicateIndex } from "../../graph/schema.ts";
import { emptyUidSet } from "../../model/uid.ts";
import { refusal, type Builder } from "../../plan/builder.ts";
import { checkUse, findIndex, literalSlots, refused, resolveSubject } from "../../plan/call.ts";
import type { CallPlan, PredicateUse, SlotIndex } from "../../plan/plan.ts";
import { countMembers, listOfToken, readLists, verifyCells } from "../lookup.ts";
import { needsRecheck, noCandidates } from "../candidates.ts";
import type { CellTest } from "../compare.ts";
import { buildGeoQuery, type GeoQuery } from "../geo-match.ts";
import { areMany, countsCells, takesOpenLists } from "../../optimizer/filter-choice.ts";
import { slotText, type Run } from "../run.ts";
import {
  always,
  cellsCall,
  members,
  never,
  noList,
  noCheck,
  type CallFunction,
} from "./function.ts";

interface GeoCall {
  readonly kind: "geo";
  readonly name: "near" | "within" | "contains" | "intersects";
  readonly use: PredicateUse;
  /** undefined: another kind of index, finds nothing. */
  readonly index: PredicateIndex | undefined;
  readonly geometry: SlotIndex;
  /** near only. */
  readonly distance: SlotIndex | undefined;
}

declare module "../../plan/plan.ts" {
  interface CallPlans {
    geo: GeoCall;
  }
}

const syntax = {
  subject: "predicate",
  literals: "none",
  atRoot: true,
  brackets: "coordinates",
} as const;

function build(builder: Builder, call: FunctionCall): CallPlan {
  const name = call.name as GeoCall["name"];
  const use = resolveSubject(builder, call);
  const slots = literalSlots(builder, "geo", call.args);
  const predicate = use.predicate;
  if (predicate === undefined) return { kind: "nothing", use };
  const expected = name === "near" ? 2 : 1;
  const [geometry, distance] = slots;
  if (geometry === undefined || slots.length !== expected) {
    const reason = `${name} function requires ${expected} arguments, but got ${slots.length}`;
    return refused(use, refusal(reason));
  }
  if (!predicate.indexes.some((index) => index.state === "ready")) {
    return refused(use, refusal(`Predicate ${use.name} is not indexed`));
  }
  const wrongUse = checkUse(use);
  if (wrongUse !== undefined) return refused(use, wrongUse);
  return { kind: "geo", name, use, index: findIndex(use, "geo"), geometry, distance };
}

/** Areas of places come again: covering one with cells costs 50 to 500 µs. */
const built = new Lru<string, GeoQuery>(256);

/** Queries about longer geometries are built once a run. */
const keptLengthMax = 1000;

function bindGeo(run: Run, call: GeoCall): GeoQuery {
  const known = run.bound.get(call) as GeoQuery | undefined;
  if (known !== undefined) return known;
  const distance = call.distance === undefined ? "" : slotText(run, call.distance);
  const text = slotText(run, call.geometry);
  const key = `${call.name} ${distance.length} ${distance}${text}`;
  const query = built.get(key) ?? buildGeoQuery(call.name, text, distance);
  if (key.length <= keptLengthMax) built.set(key, query);
  run.bound.set(call, query);
  return query;
}

function testOf(query: GeoQuery): CellTest {
  return (cell) => cell.value.kind === "geo" && query.matches(cell.value.geometry);
}

/** Lists of which a node that matches is in one at least. */
function listsOf(run: Run, call: GeoCall, index: PredicateIndex): readonly ListRef[] {
  return bindGeo(run, call).tokens.map((token) => listOfToken(index.id, token));
}

export const geo: CallFunction<GeoCall> = {
  forms: [
    {
      subject: "predicate",
      names: { near: syntax, within: syntax, contains: syntax, intersects: syntax },
      build,
    },
  ],
  price: 7,
  isExchangeable: always,
  isIndexed: ({ index }) => index !== undefined,
  isOneList: never,
  describe: ({ name, use, geometry }, words) =>
    `${name} ${words.use(use)} ${words.slot(geometry)} (index geo)`,
  count: async (run, call) =>
    call.index === undefined ? 0 : countMembers(run, listsOf(run, call, call.index)),
  guess: () => "condition",
  reads: () => ({ rechecks: true, filter: "values" }),
  isCounted: never,
  isFree: never,
  isExpensive: true,
  looksAt(run, call) {
    return this.count(run, call);
  },
  checkRoot: noCheck,

  async find(run, call) {
    if (call.index === undefined) return noCandidates;
    const test = testOf(bindGeo(run, call));
    const candidates = unionAll(await readLists(run, listsOf(run, call, call.index)));
    return needsRecheck(candidates, call.use, test);
  },
  list: noList,

  /** Many candidates are looked for in the lists of the area's cells, where those are fewer. */
  async prepare(run, call, candidates) {
    const { index, use } = call;
    if (index === undefined) return members(emptyUidSet);
    const test = testOf(bindGeo(run, call));
    const lists = areMany(candidates.length) ? listsOf(run, call, index) : [];
    if (!countsCells(lists.length)) return cellsCall(use, test);
    const length = await countMembers(run, lists);
    if (!takesOpenLists(length, candidates.length)) return cellsCall(use, test);
    const near = intersect(unionAll(await readLists(run, lists)), candidates);
    return members(await verifyCells(run, use, test, near));
  },
};
