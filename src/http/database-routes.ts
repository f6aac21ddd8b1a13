/**
 * POST /query, /mutate, /commit, /alter: bodies and parameters in, one call of the engine, its answer out
 * (reference/dql 1.3–1.6).
 */
import type { Buffer } from "node:buffer";
import type { AlterOperation } from "../engine/engine.ts";
import { Fault } from "../model/fault.ts";
import { parseAlterBody } from "./alter-body.ts";
import {
  abortBody,
  countTouched,
  doneBody,
  encodeCommitAnswer,
  encodeMutateAnswer,
  encodeQueryAnswer,
} from "./envelope.ts";
import { explainNamespaceRefusal } from "../admin/interface.ts";
import { notesOf } from "./audit.ts";
import { checkHash, hashOf, identify, noteSender } from "./sender.ts";
import { type Exchange, openBudget, readBytes, readParameters } from "./exchange.ts";
import {
  expectObject,
  expectStrings,
  findJsonMember,
  parseJsonBody,
  parseJsonPlain,
  refuseJsonPlace,
} from "./json-body.ts";
import {
  type MediaType,
  parseBoolParameter,
  parseMediaType,
  parseExplainOptions,
  parseTimeout,
  parseUint,
} from "./parameters.ts";
import {
  beginAnswer,
  engineShape,
  makeErrorBody,
  makeErrorReply,
  sendError,
  sendJson,
} from "./reply.ts";

const queryTypes = "application/json, application/graphql+-,application/dql";
const mutateTypes = "application/json, application/rdf";

export async function answerQuery(exchange: Exchange): Promise<void> {
  const { context, req, res } = exchange;
  const params = readParameters(exchange);
  const debug = parseBoolParameter(params, "debug");
  const timeoutMs = parseTimeout(params);
  const budget = openBudget(exchange, timeoutMs);
  const startTs = parseUint(params, "startTs");
  const body = (await readBytes(exchange, "text")).toString();
  const media = parseMediaType(req.headers["content-type"]);
  const isText = media.type === "application/dql" || media.type === "application/graphql+-";
  if (!checkMedia(exchange, media, isText || media.type === "application/json", queryTypes)) return;
  const { text, variables } = isText
    ? { text: body, variables: noVariables }
    : parseQueryBody(body);
  // A transaction's reads are what they are: beside a start time neither is looked at.
  const isBestEffort = startTs === 0 && parseBoolParameter(params, "be");
  const isReadOnly = startTs === 0 && parseBoolParameter(params, "ro");
  const format = parseFormat(params.get("respFormat") ?? "");
  const plan = parseExplainOptions(params);
  exchange.watched.text = text;
  try {
    checkBegin(text, timeoutMs);
    const known = identify(exchange);
    const principal = known instanceof Promise ? await known : known;
    noteSender(exchange, principal);
    checkHash(exchange, startTs, principal, params.get("hash"));
    const answer = await context.engine.query({
      namespace: principal.namespace,
      principal,
      text,
      variables,
      startTs,
      readOnly: isReadOnly || isBestEffort,
      bestEffort: isBestEffort,
      debug,
      format,
      timeoutMs,
      budget,
      plan,
    });
    const touched = countTouched(answer.numUids);
    const headers = ["Dgraph-TouchedUids", String(touched)];
    sendJson(
      res,
      encodeQueryAnswer(answer, {
        touched,
        question: plan?.kind,
        hash: hashOf(exchange, answer.startTs, principal),
      }),
      headers,
      acceptEncodingOf(exchange),
    );
  } catch (error) {
    sendError(res, makeErrorReply(error, engineShape, context.logger));
  }
}

const noVariables: ReadonlyMap<string, string> = new Map();

function parseQueryBody(body: string): { text: string; variables: ReadonlyMap<string, string> } {
  const value = parseJsonBody(body);
  if (value === null) return { text: "", variables: noVariables };
  if (typeof value !== "object" || Array.isArray(value)) throw refuseQueryBody(body);
  const members = new Map(Object.entries(value));
  const text = findJsonMember(members, "query") ?? "";
  if (typeof text !== "string") throw refuseQueryBody(body);
  const given = findJsonMember(members, "variables");
  if (given === undefined) return { text, variables: noVariables };
  if (typeof given !== "object" || given === null || Array.isArray(given)) {
    throw refuseQueryBody(body);
  }
  const variables = new Map<string, string>();
  for (const [name, value] of Object.entries(given as Record<string, unknown>)) {
    if (value === null) continue;
    if (typeof value !== "string") throw refuseQueryBody(body);
    variables.set(name, value);
  }
  return { text, variables };
}

const queryShape =
  'struct { Query string "json:\\"query\\""; Variables map[string]string "json:\\"variables\\"" }';

/** The first value of another kind than its place asks for. */
function refuseQueryBody(body: string): Fault {
  return refuseJsonPlace(body, ([member, name]) => {
    if (member === undefined) return { kind: "object", place: `value of type ${queryShape}` };
    const field = member.toLowerCase();
    if (field === "query" && name === undefined) {
      return { kind: "string", place: "struct field .query of type string" };
    }
    if (field !== "variables") return undefined;
    return name === undefined
      ? { kind: "object", place: "struct field .variables of type map[string]string" }
      : { kind: "string", place: "struct field .variables of type string" };
  });
}

function parseFormat(text: string): "json" | "rdf" {
  if (text === "" || text === "json") return "json";
  if (text === "rdf") return "rdf";
  throw new Fault("E_PARAMETER", `invalid value [${text}] for parameter respFormat`);
}

/** What the reference refuses before it looks at the text: without the prefix of the engine's own faults. */
function checkBegin(text: string, timeoutMs: number): void {
  if (timeoutMs < 0) throw new Fault("E_TXN", "context deadline exceeded");
  if (text.trim() === "") throw new Fault("E_TXN", "empty request");
}

/**
 * False when the content type was refused and answered. One that cannot be read is answered twice, as the reference
 * does: with `Invalid Content-Type`, and with what becomes of the request by the type that stands before its fault.
 */
function checkMedia(
  exchange: Exchange,
  media: MediaType,
  isKnown: boolean,
  supported: string,
): boolean {
  const code = "ErrorInvalidRequest";
  if (media.fault === undefined && media.charset !== undefined) {
    if (media.charset.toLowerCase() !== "utf-8") {
      throw new Fault("E_CHARSET", "Unsupported charset. Supported charset is UTF-8");
    }
  }
  if (media.fault !== undefined) {
    beginAnswer(exchange.res, makeErrorBody("Invalid Content-Type", code, false));
  }
  if (isKnown) return true;
  const message = `Unsupported Content-Type. Supported content types are ${supported}`;
  const body = makeErrorBody(message, code, false);
  sendError(exchange.res, { status: 200, body, headers: [] });
  return false;
}

export async function answerMutate(exchange: Exchange): Promise<void> {
  const { context, req, res } = exchange;
  const params = readParameters(exchange);
  const timeoutMs = parseTimeout(params);
  const budget = openBudget(exchange, timeoutMs);
  const commitNow = parseBoolParameter(params, "commitNow");
  const startTs = parseUint(params, "startTs");
  const body = await readBytes(exchange, "data");
  const media = parseMediaType(req.headers["content-type"]);
  const isJson = media.type === "application/json";
  if (!checkMedia(exchange, media, isJson || media.type === "application/rdf", mutateTypes)) return;
  try {
    const text = body.toString();
    exchange.watched.text = text;
    if (!isJson) checkBegin(text, 0);
    if (context.rules.disallowMutations) throw new Fault("E_TXN", "no mutations allowed");
    const known = identify(exchange);
    const principal = known instanceof Promise ? await known : known;
    noteSender(exchange, principal);
    checkHash(exchange, startTs, principal, params.get("hash"));
    const answer = await context.engine.mutate({
      namespace: principal.namespace,
      principal,
      body: { kind: isJson ? "json" : "rdf", text },
      startTs,
      commitNow,
      timeoutMs,
      budget,
    });
    const headers = ["Dgraph-TouchedUids", String(countTouched(answer.numUids))];
    const hash = hashOf(exchange, answer.startTs, principal);
    sendJson(res, encodeMutateAnswer(answer, hash), headers, acceptEncodingOf(exchange));
  } catch (error) {
    sendError(res, makeErrorReply(error, engineShape, context.logger));
  }
}

export async function answerCommit(exchange: Exchange): Promise<void> {
  const { context, res } = exchange;
  const params = readParameters(exchange);
  const startTs = parseUint(params, "startTs");
  if (startTs === 0) {
    throw new Fault("E_PARAMETER", "startTs parameter is mandatory while trying to commit");
  }
  const abort = parseBoolParameter(params, "abort");
  const body = await readBytes(exchange, "data");
  const principal = await identify(exchange);
  noteSender(exchange, principal);
  if (principal.refusal !== undefined) {
    throw new Fault("E_TOKEN", explainNamespaceRefusal(principal));
  }
  checkHash(exchange, startTs, principal, params.get("hash"));
  const { keys, preds } = abort ? nothingGiven : parseCommitBody(body);
  const { namespace } = principal;
  const answer = await context.engine.commit({ namespace, startTs, abort, keys, preds });
  sendJson(res, abort ? abortBody : encodeCommitAnswer(answer), [], acceptEncodingOf(exchange));
}

interface CommitBody {
  readonly keys: readonly string[] | undefined;
  readonly preds: readonly string[];
}

const nothingGiven: CommitBody = { keys: undefined, preds: [] };

/** A bare list of keys, or `{keys, preds}`. */
function parseCommitBody(body: Buffer): CommitBody {
  const value = parseJsonPlain(body.toString());
  if (Array.isArray(value)) return { keys: expectStrings(value, "value"), preds: [] };
  const members = expectObject(value, "api.TxnContext");
  const preds = expectStrings(findJsonMember(members, "preds"), "value");
  return { keys: expectStrings(findJsonMember(members, "keys"), "value"), preds };
}

export async function answerAlter(exchange: Exchange): Promise<void> {
  const { context, res } = exchange;
  const params = readParameters(exchange);
  const body = (await readBytes(exchange, "text")).toString();
  const runInBackground = params.has("runInBackground")
    ? parseBoolParameter(params, "runInBackground")
    : undefined;
  exchange.watched.text = body;
  const operation: AlterOperation = parseAlterBody(body, runInBackground);
  const notes = notesOf(res);
  if (notes !== undefined) notes.alter = noteAlter(operation);
  if (context.rules.disallowMutations) {
    throw new Fault("E_ALTER", "No mutations allowed by server.");
  }
  if (operation.kind === "dropAll" && context.rules.disallowDrop) {
    throw new Fault("E_ALTER", "Drop all operation is not permitted.");
  }
  const principal = await identify(exchange);
  noteSender(exchange, principal);
  await context.engine.alter(operation, principal.namespace, principal);
  sendJson(res, doneBody, [], acceptEncodingOf(exchange));
}

/** The text of a schema stays where it is. */
export function noteAlter(operation: AlterOperation): { kind: string; name?: string } {
  const { kind } = operation;
  if (kind === "dropPredicate") return { kind, name: operation.predicate.slice(0, alterNameMax) };
  return kind === "dropType" ? { kind, name: operation.type.slice(0, alterNameMax) } : { kind };
}

const alterNameMax = 200;

export function acceptEncodingOf(exchange: Exchange): string | undefined {
  const header = exchange.req.headers["accept-encoding"];
  return Array.isArray(header) ? header.join(",") : header;
}
