/** /graphql, and /admin which follows the same rules (reference/graphql 4.1, 10.1): 200 for every outcome. */
import { Buffer } from "node:buffer";
import { drainingWords, explainRefusal } from "../admin/interface.ts";
import { describeRequest } from "../graphql/service/describe-request.ts";
import type { GraphqlRequest, MutationRefusal } from "../graphql/operation/request.ts";
import type { GraphqlAnswer } from "../graphql/service/service.ts";
import { andThen, type MaybePromise } from "../base/maybe.ts";
import { findJsonSyntaxFault } from "../base/json-syntax.ts";
import { replyOf } from "../model/fault-table.ts";
import { Fault } from "../model/fault.ts";
import type { EncodingFaults } from "./body.ts";
import { acceptEncodingOf } from "./database-routes.ts";
import { type BodyKind, type Exchange, openBudget, readBytes, readParameters } from "./exchange.ts";
import { isBatch, joinAnswers, splitBatch } from "./graphql-batch.ts";
import { streamEvents, wantsEvents } from "./event-stream.ts";
import type { AccessRefusal } from "./access.ts";
import { notesOf } from "./audit.ts";
import { admit, judgeWriting, mustBeRecorded } from "./gate.ts";
import { accessKeyOf } from "./shown-key.ts";
import { makeRefusalFault } from "./refusal.ts";
import { parseMediaType, parseExplainOptions, parseTimeout } from "./parameters.ts";
import {
  makeErrorBody,
  originHeadersOf,
  quoteJsonForHtml,
  sendError,
  responseJson,
  sendJson,
  sendResponseJson,
  sendPreflight,
  sendStatus,
} from "./reply.ts";
import { explainRight } from "./rights.ts";
import { originHeaders } from "./origins.ts";
import { findRemoteAddress } from "./peer.ts";
import { identify, noteSender } from "./sender.ts";
import {
  openStream,
  refuseOnStream,
  reserveStream,
  runOnStream,
  stopOperation,
} from "./stream-routes.ts";
import { shownStreamTokenHeader, streamTokenHeader, streamTokenOf } from "./stream-token.ts";

interface Responder {
  handle(request: GraphqlRequest): MaybePromise<GraphqlAnswer>;
  /** Whether answers may be asked for as a stream of events. */
  readonly streams: boolean;
  /** Of the shared stream into which the answers go; undefined: they are the answer to this request. */
  readonly streamToken: string | undefined;
  readonly body: BodyKind;
  /** Operations that one request may have as a list; 0: a list is no request. */
  readonly batchMax: number;
  /** Why data is not served now. */
  readonly closed: string | undefined;
  /** The headers about origins; asked after `handle`. */
  origins(): MaybePromise<readonly string[]>;
}

export async function answerGraphql(exchange: Exchange): Promise<void> {
  const { req, res, context } = exchange;
  if (req.method === "OPTIONS") {
    // A page's preflight carries no token: it is answered by the schema of namespace 0.
    const { namespace } = await identify(exchange);
    const { origins, tokenHeader } = await context.graphql.preflight(namespace);
    sendPreflight(res, originHeaders(req, context, origins), additionsFor(req, tokenHeader));
    return;
  }
  const token = streamTokenOf(req, exchange.search);
  const plan = parseExplainOptions(readParameters(exchange));
  if (plan === undefined && (await answerStreamRequest(exchange, token))) return;
  if (plan !== undefined && !(await admitToPlans(exchange))) return;
  const { isDraining } = context.controls.switches;
  await answerDocument(exchange, {
    streams: plan === undefined && !isDraining,
    streamToken: plan === undefined && req.method === "POST" ? token : undefined,
    body: "data",
    batchMax: plan === undefined ? (context.graphqlBatchMax ?? 0) : 0,
    closed: isDraining ? drainingWords : undefined,
    handle: (request) =>
      context.graphql.handle(plan === undefined ? request : { ...request, plan }),
    origins: () =>
      andThen(identify(exchange), (principal) => {
        noteSender(exchange, principal);
        return andThen(context.graphql.allowedOrigins(principal.namespace), (allowed) =>
          originHeaders(req, context, allowed),
        );
      }),
  });
}

/** What a page may send beside the usual: the schema's token, and what belongs to streams where it asks for that. */
function additionsFor(
  { headers }: Exchange["req"],
  tokenHeader: string | undefined,
): { readonly header: string | undefined; readonly methods: string | undefined } {
  const asked = headers["access-control-request-headers"]?.toLowerCase() ?? "";
  const streamHeader = asked.includes(streamTokenHeader) ? shownStreamTokenHeader : undefined;
  const names = [tokenHeader, streamHeader].filter((name) => name !== undefined);
  const isStreams = /^(?:PUT|DELETE)$/.test(headers["access-control-request-method"] ?? "");
  return {
    header: names.length === 0 ? undefined : names.join(","),
    methods: isStreams ? "POST, PUT, DELETE, OPTIONS" : undefined,
  };
}

/** What of a request belongs to a stream that operations share. False: it is one for an answer. */
async function answerStreamRequest(
  exchange: Exchange,
  token: string | undefined,
): Promise<boolean> {
  const { method } = exchange.req;
  if (method === "PUT") await reserveStream(exchange);
  else if (method === "DELETE") await stopOperation(exchange, token);
  else if (method === "GET" && token !== undefined && wantsEvents(exchange) !== "no") {
    await openStream(exchange, token);
  } else return false;
  return true;
}

/** Administrators, and where users log in guardians: the numbers tell of what others may not read. */
async function admitToPlans(exchange: Exchange): Promise<boolean> {
  if (!(await admit(explainRight, exchange))) return false;
  const asking = { principal: await identify(exchange), acl: exchange.context.acl !== undefined };
  const message = explainRefusal("guardian", asking);
  if (message === undefined) return true;
  const body = makeErrorBody(message, "ErrorUnauthorized", false);
  sendError(exchange.res, { status: 200, body, headers: [] });
  return false;
}

export async function answerAdmin(exchange: Exchange): Promise<void> {
  const { context, req, res } = exchange;
  if (req.method !== "POST" && req.method !== "GET") {
    const body = makeErrorBody("Invalid method", "ErrorInvalidMethod", false);
    sendError(res, { status: 200, body, headers: [] });
    return;
  }
  await answerDocument(exchange, {
    streams: false,
    streamToken: undefined,
    body: "text",
    batchMax: 0,
    closed: undefined,
    handle: async (request) => {
      const keyNamespace = (await accessKeyOf(req.headers, context))?.namespace;
      return context.admin.handle(request, await identify(exchange), keyNamespace);
    },
    origins: () => originHeadersOf(res),
  });
}

async function answerDocument(exchange: Exchange, responder: Responder): Promise<void> {
  const { res } = exchange;
  try {
    const budget = openBudget(exchange, parseTimeout(readParameters(exchange)));
    const document = await readDocument(exchange, responder.body);
    exchange.watched.text = document.body;
    const notes = notesOf(res);
    if (notes !== undefined) notes.operation = describeDocument(document, responder.batchMax);
    const refusal = findMutationRefusal(exchange);
    // Each member by its name: spreading costs eight microseconds here.
    const request: GraphqlRequest = {
      kind: document.kind,
      body: document.body,
      headers: exchange.req.headers,
      remoteAddress: findRemoteAddress(exchange.req),
      timeoutMs: 0,
      budget,
      closed: responder.closed,
      refusesMutations: refusal instanceof Promise ? await refusal : refusal,
    };
    if (responder.streamToken !== undefined) {
      await runOnStream(exchange, request, responder.streamToken);
      return;
    }
    let answer: GraphqlAnswer | undefined;
    const { batchMax } = responder;
    if (batchMax > 0 && document.kind === "json" && isBatch(document.body)) {
      answer = await answerBatch(request, responder);
    } else if (responder.streams && wantsEvents(exchange) !== "no") {
      const granted = await responder.origins();
      answer = await streamEvents(exchange, request, granted);
      if (answer === undefined) return;
    }
    if (answer === undefined) {
      const pending = responder.handle(request);
      answer = pending instanceof Promise ? await pending : pending;
    }
    const settled = responder.origins();
    const origins = settled instanceof Promise ? await settled : settled;
    const { status } = answer;
    if (status !== undefined) {
      if (notes !== undefined && status !== 503) {
        notes.refusal = status === 405 ? "method" : "page";
      }
      const headers = [...origins, ...flatten(answer.headers)];
      if (status === 405) headers.push("Allow", "POST");
      sendStatus(res, status, toBuffer(answer.body), headers);
      return;
    }
    if (wantsResponseJson(exchange)) {
      sendResponseJson(res, toBuffer(answer.body), flatten(answer.headers), origins);
      return;
    }
    const encoding = acceptEncodingOf(exchange);
    sendJson(res, toBuffer(answer.body), flatten(answer.headers), encoding, origins);
  } catch (error) {
    // An overloaded server says so to proxies and clients that read statuses alone, too.
    if (!(error instanceof Fault) || error.code === "E_OVERLOADED") throw error;
    if (responder.streamToken !== undefined) {
      refuseOnStream(exchange, error);
      return;
    }
    const body = `{"errors":[{"message":${quoteJsonForHtml(error.message)}}]}`;
    const reply = replyOf(error.code);
    if (reply.status !== 200) sendError(res, { ...reply, body });
    else if (wantsResponseJson(exchange)) sendResponseJson(res, body, []);
    else sendJson(res, body, [], undefined);
  }
}

/** Whoever names the type, and does not like plain JSON better: by its weight, then by its place. */
function wantsResponseJson({ req }: Exchange): boolean {
  const { accept } = req.headers;
  if (accept === undefined || !accept.includes(responseJson)) return false;
  const named = accept.split(",").map((one) => one.trim());
  const own = named.findIndex((one) => one.startsWith(responseJson));
  const plain = named.findIndex((one) => one.startsWith("application/json"));
  const weight = weightOf(named[own]);
  if (plain < 0 || weight === 0) return weight > 0;
  const other = weightOf(named[plain]);
  return weight === other ? own < plain : weight > other;
}

/** `q` of a member of Accept (RFC 9110 12.4.2), 1 unless it is said. */
function weightOf(member: string | undefined): number {
  const q = /;\s*q=([\d.]+)/i.exec(member ?? "")?.[1];
  return q === undefined ? 1 : Number(q);
}

/** One after the other, within the budget of all: a mutation is seen by what follows it. */
async function answerBatch(request: GraphqlRequest, responder: Responder): Promise<GraphqlAnswer> {
  const answers: GraphqlAnswer[] = [];
  for (const body of splitBatch(request.body, responder.batchMax)) {
    const pending = responder.handle({ ...request, body });
    answers.push(pending instanceof Promise ? await pending : pending);
  }
  const body = joinAnswers(answers.map((answer) => answer.body));
  // What another server may answer, or this one later, it may as a whole.
  const [first] = answers;
  const isRefused = answers.every(({ status }) => status === 503);
  return isRefused && first !== undefined ? { ...first, body } : { body, headers: undefined };
}

/** What is written down of a request: of several operations the first that changes something. */
function describeDocument(
  document: Document,
  batchMax: number,
): ReturnType<typeof describeRequest> {
  const isOne = batchMax === 0 || document.kind !== "json" || !isBatch(document.body);
  if (isOne) return describeRequest(document);
  const all = splitBatch(document.body, batchMax).map((body) =>
    describeRequest({ kind: "json", body }),
  );
  return all.find((one) => one?.operation === "mutation") ?? all[0];
}

/** No mutation by GET, which any page can make a browser send, nor for a page that may not write. */
function findMutationRefusal({
  req,
  context,
}: Exchange): MaybePromise<MutationRefusal | undefined> {
  if (req.method === "GET") return mutationByGet;
  if (mustBeRecorded(context)) return toMutationRefusal({ kind: "unrecorded" });
  const refusal = judgeWriting(req, context);
  return refusal === undefined ? undefined : andThen(refusal, toMutationRefusal);
}

const mutationByGet: MutationRefusal = {
  message: "Mutations are taken by POST alone",
  status: 405,
};

function toMutationRefusal(refusal: AccessRefusal | undefined): MutationRefusal | undefined {
  if (refusal === undefined) return undefined;
  const status = refusal.kind === "unrecorded" ? 503 : 403;
  return { message: makeRefusalFault(refusal, "graphql").message, status };
}

type Document = Pick<GraphqlRequest, "kind" | "body">;

async function readDocument(exchange: Exchange, kind: BodyKind): Promise<Document> {
  const { req, search } = exchange;
  if (req.method === "GET") return { kind: "json", body: composeBody(new URLSearchParams(search)) };
  if (req.method !== "POST") {
    throw refuse("Unrecognised request method.  Please use GET or POST for GraphQL requests");
  }
  const bytes = await readBytes(exchange, kind, graphqlEncodingFaults);
  const media = parseMediaType(req.headers["content-type"]);
  if (media.fault !== undefined) throw refuse(`unable to parse media type: ${media.fault}`);
  if (media.type === "application/json") return { kind: "json", body: bytes.toString() };
  if (media.type === "application/graphql") return { kind: "graphql", body: bytes.toString() };
  throw refuse(
    "Unrecognised Content-Type.  Please use application/json or application/graphql for GraphQL requests",
  );
}

/** The members of a GET, as the JSON that a POST would have sent. */
function composeBody(params: URLSearchParams): string {
  const members = [`"query":${JSON.stringify(params.get("query") ?? "")}`];
  const operationName = params.get("operationName");
  if (operationName !== null) members.push(`"operationName":${JSON.stringify(operationName)}`);
  for (const name of ["variables", "extensions"]) {
    const text = params.get(name) ?? "";
    if (text === "") continue;
    const fault = findJsonSyntaxFault(text);
    if (fault !== undefined) throw refuse(`Not a valid GraphQL request body: ${fault.detail}`);
    members.push(`"${name}":${text}`);
  }
  return `{${members.join(",")}}`;
}

const graphqlEncodingFaults: EncodingFaults = {
  unknown: () => refuse("Unsupported content encoding"),
  broken: (error) => refuse(`Unable to parse gzip: ${explainGzip(error)}`),
};

/** zlib has one code (Z_DATA_ERROR) for a wrong header and for wrong data: only its words tell which. */
function explainGzip(error: Error): string {
  const code = (error as NodeJS.ErrnoException).code;
  if (code === "Z_BUF_ERROR") return "unexpected EOF";
  return /header check/.test(error.message) ? "gzip: invalid header" : "gzip: invalid checksum";
}

function refuse(message: string): Fault {
  return new Fault("E_GRAPHQL_REQUEST", message);
}

/** A view, no copy. */
function toBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function flatten(headers: Readonly<Record<string, string>> | undefined): string[] {
  const flat: string[] = [];
  for (const name in headers) flat.push(name, headers[name] ?? "");
  return flat;
}
