import type { VariablePlan } from "./plan.ts";
import type { Builder } from "./builder.ts";

/**
 * What the definition of a variable makes and where its keys stand. Names got their indexes in a first pass over the
 * document (uses may stand before definitions); this fills in the rest.
 */
export function defineVariable(
  builder: Builder,
  name: string | undefined,
  kind: VariablePlan["kind"],
  level: number,
): number | undefined {
  if (name === undefined) return undefined;
  const index = builder.variableByName.get(name);
  if (index === undefined) return undefined;
  builder.variables[index] = { name, kind, block: builder.block, level };
  return index;
}

/** Gives a variable its index; the rest is filled in when its definition is built. */
export function announceVariable(builder: Builder, name: string, block: number): void {
  if (builder.variableByName.has(name)) return;
  builder.variableByName.set(name, builder.variables.length);
  builder.variables.push({ name, kind: "value", block, level: -1 });
}
