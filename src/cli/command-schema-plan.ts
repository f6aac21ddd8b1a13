/** `weft schema plan`, `apply`: what a schema would change on a server, and the change. */
import { countWords } from "../base/count-words.ts";
import { Fault } from "../model/fault.ts";
import { fillConstant } from "./backfill.ts";
import { say } from "./log.ts";
import { readSdlText } from "./schema-files.ts";
import { SchemaClient, type ToldChange, type ToldPlan } from "./schema-client.ts";
import type { SchemaApplyOptions, SchemaPlanOptions } from "./schema-commands.ts";

/** Exit code of a plan that `apply` would refuse. */
const refusedCode = 2;

export async function runSchemaPlan(file: string, options: SchemaPlanOptions): Promise<void> {
  const plan = await new SchemaClient(options).plan(readSdlText(file));
  if (options.json) process.stdout.write(`${JSON.stringify(plan)}\n`);
  else process.stdout.write(printSchemaPlan(plan));
  for (const warning of plan.warnings) say(`warning: ${warning}`);
  if (plan.changes.some((change) => isRefused(change))) process.exitCode = refusedCode;
}

export async function runSchemaApply(file: string, options: SchemaApplyOptions): Promise<void> {
  const client = new SchemaClient(options);
  const sdl = readSdlText(file);
  let plan = await client.plan(sdl);
  const backfills = options.backfill.map(parseBackfill);
  for (const { name, value } of backfills) {
    const change = plan.changes.find(
      (one) => nameOfChange(one) === name && one.kind === "required",
    );
    if (
      change?.predicate === undefined ||
      change.predicate === null ||
      change.effect !== "breaks"
    ) {
      say(`${name}: no node lacks a value`);
      continue;
    }
    const { typeName, predicate, nodes } = change;
    await fillConstant(client.client, `backfill ${name}`, { typeName, predicate, value, nodes });
  }
  if (backfills.length > 0) plan = await client.plan(sdl);
  const force = plan.changes.length === 0 ? [] : options.force;
  process.stdout.write(printSchemaPlan(plan, force));
  const { warnings } = await client.apply(sdl, force, plan.updates);
  for (const warning of warnings) say(`warning: ${warning}`);
  say("the schema is set");
}

function parseBackfill(text: string): { readonly name: string; readonly value: string } {
  const at = text.indexOf("=");
  const name = text.slice(0, at);
  if (at < 0 || !/^\w+\.\w+$/.test(name)) {
    throw new Fault("E_USAGE", `--backfill "${text}" is not of the form Type.field=VALUE`);
  }
  return { name, value: text.slice(at + 1) };
}

export function nameOfChange({ type, field }: ToldChange): string {
  return field === null ? type : `${type}.${field}`;
}

/** Whether `apply` refuses it, unless it is forced. */
export function isRefused({ effect, nodes }: ToldChange): boolean {
  return effect === "impossible" || effect === "breaks" || (effect === "removes" && nodes > 0);
}

const effects = ["impossible", "breaks", "removes", "changes", "index", "safe"] as const;

/** The worst first. `force`: the names of losses that are meant. */
export function printSchemaPlan({ changes }: ToldPlan, force: readonly string[] = []): string {
  if (changes.length === 0) return "nothing changes\n";
  const sorted = effects.flatMap((effect) => changes.filter((one) => one.effect === effect));
  const width = Math.max(...sorted.map((change) => nameOfChange(change).length));
  const lines = sorted.flatMap((change) => {
    const { effect, nodes, examples, text, hint } = change;
    const shown = examples.length === 0 ? "" : `: ${examples.join("; ")}`;
    const touched = nodes === 0 ? "" : ` (${countWords(nodes, "nodes")}${shown})`;
    const head = `${effect.padEnd(10)}  ${nameOfChange(change).padEnd(width)}  `;
    const line = `${head}${text}${touched}`;
    return hint === null ? [line] : [line, `${" ".repeat(head.length)}${hint}`];
  });
  const isMeant = (change: ToldChange): boolean =>
    change.effect !== "impossible" &&
    (force.includes(nameOfChange(change)) || force.includes(change.type));
  const losses = sorted.filter(isRefused);
  const refused = losses.filter((change) => !isMeant(change)).length;
  const forced = losses.length - refused;
  const end =
    refused > 0
      ? `${refused} of ${changes.length} would be refused: mend them, or name them with --force`
      : `it can be applied${forced === 0 ? "" : `, ${forced} of ${changes.length} by --force`}`;
  return `${lines.join("\n")}\n${end}\n`;
}
