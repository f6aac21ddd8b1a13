/** Headers of an answer. */
import type { RequestValues } from "../operation/arguments.ts";
import type { OperationRun } from "../operation/cache.ts";
import { scalarText } from "../operation/variables.ts";

/** What was touched, and `@cacheControl(maxAge: N)` on queries. */
export function headersOf(run: OperationRun, touched: number | undefined): Record<string, string> {
  const headers: Record<string, string> = {};
  if (touched !== undefined) headers["Graphql-TouchedUids"] = String(touched);
  if (run.node.operation !== "query") return headers;
  const directive = run.node.directives?.find((given) => given.name.value === "cacheControl");
  const value = directive?.arguments?.find((argument) => argument.name.value === "maxAge")?.value;
  if (value === undefined) return headers;
  const age =
    value.kind === "Variable"
      ? run.values.variables[value.name.value]
      : literalText(value, run.values);
  headers["Cache-Control"] = `public,max-age=${age === undefined ? "" : scalarText(age)}`;
  headers["Vary"] = "Accept-Encoding";
  return headers;
}

function literalText(
  value: Parameters<RequestValues["literalIndex"]["get"]>[0],
  values: RequestValues,
): string {
  const index = values.literalIndex.get(value);
  if (index !== undefined) return values.literals[index] ?? "";
  return value.kind === "IntValue" ? value.value : "";
}
