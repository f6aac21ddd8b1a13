/**
 * near, within, contains, intersects: candidates by cells, then every candidate's geometry (dql.md 4.3 Geo). Price: the
 * lists of some dozen cells, and one read of the candidates' geometries, each tested exactly.
 */
import { must } from "../base/assert.ts";
import { Lru } from "../base/lru.ts";
import { unionAll } from "../base/sorted.ts";
import type { CallPlan } from "../plan/plan.ts";
import { readLists, listOfToken } from "./lookup.ts";
import { needsRecheck, type Candidates } from "./candidates.ts";
import type { CellTest } from "./compare.ts";
import { buildGeoQuery, type GeoQuery } from "./geo-match.ts";
import { slotText, type Run } from "./run.ts";

type GeoCall = Extract<CallPlan, { kind: "geo" }>;

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

/** A node that matches has at least one of these tokens. */
export function geoTokensOf(run: Run, call: GeoCall): readonly Uint8Array[] {
  return bindGeo(run, call).tokens;
}

export function buildGeoTest(run: Run, call: GeoCall): CellTest {
  return testOf(bindGeo(run, call));
}

/** The nodes of a geo root. */
export async function findGeo(run: Run, call: GeoCall): Promise<Candidates> {
  const query = bindGeo(run, call);
  const index = must(call.index, "a root of places has an index").id;
  const lists = query.tokens.map((token) => listOfToken(index, token));
  const candidates = unionAll(await readLists(run, lists));
  return needsRecheck(candidates, call.use, testOf(query));
}
