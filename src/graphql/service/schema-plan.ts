/** What setting a schema would change of what is served and stored, with the nodes that each change touches. */
import { countWords } from "../../base/count-words.ts";
import type { Reader } from "../../graph/reader.ts";
import type { CompiledSchema } from "../schema/compiled-schema.ts";
import {
  findDifferences,
  type ChangeEffect,
  type DataCheck,
  type Difference,
} from "../schema/schema-difference.ts";
import { SchemaFault } from "../schema/schema-fault.ts";
import { findTouched, type Finding } from "./data-checks.ts";

interface PlannedChange {
  /** `required`, `field-removed`, … (docs/schema-changes.md). */
  readonly kind: string;
  readonly effect: ChangeEffect;
  readonly type: string;
  /** `dgraph.type` of its nodes. */
  readonly typeName: string;
  readonly field: string | undefined;
  readonly predicate: string | undefined;
  readonly text: string;
  readonly hint: string | undefined;
  /** How many stored nodes it touches. */
  readonly nodes: number;
  readonly examples: readonly string[];
}

export interface SchemaPlan {
  readonly changes: readonly PlannedChange[];
  /** How often the schema had been set when this was planned. */
  readonly updates: number;
  /** What is doubtful about it. */
  readonly warnings: readonly string[];
}

/** `before`: undefined where no schema was set. Gives others their turn between slices of nodes. */
export async function planSchema(
  next: CompiledSchema,
  before: CompiledSchema | undefined,
  reader: Reader,
): Promise<readonly PlannedChange[]> {
  const differences = findDifferences(next, before);
  const byType = new Map<string, { at: number; check: DataCheck }[]>();
  differences.forEach(({ typeName, check }, at) => {
    if (check === undefined) return;
    const known = byType.get(typeName);
    if (known === undefined) byType.set(typeName, [{ at, check }]);
    else known.push({ at, check });
  });
  const findings = new Map<number, Finding>();
  for (const [typeName, asked] of byType) {
    const found = await findTouched(
      reader,
      typeName,
      asked.map(({ check }) => check),
    );
    found.forEach((finding, i) => {
      const at = asked[i]?.at;
      if (at !== undefined) findings.set(at, finding);
    });
  }
  return differences.flatMap((difference, at) => tell(difference, findings.get(at)) ?? []);
}

function tell(difference: Difference, finding: Finding | undefined): PlannedChange | undefined {
  const { nodes, examples } = finding ?? { nodes: 0, examples: [] };
  const isTouched = difference.check === undefined || nodes > 0 || finding?.isGeneral === true;
  const effect = isTouched ? difference.effect : difference.unless;
  if (effect === undefined) return undefined;
  const { kind, type, typeName, field, predicate, text, calm, hint } = difference;
  return {
    kind,
    effect,
    type,
    typeName,
    field,
    predicate,
    text: isTouched ? text : (calm ?? text),
    hint: isTouched ? hint : undefined,
    nodes,
    examples,
  };
}

/** What `force` has to name for it: `Type.field`, or `Type`. */
function nameOf({ type, field }: PlannedChange): string {
  return field === undefined ? type : `${type}.${field}`;
}

/** Of what stored nodes lose by, unless it was named; what the store itself refuses, always. */
export function findRefused(
  changes: readonly PlannedChange[],
  force: readonly string[],
): readonly PlannedChange[] {
  return changes.filter((change) => {
    if (change.effect === "impossible") return true;
    const isLoss = change.effect === "breaks" || (change.effect === "removes" && change.nodes > 0);
    return isLoss && !force.includes(nameOf(change)) && !force.includes(change.type);
  });
}

/** Throws SchemaFault, a problem for each change that is refused; also where `force` names none. */
export function refuseChanges(changes: readonly PlannedChange[], force: readonly string[]): void {
  const names = new Set(changes.flatMap((change) => [nameOf(change), change.type]));
  const unknown = force.filter((name) => !names.has(name));
  const problems = [
    ...unknown.map((name) => `force names ${name}, of which nothing changes`),
    ...findRefused(changes, force).map(explainRefusal),
  ];
  if (problems.length > 0) throw new SchemaFault(problems);
}

function explainRefusal(change: PlannedChange): string {
  const { effect, text, hint, nodes, examples } = change;
  const touched = nodes === 0 ? "" : ` (${countWords(nodes, "nodes")}: ${examples.join("; ")})`;
  const way = hint === undefined ? "" : `; ${hint}`;
  const end = effect === "impossible" ? "" : `; or name it in force`;
  return `${nameOf(change)}: ${text}${touched}${way}${end}`;
}
