/** What the fields of a level want of its nodes: one want for each, equal ones read once. */
import type { ListBounds, ColumnRequest } from "../graph/reader.ts";
import type { CountField, EdgeField, FieldPlan, Level } from "../plan/plan.ts";
import { bindPage, isWholePage, type BoundPage } from "./bind.ts";
import type { BlockRun } from "./level-frame.ts";
import type { Run } from "./run.ts";

/** The number of the column request that answers a field; −1 for none. Equal ones are read once. */
export function addRequest(
  block: BlockRun,
  requests: ColumnRequest[],
  field: FieldPlan,
  level: Level,
): number {
  const request = requestOfField(block, field, level);
  if (request === undefined) return -1;
  const same = requests.findIndex((other) => isSameRequest(other, request));
  if (same >= 0) return same;
  return requests.push(request) - 1;
}

function isSameRequest(a: ColumnRequest, b: ColumnRequest): boolean {
  return a.kind === "cells" && b.kind === "cells" && a.predicate === b.predicate;
}

function requestOfField(
  block: BlockRun,
  field: FieldPlan,
  level: Level,
): ColumnRequest | undefined {
  switch (field.kind) {
    case "value":
    case "checkpwd":
      return { kind: "cells", predicate: field.predicate.id };
    case "count":
      return requestOfCount(block.run, field);
    case "edge":
      if (block.follow === undefined && !isEdgeNeeded(field, level)) return undefined;
      return requestOfEdge(block.run, field);
    default:
      return undefined;
  }
}

/** Edges without braces are read only where something looks at them. */
function isEdgeNeeded(field: EdgeField, level: Level): boolean {
  if (field.level !== undefined || field.variable !== undefined) return true;
  if (field.groupBy !== undefined || level.cascade !== undefined) return true;
  return field.facets?.fields.some((facet) => facet.variable !== undefined) === true;
}

function requestOfCount(run: Run, field: CountField): ColumnRequest {
  const predicate = field.predicate.id;
  const reverse = field.use.reverse ? field.predicate.reverseIndex?.id : undefined;
  if (field.filter === undefined && field.facetFilter === undefined) {
    // Values in several languages lie side by side: the one that the tags choose is counted.
    if (field.predicate.definition.lang) return { kind: "cells", predicate };
    return reverse === undefined
      ? { kind: "count", predicate }
      : { kind: "reverseCount", index: reverse };
  }
  if (field.predicate.definition.kind !== "uid") return { kind: "cells", predicate };
  const facets = field.facetFilter !== undefined;
  const bounds = field.page === undefined ? undefined : boundsOf(bindPage(run, field.page), false);
  return reverse === undefined
    ? { kind: "edges", predicate, facets, bounds }
    : { kind: "reverse", index: reverse, facets, bounds };
}

export function requestOfEdge(run: Run, field: EdgeField): ColumnRequest {
  const facets = field.facets !== undefined || field.facetFilter !== undefined;
  const bounds = boundsOf(bindPage(run, field.page), isPagedInList(field));
  const reverse = field.use.reverse ? field.predicate.reverseIndex?.id : undefined;
  return reverse === undefined
    ? { kind: "edges", predicate: field.predicate.id, facets, bounds }
    : { kind: "reverse", index: reverse, facets, bounds };
}

/** Whether the page can be cut while the list is read, because nothing else removes or moves its members. */
export function isPagedInList(field: EdgeField): boolean {
  return (
    field.filter === undefined &&
    field.facetFilter === undefined &&
    field.order === undefined &&
    (field.facets?.order.length ?? 0) === 0 &&
    field.level?.cascade === undefined
  );
}

function boundsOf(page: BoundPage, isPaged: boolean): ListBounds | undefined {
  const after = page.after > 0 ? page.after : undefined;
  if (!isPaged || isWholePage(page)) return after === undefined ? undefined : { after };
  if (page.first < 0) return { after, limit: -page.first, reverse: true };
  const skip = page.offset > 0 ? page.offset : undefined;
  return { after, skip, limit: page.first === 0 ? undefined : page.first };
}
