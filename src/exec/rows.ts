/** Hot: edges of a level as columns, and their rows in the level below (bench/rows.ts). */
import { must } from "../base/assert.ts";
import { makeArray } from "../base/array.ts";
import { isAscending, lowerBound, sortUnique } from "../base/sorted.ts";
import type { Facets } from "../model/facet.ts";
import type { UidSet } from "../model/uid.ts";
import { cutPage, isWholePage, type BoundPage } from "./bind.ts";

/** Row i owns targets[offsets[i]] … targets[offsets[i + 1] - 1]. */
export interface Edges {
  readonly offsets: Uint32Array;
  readonly targets: Float64Array;
  readonly facets: readonly (Facets | undefined)[] | undefined;
}

/** The distinct targets, ascending. */
export function distinctTargets(edges: Edges): UidSet {
  const { targets } = edges;
  if (edges.offsets.length <= 2 && isAscending(targets)) return targets;
  return (
    (targets.length < markedFrom ? undefined : markDistinct(targets)) ?? sortUnique(targets.slice())
  );
}

/** Fewer targets are sorted at once. */
const markedFrom = 1024;

/** Marks in a table over their span, where that is not much wider than they are many: 3 ns each, sorting 80 ns. */
function markDistinct(targets: Float64Array): UidSet | undefined {
  let low = Infinity;
  let high = 0;
  for (let e = 0; e < targets.length; e++) {
    const target = targets[e]!;
    if (target < low) low = target;
    if (target > high) high = target;
  }
  const span = high - low + 1;
  if (span > targets.length * tableSlack * 4) return undefined;
  const marks = new Uint8Array(span);
  let count = 0;
  for (let e = 0; e < targets.length; e++) {
    const place = targets[e]! - low;
    count += 1 - marks[place]!;
    marks[place] = 1;
  }
  const distinct = new Float64Array(count);
  let at = 0;
  for (let place = 0; place < span; place++) if (marks[place] === 1) distinct[at++] = low + place;
  return distinct;
}

/** Up to this many slots for each member, a table by value beats searching (3 ns against 60 ns a look-up). */
const tableSlack = 8;

/** Pages are short, and an array over 64 bytes has memory of its own to be asked for. */
const keptPlacesMax = 128;
const keptPlaces = makeArray<Uint32Array | undefined>(keptPlacesMax + 1);

/** 0, 1, 2, …: shared, so not to be written to. */
function ownPlaces(count: number): Uint32Array {
  const kept = count <= keptPlacesMax ? keptPlaces[count] : undefined;
  if (kept !== undefined) return kept;
  const places = new Uint32Array(count);
  for (let i = 0; i < count; i++) places[i] = i;
  if (count <= keptPlacesMax) keptPlaces[count] = places;
  return places;
}

/** For each value its place in `set`, which holds it. The result is only read. */
export function placesIn(set: UidSet, values: Float64Array): Uint32Array {
  if (set === values) return ownPlaces(values.length);
  const places = new Uint32Array(values.length);
  if (set.length === 0) return places;
  const low = set[0]!;
  const span = set[set.length - 1]! - low + 1;
  if (span <= (set.length + values.length) * tableSlack) {
    const table = new Uint32Array(span);
    for (let i = 0; i < set.length; i++) table[set[i]! - low] = i;
    for (let i = 0; i < values.length; i++) places[i] = table[values[i]! - low]!;
    return places;
  }
  for (let i = 0; i < values.length; i++) places[i] = lowerBound(set, values[i]!);
  return places;
}

/** Edges whose flag is set. `keep` lies beside the targets. */
export function keepEdges(edges: Edges, keep: Uint8Array): Edges {
  const rowCount = edges.offsets.length - 1;
  const offsets = new Uint32Array(rowCount + 1);
  const targets = new Float64Array(edges.targets.length);
  const facets: (Facets | undefined)[] | undefined = edges.facets === undefined ? undefined : [];
  let count = 0;
  for (let row = 0; row < rowCount; row++) {
    const end = must(edges.offsets[row + 1], "a row has its bounds");
    for (let e = must(edges.offsets[row], "a row has its bounds"); e < end; e++) {
      if (keep[e] === 0) continue;
      targets[count++] = edges.targets[e]!;
      facets?.push(edges.facets?.[e]);
    }
    offsets[row + 1] = count;
  }
  return { offsets, targets: count === targets.length ? targets : targets.slice(0, count), facets };
}

/** Edges to nodes whose flag is set; `places[e]` is the place of edge e's target in the flags. */
export function keepByTarget(edges: Edges, places: Uint32Array, alive: Uint8Array): Edges {
  const keep = new Uint8Array(places.length);
  let kept = 0;
  for (let e = 0; e < places.length; e++) {
    const flag = alive[places[e]!]!;
    keep[e] = flag;
    kept += flag;
  }
  return kept === keep.length ? edges : keepEdges(edges, keep);
}

/** Cuts each row's edges to the page. */
export function pageEdges(edges: Edges, page: BoundPage): Edges {
  if (isWholePage(page)) return edges;
  const keep = new Uint8Array(edges.targets.length);
  for (let row = 0; row + 1 < edges.offsets.length; row++) {
    const from = must(edges.offsets[row], "a row has its bounds");
    const { start, end } = cutPage(
      page,
      must(edges.offsets[row + 1], "a row has its bounds") - from,
    );
    keep.fill(1, from + start, from + end);
  }
  return keepEdges(edges, keep);
}

/** Reorders the edges within each row; `compare` gets two edge numbers. Stable. */
export function sortEdges(edges: Edges, compare: (a: number, b: number) => number): Edges {
  const order: number[] = [];
  for (let row = 0; row + 1 < edges.offsets.length; row++) {
    const numbers: number[] = [];
    const end = must(edges.offsets[row + 1], "a row has its bounds");
    for (let e = must(edges.offsets[row], "a row has its bounds"); e < end; e++) numbers.push(e);
    numbers.sort(compare);
    for (const e of numbers) order.push(e);
  }
  const facets = edges.facets;
  return {
    offsets: edges.offsets,
    targets: Float64Array.from(order, (e) => must(edges.targets[e], "each edge has its target")),
    facets: facets === undefined ? undefined : order.map((e) => facets[e]),
  };
}

/** Members whose flag is set. */
export function keepMembers(set: UidSet, keep: Uint8Array): UidSet {
  const out = new Float64Array(set.length);
  let count = 0;
  for (let i = 0; i < set.length; i++) if (keep[i] !== 0) out[count++] = set[i]!;
  return count === set.length ? set : out.slice(0, count);
}

/** Flags beside `set` for the members that are in `subset`, which is ascending. */
export function flagMembers(set: UidSet, subset: UidSet): Uint8Array {
  const flags = new Uint8Array(set.length);
  let at = 0;
  for (let i = 0; i < set.length && at < subset.length; i++) {
    while (at < subset.length && subset[at]! < set[i]!) at++;
    if (at < subset.length && subset[at] === set[i]) flags[i] = 1;
  }
  return flags;
}
