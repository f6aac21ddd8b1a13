/** POST /admin/schema, its check, and /assign (reference/graphql 10.1, reference/dql 1.8, 1.9). */
import { explainRefusal, findFieldRefusal } from "../admin/interface.ts";
import { must } from "../base/assert.ts";
import type { LeaseKind } from "../engine/leases.ts";
import { SchemaFault } from "../graphql/schema/schema-fault.ts";
import { findSchemaProblems } from "../graphql/service/schema-compile.ts";
import { Fault } from "../model/fault.ts";
import { acceptEncodingOf } from "./database-routes.ts";
import { doneBody } from "./envelope.ts";
import { type Exchange, readBytes, readParameters } from "./exchange.ts";
import { judge } from "./gate.ts";
import { replyOf } from "../model/fault-table.ts";
import { makeErrorBody, quoteJsonForHtml, refuseMethod, sendError, sendJson } from "./reply.ts";
import { schemaRight } from "./rights.ts";
import { checkSuperadmin, identify } from "./sender.ts";

/** The reference runs this body as a mutation of its own text, whose place it then tells. */
const place = " (Locations: [{Line: 3, Column: 4}])";

export async function answerAdminSchema(exchange: Exchange): Promise<void> {
  const { context, res } = exchange;
  const sdl = (await readBytes(exchange, "text")).toString();
  try {
    const principal = await identify(exchange);
    const asking = { principal, acl: context.acl !== undefined };
    const refusal = findFieldRefusal("Mutation.updateGQLSchema", asking);
    if (refusal !== undefined) throw refusal;
    const { warnings } = await context.graphql.updateSchema(principal.namespace, sdl);
    const body = withWarnings(doneBody, warnings);
    sendJson(res, body, [], acceptEncodingOf(exchange));
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    const problems = error instanceof SchemaFault ? error.problems : [error.message];
    const message = problems
      .map((problem) => `resolving updateGQLSchema failed because ${problem}${place}`)
      .join("\n");
    const plain = makeErrorBody(message, "Error", false);
    const isDetailed = context.graphqlErrorDetails === true && error.code === "E_GRAPHQL_SCHEMA";
    const body = isDetailed ? withProblems(plain, sdl) : plain;
    sendError(res, { ...replyOf(error.code), body });
  }
}

const problemsMax = 200;

/** The message is the reference's, which tells one fault without its column: beside it stand all, with their places. */
function withProblems(body: string, sdl: string): string {
  const problems = findSchemaProblems(sdl).slice(0, problemsMax);
  if (problems.length === 0) return body;
  const told = problems.map(({ message, at }) => {
    const where = at === undefined ? "" : `,"line":${at.line},"column":${at.column}`;
    return `{"message":${quoteJsonForHtml(message)}${where}}`;
  });
  return `${body.slice(0, -"}}]}".length)},"problems":[${told.join(",")}]}}]}`;
}

/** Beside the answer that the reference gives, where there is something to say. */
function withWarnings(body: string, warnings: readonly string[]): string {
  if (warnings.length === 0) return body;
  return `${body.slice(0, -1)},"extensions":{"warnings":[${warnings.map(quoteJsonForHtml).join(",")}]}}`;
}

/** Whoever may use data may have a schema checked: who may not set one makes the server ask nobody. */
async function maySetSchema(exchange: Exchange): Promise<boolean> {
  const { req, context } = exchange;
  if ((await judge(schemaRight, req, context)) !== undefined) return false;
  try {
    const asking = { principal: await identify(exchange), acl: context.acl !== undefined };
    return findFieldRefusal("Mutation.updateGQLSchema", asking) === undefined;
  } catch (error) {
    if (error instanceof Fault) return false;
    throw error;
  }
}

/** Success is told in `errors`, as the reference does. */
export async function answerSchemaCheck(exchange: Exchange): Promise<void> {
  const { context, res } = exchange;
  const sdl = (await readBytes(exchange, "text")).toString();
  const asksOthers = await maySetSchema(exchange);
  const { problems, warnings } = await context.graphql.validateSchema(sdl, asksOthers);
  if (problems.length === 0) {
    const body = withWarnings(makeErrorBody("Schema is valid", "success", false), warnings);
    sendJson(res, body, [], undefined);
    return;
  }
  const errors = problems.map(
    (message) =>
      `{"message":${quoteJsonForHtml(message)},"extensions":{"code":"ErrorInvalidRequest"}}`,
  );
  sendError(res, { status: 400, body: `{"errors":[${errors.join(",")}]}`, headers: [] });
}

const assignKinds: Readonly<Record<string, LeaseKind>> = {
  uids: "uids",
  timestamps: "timestamps",
  nsids: "namespaces",
};

/** More would only burn numbers: uids end at 2^53. */
const leaseCountMax = 2 ** 40;

export async function answerAssign(exchange: Exchange): Promise<void> {
  const { context, req, res } = exchange;
  if (req.method !== "POST") return refuseMethod(res);
  const wrong = findAssignFault(readParameters(exchange));
  if (wrong !== undefined) {
    const body = makeErrorBody(wrong.message, wrong.code, false);
    sendError(res, { status: wrong.status, body, headers: [] });
    return;
  }
  const params = readParameters(exchange);
  const count = Number(params.get("num"));
  const what = params.get("what") ?? "";
  const kind = must(assignKinds[what], "other kinds are refused above");
  await checkLeaseRight(exchange, kind, count);
  const first = await context.engine.lease(kind, count);
  const last = first + count - 1;
  sendJson(res, `{"startId":"${first}","endId":"${last}","readOnly":"0"}`, [], undefined);
}

/** A mutation of a guardian may name as many new nodes, so loads into its namespace lease no more than they may anyway. */
const guardianLeaseMax = 1_000_000;

async function checkLeaseRight(exchange: Exchange, kind: LeaseKind, count: number): Promise<void> {
  const asking = { principal: await identify(exchange), acl: exchange.context.acl !== undefined };
  const isLoad = kind === "uids" && count <= guardianLeaseMax;
  if (isLoad && explainRefusal("guardian", asking) === undefined) return;
  await checkSuperadmin(exchange);
}

interface AssignFault {
  readonly status: number;
  readonly message: string;
  readonly code: string;
}

function findAssignFault(params: URLSearchParams): AssignFault | undefined {
  const code = "ErrorInvalidRequest";
  const num = params.get("num") ?? "";
  if (num === "") return { status: 400, message: "num not passed", code };
  if (!/^\d+$/.test(num) || Number(num) > leaseCountMax) {
    return { status: 400, message: "Error while parsing num", code };
  }
  const what = params.get("what") ?? "";
  if (!Object.hasOwn(assignKinds, what)) {
    const message = `Invalid what: [${what}]. Must be one of: [uids, timestamps, nsids]`;
    return { status: 200, message, code };
  }
  return Number(num) === 0 ? { status: 200, message: "Nothing to be leased", code } : undefined;
}
