/**
 * One root mutation (reference/graphql 5.1): look up, write, read the answer, all in one transaction; then commit. What
 * goes wrong becomes the field's errors, with the place of the stage in their words.
 */
import type { Engine, ManagedTransaction, TransactResult } from "../../engine/engine.ts";
import type { Reader } from "../../graph/reader.ts";
import { Fault } from "../../model/fault.ts";
import { anyPrincipal, type Principal } from "../../model/principal.ts";
import type { CompiledSchema, NodeType, RootField } from "../schema/compiled-schema.ts";
import { assert } from "../../base/assert.ts";
import type { Caller } from "./caller.ts";
import { commitFailed, mutationFailed } from "../operation/errors.ts";
import type { ResponseError } from "../operation/errors.ts";
import type { RootOutcome } from "./answer.ts";
import { explainNodes, type TellRefusal } from "./refusals.ts";
import type { ResolverClock, Trace } from "./trace.ts";
import type { LambdaCalls } from "./lambda-call.ts";
import type { RequestBudget } from "../../model/request-budget.ts";
import { runContextOf, type RunSettings } from "./lower-run.ts";
import { runAdd } from "./mutation-add.ts";
import { runDelete } from "./mutation-delete.ts";
import {
  readPayload,
  resolvePayloadLambda,
  writeLargeLists,
  writePayload,
} from "./mutation-payload.ts";
import type { Payload } from "./mutation-payload.ts";
import { findWrongDate } from "./mutation-dates.ts";
import { deletionRulesOf } from "./mutation-referrers.ts";
import { MutationRefused } from "./mutation-refused.ts";
import type { ProblemDetail } from "./mutation-refused.ts";
import type { Webhooks } from "./webhook.ts";
import { WriteFailed } from "./mutation-stage.ts";
import type { MutationEffect, MutationStage } from "./mutation-stage.ts";
import { runUpdate } from "./mutation-update.ts";
import { namedTypeOf } from "../operation/walk.ts";
import { evaluateArguments } from "../operation/arguments.ts";
import type { ArgumentObject } from "../operation/arguments.ts";
import type { OperationRun } from "../operation/cache.ts";
import type { SelectedField } from "../operation/prepare.ts";

/** What all mutations of a process share. */
interface MutationOptions extends RunSettings {
  readonly engine: Engine;
  /** Errors tell what is otherwise kept back. */
  readonly debug: boolean;
  /** Errors say in `extensions` what is wrong, and where in the input. */
  readonly errorDetails: boolean;
  /** undefined: there is no lambda server to tell. */
  readonly webhooks?: Webhooks | undefined;
  /** For who develops the schema. */
  readonly tellRefusal?: TellRefusal | undefined;
}

interface MutationRequest {
  readonly schema: CompiledSchema;
  readonly options: MutationOptions;
  readonly budget: RequestBudget;
  readonly namespace: number;
  readonly principal: Principal | undefined;
  readonly root: RootField;
  readonly field: SelectedField;
  readonly run: OperationRun;
  readonly caller: Caller;
  readonly trace: Trace;
  readonly resolver: ResolverClock;
  readonly lambda: () => LambdaCalls;
  /** A reader that is given away: its snapshot serves the transaction. */
  readonly given: Reader | undefined;
}

interface MutationDone {
  readonly outcome: RootOutcome;
  readonly hasFailed: boolean;
}

/** Never throws for what the sender did: it is in the outcome. */
export async function runMutation(request: MutationRequest): Promise<MutationDone> {
  const { field, root, run } = request;
  const type = root.of;
  assert(type !== undefined, "a generated mutation has a type");
  if (request.caller.refusal !== undefined) return refusedByToken(request, request.caller.refusal);
  const values = evaluateArguments(field.node.arguments ?? [], root.arguments, run.values);
  try {
    const { value: written, commitTs } = await transactAs(request, (txn) =>
      transactOnce(request, type, values, txn),
    );
    tellWebhook(request, commitTs, written.effect.uids);
    const resolved = await resolvePayloadLambda(written, field, request.lambda);
    const value = await writeLargeLists(
      resolved,
      field,
      runContextOf(request.options, request.budget),
    );
    const outcome: RootOutcome = {
      field,
      errors: value.errors,
      write: (out, errors) => writePayload(out, value, field, errors),
    };
    return { outcome, hasFailed: false };
  } catch (error) {
    return { outcome: failedOutcome(request, error), hasFailed: true };
  }
}

/** After the commit; nobody waits for what becomes of it. */
function tellWebhook(
  { options, schema, namespace, root, field, run, lambda }: MutationRequest,
  commitTs: number,
  uids: readonly number[],
): void {
  if (root.of?.node.watched === undefined) return;
  const { caller } = lambda();
  const hasAuthorization = schema.meta.authorization !== undefined;
  const { values } = run;
  const event = { namespace, caller, hasAuthorization, root, field, values, commitTs, uids };
  options.webhooks?.tell(event);
}

/** Who is not believed is told in the words of the write. */
async function transactAs<T>(
  { options, namespace, principal, given, budget }: MutationRequest,
  work: (txn: ManagedTransaction) => Promise<T>,
): Promise<TransactResult<T>> {
  try {
    // Without ACL a client is a client all the same: only the server itself writes without a visitor.
    return await options.engine.transact(namespace, work, principal ?? anyPrincipal, given, budget);
  } catch (error) {
    if (error instanceof Fault && error.code === "E_PERMISSION") throw new WriteFailed(error);
    throw error;
  }
}

/** May run several times: nothing outside of the transaction is changed. */
async function transactOnce(
  request: MutationRequest,
  type: NodeType,
  values: ArgumentObject,
  txn: ManagedTransaction,
): Promise<Payload> {
  const { field, root, run, resolver, trace, budget } = request;
  const { clock, limits, scheduler } = request.options;
  const touch = (count: number): void => {
    trace.touchedUids += count;
  };
  const { guard } = request.caller;
  const stage: MutationStage = {
    budget,
    clock,
    limits,
    scheduler,
    type,
    values,
    txn,
    guard,
    touch,
  };
  const read = async (effect: MutationEffect): Promise<Payload> => {
    const end = resolver.step("query");
    try {
      return await readPayload(stage, field, run, effect);
    } finally {
      end();
    }
  };
  const steps = {
    lookup: () => resolver.step("preMutationQuery"),
    write: () => resolver.step("mutation"),
  };
  if (root.kind === "delete") {
    return runDelete(stage, deletionRulesOf(request.schema), steps, read);
  }
  const effect = root.kind === "add" ? await runAdd(stage, steps) : await runUpdate(stage, steps);
  return read(effect);
}

const authorizationFailed = "mutation failed because authorization failed";

/** The caller is not who it says it is, or does not say it. */
function refusedByToken(request: MutationRequest, reason: string): MutationDone {
  const { field, root, run } = request;
  const path = [field.key];
  const error =
    root.kind === "add"
      ? {
          message: `${authorizationFailed} because ${reason}`,
          locations: [run.locate(field.ordinal)],
          path,
        }
      : { message: `couldn't rewrite mutation ${root.name} because ${reason}`, path };
  const write: RootOutcome["write"] = (out) => out.ascii("null");
  return { outcome: { field, errors: [error], write }, hasFailed: true };
}

function failedOutcome(request: MutationRequest, error: unknown): RootOutcome {
  const { field, run } = request;
  const path = [field.key];
  const place = { locations: [run.locate(field.ordinal)], path };
  return {
    field,
    errors: errorsOf(request, error, place, path),
    write: (out) => out.ascii("null"),
  };
}

function errorsOf(
  request: MutationRequest,
  error: unknown,
  place: Pick<ResponseError, "locations" | "path">,
  path: readonly string[],
): readonly ResponseError[] {
  const { name } = request.root;
  const { debug, errorDetails } = request.options;
  const withDetail = (detail: ProblemDetail): Pick<ResponseError, "extensions"> =>
    errorDetails ? { extensions: detail } : {};
  if (error instanceof MutationRefused) {
    const { stage, problems, nodes } = error;
    if (stage === "authorization") {
      const { options, schema, caller } = request;
      if (nodes !== undefined) options.tellRefusal?.(explainNodes(schema, caller, nodes));
      // What is kept back of hidden nodes has no detail.
      const detail = problems.find((problem) => problem.detail)?.detail;
      const untold = problems.filter((problem) => problem.detail === undefined);
      const reasons = debug ? untold.map(({ text }) => `GraphQL debug: ${text}`) : [];
      const message = [authorizationFailed, ...reasons].join(": ");
      return [{ message, ...place, ...withDetail(detail ?? { code: "FORBIDDEN" }) }];
    }
    return problems.map(({ text, detail = { code: "BAD_USER_INPUT" } }) =>
      stage === "failed"
        ? { message: `mutation ${name} failed because ${text}`, ...place, ...withDetail(detail) }
        : {
            message: `couldn't rewrite mutation ${name} because failed to rewrite mutation payload because ${text}`,
            path,
            ...withDetail(detail),
          },
    );
  }
  if (error instanceof WriteFailed) {
    const detail = errorDetails ? findWrongValue(request) : undefined;
    const extensions = detail === undefined ? {} : withDetail(detail);
    return [{ message: mutationFailed(name, error.fault), ...place, ...extensions }];
  }
  return [{ message: commitFailed(error), ...place }];
}

/** The value of the input that the engine refuses: dates, which it alone reads. */
function findWrongValue({ root, field, run }: MutationRequest): ProblemDetail | undefined {
  const values = evaluateArguments(field.node.arguments ?? [], root.arguments, run.values);
  for (const argument of root.arguments.values()) {
    const found = findWrongDate(namedTypeOf(argument.type), values[argument.name], [argument.name]);
    if (found !== undefined) return found;
  }
  return undefined;
}
