/** expand(): the predicates of the types of a level's nodes (reference/dql 4.18). Price: one read of their types. */
import { buildExpanded } from "../plan/expand.ts";
import type { UidSet } from "../model/uid.ts";
import type { ExpandFieldPlan, FieldPlan, Level } from "../plan/plan.ts";
import { queryFault, valuesOf, type Run } from "./run.ts";

/** What a level's expand() becomes for these nodes; undefined where the level has none. `at`: its field number. */
export function expandFields(run: Run, level: Level, uids: UidSet): Promise<Expanded> | undefined {
  for (let at = 0; at < level.fields.length; at++) {
    const field = level.fields[at];
    if (field?.kind === "expand") return expandField(run, field, at, uids);
  }
  return undefined;
}

interface Expanded {
  readonly at: number;
  readonly fields: readonly FieldPlan[];
}

async function expandField(
  run: Run,
  field: ExpandFieldPlan,
  at: number,
  uids: UidSet,
): Promise<Expanded> {
  const names = await expandedNames(run, field, uids);
  const repeated = names.find((name) => field.beside.includes(name) && isAsked(run, field, name));
  if (repeated !== undefined) {
    throw queryFault(`Repeated subgraph: [${repeated}] while using expand()`);
  }
  return { at, fields: buildExpanded(run.reader.schema, field, names) };
}

/** Whether an expand() stands for a predicate, also where it prints nothing of it (a password, an edge without braces). */
function isAsked(run: Run, field: ExpandFieldPlan, name: string): boolean {
  const { schema } = run.reader;
  if (schema.access?.mayRead(name) === false) return false;
  if (field.filter === undefined) return true;
  return schema.predicate(name.replace(/^~/, ""))?.definition.kind === "uid";
}

async function expandedNames(
  run: Run,
  field: ExpandFieldPlan,
  uids: UidSet,
): Promise<readonly string[]> {
  switch (field.of.kind) {
    case "val":
      return distinctNames(
        valuesOf(run, field.of.variable).values.map((value) =>
          value.kind === "string" || value.kind === "default" ? value.text : "",
        ),
      );
    case "types":
      return namesOfTypes(run, field.of.names);
    case "all":
      return namesOfTypes(run, await typesOf(run, uids));
  }
}

/** Predicates of types, each once, in the order of the types' fields. */
function namesOfTypes(run: Run, types: readonly string[]): readonly string[] {
  return distinctNames(types.flatMap((type) => run.reader.schema.type(type)?.fields ?? []));
}

function distinctNames(names: readonly string[]): readonly string[] {
  return [...new Set(names)];
}

async function typesOf(run: Run, uids: UidSet): Promise<readonly string[]> {
  const predicate = run.reader.schema.predicate("dgraph.type");
  if (predicate === undefined) return [];
  const [column] = await run.reader.readLevel(uids, [{ kind: "cells", predicate: predicate.id }]);
  if (column?.kind !== "cells") return [];
  const types = new Set<string>();
  for (const cells of column.cells) for (const cell of cells ?? []) types.add(cell.text);
  return [...types];
}
