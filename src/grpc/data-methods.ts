/** Query, RunDQL, CommitOrAbort: what `/query`, `/mutate` and `/commit` are over HTTP. */
import { Buffer } from "node:buffer";
import type {
  Latency,
  MutateAnswer,
  MutateRequest,
  MutationPart,
  QueryAnswer,
} from "../engine/engine.ts";
import { explainNamespaceRefusal } from "../admin/interface.ts";
import { makeLimitFault } from "../model/limits.ts";
import { Fault } from "../model/fault.ts";
import type { Principal } from "../model/principal.ts";
import { printUid } from "../model/uid.ts";
import {
  BodyWeight,
  callRight,
  checkHash,
  hashOf,
  principalOf,
  rightOf,
} from "../http/interface.ts";
import {
  type ApiMutation,
  type ApiRequest,
  type RunDql,
  toNumber,
  type TxnContext,
} from "./api.ts";
import { budgetMs, type Call, type Method, noteCaller, openCallBudget } from "./call.ts";
import { printNQuads } from "./nquads.ts";

const queries = { right: rightOf("/query"), operation: "grpc/Query" };
const mutations = { right: rightOf("/mutate"), operation: "grpc/Mutate" };
const dqlQueries = { right: rightOf("/query"), operation: "grpc/RunDQL" };
const dqlMutations = { right: rightOf("/mutate"), operation: "grpc/RunDQL" };
const commitRight = rightOf("/commit");

export const queryMethod: Method<ApiRequest> = {
  name: "Query",
  request: "Request",
  response: "Response",
  runsEngine: true,
  isDrained: true,
  size: "data",
  right: callRight,
  exact: (request) => (request.mutations.length === 0 ? queries : mutations),
  textOf: describeRequest,
  startTs: ({ startTs }) => toNumber(startTs),
  mayCommit: (request) => request.commitNow && request.mutations.length > 0,
  async answer(request, call) {
    const { query, vars, respFormat, hash } = request;
    const startTs = toNumber(request.startTs);
    checkText(query, call);
    if (request.mutations.length === 0) {
      const { readOnly, bestEffort } = request;
      return await ask(call, { query, vars, respFormat, startTs, hash, readOnly, bestEffort });
    }
    checkMayWrite(request.readOnly);
    const parts: MutationPart[] = [];
    for (const mutation of request.mutations) {
      const weighing = weigh(mutation, call);
      if (weighing !== undefined) await weighing;
      parts.push(readMutation(mutation));
    }
    const body = {
      kind: "parts",
      query,
      variables: new Map(Object.entries(vars)),
      mutations: parts,
    } as const;
    return await change(call, body, { startTs, hash, commitNow: request.commitNow });
  },
};

export const runDqlMethod: Method<RunDql> = {
  name: "RunDQL",
  request: "RunDQLRequest",
  response: "Response",
  runsEngine: true,
  isDrained: true,
  size: "data",
  right: callRight,
  exact: ({ dqlQuery }) => (isMutation(dqlQuery) ? dqlMutations : dqlQueries),
  textOf: ({ dqlQuery }) => dqlQuery,
  startTs: () => 0,
  mayCommit: () => false,
  async answer({ dqlQuery, vars, readOnly, bestEffort, respFormat }, call) {
    const fresh = { startTs: 0, hash: "" };
    if (!isMutation(dqlQuery)) {
      checkText(dqlQuery, call);
      return await ask(call, { query: dqlQuery, vars, respFormat, readOnly, bestEffort, ...fresh });
    }
    checkMayWrite(readOnly);
    const variables = new Map(Object.entries(vars));
    const body = { kind: "rdf", text: dqlQuery, variables } as const;
    return await change(call, body, { ...fresh, commitNow: true });
  },
};

/** The reference writes all the same. */
function checkMayWrite(isReadOnly: boolean): void {
  if (isReadOnly) throw new Fault("E_TXN", "no mutations allowed in a read-only transaction");
}

/** The query, or the first mutation that is sent as a text. */
function describeRequest(request: ApiRequest): string {
  if (request.query !== "") return request.query;
  const [first] = request.mutations;
  if (first === undefined) return "";
  const { setNquads, setJson, delNquads, deleteJson } = first;
  const sent = [setNquads, setJson, delNquads, deleteJson].find((part) => part.length > 0);
  return sent === undefined ? "" : textOf(sent.subarray(0, describedBytesMax));
}

const describedBytesMax = 4_000;

/** Whether the text is a mutation: `upsert { … }` or `{ set { … } }`. */
function isMutation(text: string): boolean {
  return /^\s*(?:#[^\n]*\n\s*)*(?:upsert\s*\{|\{\s*(?:#[^\n]*\n\s*)*(?:set|delete)\s*\{)/.test(
    text,
  );
}

interface Question {
  readonly query: string;
  readonly vars: Readonly<Record<string, string>>;
  readonly respFormat: number;
  readonly startTs: number;
  readonly hash: string;
  readonly readOnly: boolean;
  readonly bestEffort: boolean;
}

async function ask(call: Call, question: Question): Promise<object> {
  const { context } = call;
  const { startTs, respFormat } = question;
  if (question.query.trim() === "") throw new Fault("E_TXN", "empty request");
  if (question.bestEffort && !question.readOnly) {
    throw new Fault("E_TXN", "A best effort query must be read-only.");
  }
  const known = principalOf(call.headers, call.address, context);
  const principal = known instanceof Promise ? await known : known;
  noteCaller(call, principal);
  checkHash(call, startTs, principal, question.hash);
  const isRdf = respFormat === 1;
  const answer = await context.engine.query({
    namespace: principal.namespace,
    principal,
    text: question.query,
    variables: new Map(Object.entries(question.vars)),
    startTs,
    readOnly: startTs === 0 && question.readOnly,
    bestEffort: startTs === 0 && question.bestEffort,
    debug: call.debug,
    format: isRdf ? "rdf" : "json",
    timeoutMs: budgetMs(call),
    budget: openCallBudget(call),
  });
  return {
    ...(isRdf ? { rdf: unquote(answer) } : { json: answer.data }),
    txn: { startTs: answer.startTs, hash: hashOf(call, answer.startTs, principal) ?? "" },
    latency: answer.latency satisfies Latency,
    metrics: { numUids: countUids(answer.numUids) },
  };
}

/** Triples come as a string of JSON. */
function unquote({ data }: QueryAnswer): Buffer {
  const text: unknown = JSON.parse(Buffer.from(data).toString());
  return Buffer.from(typeof text === "string" ? text : "");
}

interface Change {
  readonly startTs: number;
  readonly hash: string;
  readonly commitNow: boolean;
}

async function change(call: Call, body: MutateRequest["body"], how: Change): Promise<object> {
  const { context } = call;
  const { startTs, commitNow } = how;
  if (context.rules.disallowMutations) throw new Fault("E_TXN", "no mutations allowed");
  const known = principalOf(call.headers, call.address, context);
  const principal = known instanceof Promise ? await known : known;
  noteCaller(call, principal);
  checkHash(call, startTs, principal, how.hash);
  const answer = await context.engine.mutate({
    namespace: principal.namespace,
    principal,
    body,
    startTs,
    commitNow,
    timeoutMs: budgetMs(call),
    budget: openCallBudget(call),
  });
  return {
    json: answer.queries ?? nothing,
    txn: printTxn(call, answer, principal),
    latency: answer.latency,
    uids: printUids(answer.uids),
    metrics: { numUids: countUids(answer.numUids) },
  };
}

const nothing = Buffer.alloc(0);

function printTxn(call: Call, answer: MutateAnswer, principal: Principal): object {
  const { startTs, commitTs, keys = [], preds } = answer;
  return { startTs, commitTs, keys, preds, hash: hashOf(call, startTs, principal) ?? "" };
}

function printUids(uids: ReadonlyMap<string, number> = new Map()): Record<string, string> {
  const printed: Record<string, string> = Object.create(null) as Record<string, string>;
  for (const [label, uid] of uids) printed[label] = printUid(uid);
  return printed;
}

function countUids(numUids: ReadonlyMap<string, number>): Record<string, number> {
  const counts: Record<string, number> = Object.create(null) as Record<string, number>;
  let total = 0;
  for (const [name, count] of numUids) {
    counts[name] = count;
    total += count;
  }
  counts["_total"] = total;
  return counts;
}

function checkText(text: string, { context }: Call): void {
  const { textBytesMax } = context.limits;
  if (text.length <= textBytesMax) return;
  throw makeLimitFault(
    "text-bytes",
    `The request's query is over the limit of ${textBytesMax} bytes`,
  );
}

/** Smaller ones are not looked at. */
const weighedBytesMin = 64 * 1024;

/** Makes room for what becomes of a large mutation. */
function weigh(
  { setJson, deleteJson, setNquads, delNquads }: ApiMutation,
  { hold }: Call,
): Promise<void> | undefined {
  const jsonBytes = setJson.length + deleteJson.length;
  if (jsonBytes + setNquads.length + delNquads.length < weighedBytesMin) return undefined;
  const json = new BodyWeight("json");
  const facts = new BodyWeight("facts");
  for (const part of [setJson, deleteJson]) json.add(part);
  for (const part of [setNquads, delNquads]) facts.add(part);
  return hold.reserve(json.bytes + facts.bytes);
}

function readMutation(mutation: ApiMutation): MutationPart {
  const { setJson, deleteJson, setNquads, delNquads, set, del, cond } = mutation;
  const facts = textOf(setNquads);
  const deletes = textOf(delNquads);
  return {
    condition: cond,
    setJson: textOf(setJson),
    deleteJson: textOf(deleteJson),
    set: set.length === 0 ? facts : `${facts}\n${printNQuads(set)}`,
    delete: del.length === 0 ? deletes : `${deletes}\n${printNQuads(del)}`,
  };
}

function textOf(bytes: Uint8Array): string {
  if (bytes.length === 0) return "";
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString();
}

export const commitMethod: Method<TxnContext> = {
  name: "CommitOrAbort",
  request: "TxnContext",
  response: "TxnContext",
  // What was begun may be ended.
  isDrained: false,
  size: "data",
  right: commitRight,
  startTs: ({ startTs }) => toNumber(startTs),
  mayCommit: ({ aborted }) => !aborted,
  async answer({ startTs: given, aborted, keys, preds, hash }, call) {
    const { context } = call;
    const startTs = toNumber(given);
    if (startTs === 0) {
      throw new Fault("E_TXN", "StartTs cannot be zero while committing a transaction");
    }
    const principal = await principalOf(call.headers, call.address, context);
    noteCaller(call, principal);
    if (principal.refusal !== undefined) {
      throw new Fault("E_TOKEN", explainNamespaceRefusal(principal));
    }
    checkHash(call, startTs, principal, hash);
    const { namespace } = principal;
    const claim = aborted ? { keys: undefined, preds: [] } : { keys, preds };
    const answer = await context.engine.commit({ namespace, startTs, abort: aborted, ...claim });
    return { startTs, commitTs: answer.commitTs, aborted };
  },
};
