/**
 * `@lambda`, and `@custom(http:)` (request-fields.ts), on fields of types and interfaces: after a run, and before its answer is written, each field of a level is
 * asked once for all its parents, all fields at the same time (reference/graphql 7.2).
 */
import type { BlockResult } from "../../exec/frame.ts";
import { fieldCallBody } from "../../lambda/wire.ts";
import { Fault } from "../../model/fault.ts";
import type { CompletionError } from "../../render/graphql-json.ts";
import { findLambdaSites, printParents } from "../../render/graphql-lambda.ts";
import type { LambdaSite } from "../../render/graphql-lambda.ts";
import type {
  LambdaShape,
  LambdaValue,
  LambdaValues,
  ObjectShape,
} from "../../render/graphql-shape.ts";
import type { ResponseError } from "../operation/errors.ts";
import { evaluationFailed } from "./evaluation-failed.ts";
import { callLambda, failureErrors, readPartial } from "./lambda-call.ts";
import type { LambdaCalls, LambdaResult, SolvedSite } from "./lambda-call.ts";
import { completeField } from "./lambda-complete.ts";
import { selectedLambda } from "./lower-selection.ts";
import { resolveRequestSite } from "./request-fields.ts";
import { isJsonArray } from "../operation/json.ts";

export interface LambdaOutcome {
  readonly values: LambdaValues;
  readonly errors: readonly ResponseError[];
}

/** Every field of a block that is computed elsewhere. `root` is the response name that errors carry as their path. */
export async function resolveLambdaFields(
  block: BlockResult,
  shape: ObjectShape,
  root: string,
  calls: LambdaCalls,
): Promise<LambdaOutcome> {
  const sites = findLambdaSites(block, shape);
  const solved = await Promise.all(sites.map((site) => resolveSite(site, root, calls)));
  const values = new Map<LambdaShape, readonly LambdaValue[]>();
  const errors: ResponseError[] = [];
  sites.forEach((site, i) => {
    const one = solved[i];
    if (one === undefined) return;
    values.set(site.shape, one.values);
    errors.push(...one.errors);
  });
  return { values, errors };
}

async function resolveSite(
  site: LambdaSite,
  root: string,
  calls: LambdaCalls,
): Promise<SolvedSite> {
  const field = selectedLambda(site.shape);
  if (field.definition.source.kind === "request") {
    return resolveRequestSite(site, field, root, calls);
  }
  const path = [root];
  const resolver = `${field.parent.name}.${field.definition.name}`;
  const parents = tryParents(site, calls.bytesMax);
  const result: LambdaResult =
    parents instanceof Fault
      ? { ok: false, reason: parents.message }
      : await callLambda(calls, fieldCallBody(resolver, parents, calls.caller));
  if (!result.ok) {
    return { values: [], errors: failureErrors(result, field, path, calls.locate) };
  }
  const partial = readPartial(result.value);
  const elements = partial?.data ?? result.value;
  const refuse = (reason: string): SolvedSite => ({
    values: [],
    errors: failureErrors({ ok: false, reason }, field, path, calls.locate),
  });
  if (!isJsonArray(elements)) {
    return refuse("expected result of external BATCH request to be of list type, got: ");
  }
  if (elements.length !== site.rows.length) {
    return refuse(
      `expected result of external request to be of size ${site.rows.length}, got: ${elements.length}`,
    );
  }
  const values: LambdaValue[] = [];
  const faults: CompletionError[] = [];
  site.rows.forEach((row, i) => {
    const failure = partial?.failures.get(i);
    values[row] =
      failure === undefined
        ? completeField(field, elements[i], path, faults)
        : { message: evaluationFailed(field, failure.reason), ...failure.told };
  });
  const errors: ResponseError[] = faults.map((fault) => ({
    message: fault.message,
    locations: [calls.locate(fault.place)],
    path: fault.path,
  }));
  if (partial !== undefined && partial.more > 0) {
    const message = `${resolver} failed for ${partial.more} more parents`;
    errors.push({ message, locations: [calls.locate(field.ordinal)], path });
  }
  return { values, errors };
}

/** Too many of them fail their field alone: a mutation that was answered with them stands. */
function tryParents(site: LambdaSite, bytesMax: number): string | Fault {
  try {
    return printParents(site, bytesMax);
  } catch (error) {
    if (error instanceof Fault) return error;
    throw error;
  }
}
