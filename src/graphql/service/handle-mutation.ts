/** Root fields of a mutation, one after another: behind one that failed none is run. */
import type { Reader } from "../../graph/reader.ts";
import type { RootField } from "../schema/compiled-schema.ts";
import type { RootOutcome } from "../resolve/answer.ts";
import type { RequestBudget } from "../../model/request-budget.ts";
import type { HandlerOptions } from "./handle-options.ts";
import type { MutationWork } from "./handle-prepare.ts";
import { closedMutation, skipped } from "./handle-refused.ts";
import { closedTo, untrusted } from "./handle-roots.ts";
import type { Trace } from "../resolve/trace.ts";
import type { LambdaCalls } from "../resolve/lambda-call.ts";
import { printResolverArguments, runLambdaRoot } from "../resolve/lambda-root.ts";
import type { LambdaRootDone } from "../resolve/lambda-root.ts";
import { readyRequestRoot, runRequestRoot } from "../resolve/request-root.ts";
import { runMutation } from "../resolve/mutation-root.ts";
import { rootFieldOf } from "../resolve/query-root.ts";
import type { SelectedField } from "../operation/prepare.ts";
import type { IdentifiedRequest } from "../operation/request.ts";

interface MutationPlace {
  readonly options: HandlerOptions;
  readonly request: IdentifiedRequest;
  readonly budget: RequestBudget;
  readonly trace: Trace;
  /** The one that the schema was found with. */
  readonly reader: Reader;
  readonly lambda: () => LambdaCalls;
}

/** One outcome for each root field, in their order: behind one that failed the others are skipped. */
export async function runMutations(
  work: MutationWork,
  { options, request, budget, trace, reader, lambda }: MutationPlace,
): Promise<readonly RootOutcome[]> {
  // The first transaction takes over the snapshot that the schema was found in: none is held beside the others.
  let given: Reader | undefined = reader;
  const { schema, run, caller } = work;
  const { namespace, principal } = request;
  const outcomes: RootOutcome[] = [];
  let hasFailed = false;
  for (const field of run.roots) {
    const root = rootFieldOf(schema, "mutation", field.definition);
    if (root === undefined) {
      const json = JSON.stringify("Mutation");
      outcomes.push({ field, errors: [], write: (out) => out.text(json) });
    } else if (hasFailed) {
      outcomes.push(skipped(field, run.locate));
    } else if (request.closed !== undefined) {
      outcomes.push(closedMutation(field, request.closed, run.locate));
      hasFailed = true;
    } else if (root.kind === "lambda" || root.kind === "custom") {
      reader.close();
      const resolver = trace.resolver(field, "Mutation");
      const done = await mutateElsewhere(root, field, work, lambda());
      resolver.end();
      outcomes.push(done.outcome);
      hasFailed = done.hasFailed;
    } else {
      const resolver = trace.resolver(field, "Mutation");
      try {
        const done = await runMutation({
          schema,
          options,
          budget,
          namespace,
          principal,
          root,
          field,
          run,
          caller,
          trace,
          resolver,
          lambda,
          given,
        });
        outcomes.push(done.outcome);
        hasFailed = done.hasFailed;
      } finally {
        resolver.end();
        given = undefined;
      }
    }
  }
  return outcomes;
}

/** By the lambda server, or by a service outside. */
async function mutateElsewhere(
  root: RootField,
  field: SelectedField,
  { schema, run, caller }: MutationWork,
  calls: LambdaCalls,
): Promise<LambdaRootDone> {
  const reason = closedTo(schema, caller);
  if (reason !== undefined) {
    return { outcome: untrusted({ kind: "untrusted", field, reason }), hasFailed: true };
  }
  const ready = readyRequestRoot(root, field, run.values);
  if (ready !== undefined) return runRequestRoot(field, ready, calls);
  return runLambdaRoot(field, printResolverArguments(root, field, run.values), calls);
}
