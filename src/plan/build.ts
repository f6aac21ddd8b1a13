import type { Block, FunctionCall, QueryDocument, ShortestEnd } from "../dql/ast.ts";
import type { Schema } from "../graph/schema.ts";
import {
  addOptionalSlot,
  addSlot,
  isHidden,
  makeBuilder,
  refusePlan,
  refuseTree,
  variableIndex,
  type Builder,
  type FunctionTable,
} from "./builder.ts";
import { buildCall } from "./call.ts";
import { announceVariable, defineVariable } from "./define.ts";
import { buildLevel, emptyBlockPath } from "./field.ts";
import { buildFilter } from "./filter.ts";
import { buildGroup } from "./group.ts";
import { buildOrder, buildPage } from "./order.ts";
import { buildRoot } from "./root.ts";
import type { BlockPlan, PathEndPlan, Plan, RecursePlan, ShortestPlan } from "./plan.ts";
import { definedNames, hiddenNames, scheduleBlocks } from "./variables.ts";

/**
 * Plans a document against a schema. The plan may be kept and run again with other literals for as long as
 * `schema.version` stays. Throws Fault E_QUERY for what is wrong whatever the data.
 */
export function planDocument(
  document: QueryDocument,
  schema: Schema,
  functions: FunctionTable,
): Plan {
  const builder = makeBuilder(schema, functions);
  // Nothing is hidden from most: they do not pay for the walk.
  const hidden =
    schema.access === undefined ? none : hiddenNames(document, (name) => isHidden(builder, name));
  document.blocks.forEach((block, i) => {
    for (const name of definedNames(block)) announceVariable(builder, name, i);
  });
  const blocks = document.blocks.map((block, i) => {
    builder.block = i;
    return buildBlock(builder, block, hidden);
  });
  return {
    schemaVersion: schema.version,
    slots: builder.slots,
    variables: builder.variables,
    blocks,
    schedule: scheduleBlocks(document),
  };
}

const none: ReadonlySet<string> = new Set();

/** `hidden`: variables of values that the sender may not read. */
function buildBlock(builder: Builder, block: Block, hidden: ReadonlySet<string>): BlockPlan {
  if (block.root === undefined && (block.kind === "query" || block.kind === "var")) {
    const reason =
      "No function used at root and no aggregation or math variables found in the body.";
    refusePlan(`Invalid query. ${reason}`);
  }
  const variable = defineVariable(builder, block.variable, "uid", -1);
  const seen = builder.hiddenCount;
  const call = block.root === undefined ? undefined : buildCall(builder, block.root, true);
  // A block whose root may not be read is not answered at all; its variables stay, empty.
  const isUnread = builder.hiddenCount > seen || isOver(block.root, hidden);
  const page = buildPage(builder, block.page, "root");
  const order = buildOrder(builder, block.order);
  const shortest = block.kind === "shortest" ? buildShortest(builder, block) : undefined;
  const recurse = block.recurse === undefined ? undefined : buildRecurse(builder, block);
  const groups = block.directives.groupBy;
  const groupBy = groups === undefined ? undefined : buildGroup(builder, groups, block.children);
  const level = buildLevel(builder, groupBy === undefined ? block.children : [], {
    path: block.kind === "empty" ? emptyBlockPath : [],
    cascade: block.directives.cascade,
    isRecurse: recurse !== undefined,
    isShortest: shortest !== undefined,
  });
  const filter = block.filter === undefined ? undefined : buildFilter(builder, block.filter);
  const among = block.among === undefined ? undefined : buildFilter(builder, block.among);
  const hasCascade = level.cascade !== undefined;
  return {
    kind: isUnread ? "var" : block.kind,
    name: isUnread || block.name === "var" ? "" : block.name,
    root:
      call === undefined
        ? undefined
        : buildRoot(builder.functions, { call, among, filter, order, page, hasCascade }),
    filter,
    order,
    page,
    level,
    variable,
    normalize: block.directives.normalize,
    ignoreReflex: block.directives.ignoreReflex,
    groupBy,
    recurse,
    shortest,
  };
}

/** Whether a root compares the values of one of these variables. */
function isOver(root: FunctionCall | undefined, variables: ReadonlySet<string>): boolean {
  return root?.subject.kind === "val" && variables.has(root.subject.variable);
}

function buildRecurse(builder: Builder, block: Block): RecursePlan {
  const hasChildren = block.children.some(
    (child) => "children" in child && child.children !== undefined,
  );
  if (hasChildren)
    refusePlan("recurse queries require that all predicates are specified in one level");
  return {
    depth: addOptionalSlot(builder, "depth", block.recurse?.depth, "root"),
    loop: addOptionalSlot(builder, "loop", block.recurse?.loop, "root"),
  };
}

function buildShortest(builder: Builder, block: Block): ShortestPlan {
  const shortest = block.shortest;
  if (shortest?.from === undefined || shortest.to === undefined) {
    return refuseTree("while filling args: from/to can't be nil for shortest path");
  }
  const end = (from: ShortestEnd): PathEndPlan =>
    from.kind === "uid"
      ? { kind: "uid", slot: addSlot(builder, "uid", from.uid, "root") }
      : { kind: "variable", variable: variableIndex(builder, from.name) };
  return {
    from: end(shortest.from),
    to: end(shortest.to),
    numPaths: addOptionalSlot(builder, "number", shortest.numPaths, "root"),
    depth: addOptionalSlot(builder, "depth", shortest.depth, "root"),
    minWeight: addOptionalSlot(builder, "number", shortest.minWeight, "root"),
    maxWeight: addOptionalSlot(builder, "number", shortest.maxWeight, "root"),
    maxFrontierSize: addOptionalSlot(builder, "number", shortest.maxFrontierSize, "root"),
  };
}
