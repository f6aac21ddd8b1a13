/**
 * Stored values that a new schema could not answer with: two nodes with one value of a new `@id`, values that are none
 * of the field's new type, values that its enum does not have. Any update of a schema asks; `schema-plan.ts` tells all
 * that a change touches.
 */
import type { Reader } from "../../graph/reader.ts";
import type { Predicate } from "../../graph/schema.ts";
import type { CompiledSchema, NodeType, ValueSource } from "../schema/compiled-schema.ts";
import type { DataCheck } from "../schema/schema-difference.ts";
import { SchemaFault } from "../schema/schema-fault.ts";
import { findTouched, type Finding } from "./data-checks.ts";

interface FieldCheck {
  readonly type: NodeType;
  readonly check: DataCheck;
  readonly explain: (finding: Finding) => string;
}

/**
 * Throws SchemaFault, a problem for each field, where `next` could not answer with what the reader's namespace holds.
 * `before`: the schema that is served; undefined for none. Gives others their turn between slices.
 */
export async function checkStoredValues(
  next: CompiledSchema,
  before: CompiledSchema | undefined,
  reader: Reader,
): Promise<void> {
  const problems: string[] = [];
  for (const type of next.nodes) {
    const checks = listChecks(type, before, reader);
    if (checks.length === 0) continue;
    const asked = checks.map(({ check }) => check);
    const findings = await findTouched(reader, type.node.typeName, asked);
    findings.forEach((finding, i) => {
      if (finding.nodes > 0) problems.push(checks[i]?.explain(finding) ?? "");
    });
  }
  if (problems.length > 0) throw new SchemaFault(problems.map((line) => `input: ${line}`));
}

/** Of those fields whose predicates hold values already. */
function listChecks(
  type: NodeType,
  before: CompiledSchema | undefined,
  { schema }: Reader,
): readonly FieldCheck[] {
  return [...type.fields.values()].flatMap(({ name, source }) => {
    if (source.kind !== "value") return [];
    const predicate = schema.predicate(source.predicate);
    if (predicate === undefined || predicate.definition.kind === "uid") return [];
    const place = `Type ${type.name}; Field ${name}`;
    const checks: FieldCheck[] = [];
    if (mayMisfit(type, name, source, before)) {
      checks.push({
        type,
        check: { kind: "misfit", source },
        explain: (finding) => `${place}: ${explainMisfit(source, finding)}`,
      });
    }
    if (isNewKey(type, source, predicate)) {
      checks.push({
        type,
        check: { kind: "repeated", source },
        explain: ({ examples }) => `${place}: ${explainRepeated(examples)}`,
      });
    }
    return checks;
  });
}

/** Where a key is the whole interface's, its nodes are looked at once. */
function isNewKey(type: NodeType, { xid }: ValueSource, { definition }: Predicate): boolean {
  if (xid === undefined || definition.upsert) return false;
  return xid.isInterfaceWide === (type.kind === "interface");
}

/** Nodes of a type that inherits the field have the interface's type, too; an enum that has only grown fits. */
function mayMisfit(
  type: NodeType,
  name: string,
  { valueType }: ValueSource,
  before: CompiledSchema | undefined,
): boolean {
  if (type.kind === "object" && type.interfaces.some((one) => one.fields.has(name))) return false;
  if (valueType.kind !== "enum") return true;
  const old = before?.nodes.find((one) => one.name === type.name)?.fields.get(name)?.source;
  const oldType = old?.kind === "value" ? old.valueType : undefined;
  if (oldType?.kind !== "enum") return true;
  return [...oldType.values.keys()].some((one) => !valueType.values.has(one));
}

function explainMisfit(
  { predicate, valueType }: ValueSource,
  { nodes, examples }: Finding,
): string {
  const have = nodes === 1 ? "1 node has a value" : `${nodes} nodes have values`;
  const kind = valueType.kind === "enum" ? "enum" : "type";
  return (
    `${have} of ${predicate} that ${kind} ${valueType.name} does not have: ${examples.join(", ")}. ` +
    `Change them first, or store the field elsewhere with @dgraph(pred:).`
  );
}

function explainRepeated(examples: readonly string[]): string {
  return `@id needs values that no two nodes have, and these are stored at several: ${examples.join("; ")}. Change them first.`;
}
