/** One of the two places where a Fault becomes an answer (the other is the GraphQL service's): reference/messages 3. */
import type { ServerResponse } from "node:http";
import { gzip, gzipSync } from "node:zlib";
import { Buffer } from "node:buffer";
import { systemClock } from "../base/clock.ts";
import type { Logger } from "../base/log.ts";
import { faultTable, replyOf } from "../model/fault-table.ts";
import { Fault } from "../model/fault.ts";
import { ResponseBatcher } from "./response-batcher.ts";
import { watchedOf, type WatchedRequest } from "./watched-request.ts";
import { joinHead } from "./joined-head.ts";
import { LargeAnswers } from "./large-answers.ts";

const allowedHeaders =
  "X-Dgraph-AccessToken, X-Dgraph-AuthToken, Content-Type, Content-Length, Accept-Encoding, Cache-Control, X-CSRF-Token, X-Auth-Token, X-Requested-With";

const allowedMethods = "POST, OPTIONS";

/** Access-Control-Allow-Origin where no schema says otherwise. */
export const everyOrigin = "*";

/** On every answer of the database routes. Flat name, value, …: written as it is. */
const commonHeaders = [
  "Access-Control-Allow-Methods",
  allowedMethods,
  "Access-Control-Allow-Headers",
  allowedHeaders,
  "Access-Control-Allow-Credentials",
  "true",
  "X-Content-Type-Options",
  "nosniff",
  "Content-Type",
  "application/json",
];

/** The same, for the framework's answers; `origins` as for all others. */
export const commonHeaderRecord: Readonly<Record<string, string>> = Object.fromEntries(
  commonHeaders.flatMap((name, i) => (i % 2 === 0 ? [[name, commonHeaders[i + 1] ?? ""]] : [])),
);

/** How an error is written: `withData` for what fails inside the engine, which prints `"data":null` behind it. */
interface ErrorShape {
  readonly withData: boolean;
  /** Whether engine faults get their empty prefix `": "`; alter and commit have none. */
  readonly withPrefix: boolean;
}

export interface ErrorReply {
  readonly status: number;
  readonly body: string;
  readonly headers: readonly string[];
}

/** Parameters, bodies and content types; alter and commit. */
export const plainShape: ErrorShape = { withData: false, withPrefix: false };
/** What the engine says about a query or a mutation. */
export const engineShape: ErrorShape = { withData: true, withPrefix: true };

/** Every way to fail, as status and body. What is nobody's fault but ours gets an id and goes to the log. */
export function makeErrorReply(error: unknown, shape: ErrorShape, logger: Logger): ErrorReply {
  if (!(error instanceof Fault)) return makeBrokenReply(error, logger);
  const { extension, isBeforeEngine = false } = faultTable[error.code];
  const message = shape.withPrefix ? printEngineMessage(error) : error.message;
  const withData = shape.withData && !isBeforeEngine;
  const body = makeErrorBody(message, extension, withData);
  if (error.code === "E_STORE_CORRUPT") {
    logger.error("stored bytes are damaged", { detail: error.message });
  }
  return { ...replyOf(error.code), body };
}

/** What is raised while a query or a mutation runs begins with an empty reason (reference/dql 1.3). */
export function printEngineMessage({ code, message }: Fault): string {
  return faultTable[code].phase === "engine" ? `: ${message}` : message;
}

export function makeErrorBody(message: string, code: string, withData: boolean): string {
  const errors = `{"errors":[{"message":${quoteJsonForHtml(message)},"extensions":{"code":${quoteJsonForHtml(code)}}}]`;
  return withData ? `${errors},"data":null}` : `${errors}}`;
}

let brokenCount = 0;

function makeBrokenReply(error: unknown, logger: Logger): ErrorReply {
  const id = `${(++brokenCount).toString(36)}-${error instanceof Error ? error.name : "unknown"}`;
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
  logger.error("a request failed inside", { id, stack });
  const body = makeErrorBody(
    `Internal error ${id}; the server's log has the details`,
    "Error",
    false,
  );
  return { status: 500, body, headers: [] };
}

/** Names of predicates and the like, at a third of the price. */
const plainText = /^[ \w.|:-]*$/;

/** JSON as the reference prints it: `<`, `>`, `&` and the two line separators escaped. */
export function quoteJsonForHtml(text: string): string {
  if (plainText.test(text)) return `"${text}"`;
  return JSON.stringify(text).replace(/[<>&\u2028\u2029]/g, escapeRune);
}

function escapeRune(rune: string): string {
  return `\\u${rune.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/** Texts that stand before an answer (reference/dql 1.3). */
const beginnings = new WeakMap<ServerResponse, string>();

/** What is answered in any case: the answer, or the error, follows behind it in the same body. */
export function beginAnswer(res: ServerResponse, text: string): void {
  beginnings.set(res, text);
}

function withBeginning(res: ServerResponse, body: Buffer | string): Buffer | string {
  const beginning = beginnings.get(res);
  if (beginning === undefined) return body;
  return typeof body === "string"
    ? beginning + body
    : Buffer.concat([Buffer.from(beginning), body]);
}

/** Over this many bytes an answer is compressed off the event loop: 64 KB take about a millisecond. */
const gzipSyncBytesMax = 64 * 1024;

/** `origins`: which pages may read the answer, where this differs from what was settled. Both are flat: name, value, … */
export function sendJson(
  res: ServerResponse,
  answer: Buffer | string,
  extra: readonly string[],
  acceptEncoding: string | undefined,
  origins: readonly string[] = originHeadersOf(res),
): void {
  const body = withBeginning(res, answer);
  watchedOf(res)?.noteAnswer(body);
  if (isObserved) noteAnswer(res, body);
  const headers = extra.length === 0 ? origins : [...origins, ...extra];
  if (acceptEncoding === undefined || !acceptEncoding.includes("gzip")) {
    send(res, 200, body, headers);
    return;
  }
  const packedHeaders = [...headers, "Content-Encoding", "gzip"];
  const bytes = typeof body === "string" ? Buffer.from(body) : body;
  if (bytes.length <= gzipSyncBytesMax) {
    send(res, 200, gzipSync(bytes, { level: 1 }), packedHeaders);
    return;
  }
  gzip(bytes, { level: 1 }, (error, packed) => {
    if (error === null) send(res, 200, packed, packedHeaders);
    else send(res, 200, bytes, headers);
  });
}

/** The type by which clients of GraphQL over HTTP ask for statuses that say what became of their request. */
export const responseJson = "application/graphql-response+json";

/** An answer of that type: 200 where there is data, whatever went wrong in it; 400 where nothing was run. */
export function sendResponseJson(
  res: ServerResponse,
  answer: Buffer | string,
  extra: readonly string[],
  origins: readonly string[] = originHeadersOf(res),
): void {
  watchedOf(res)?.noteAnswer(answer);
  if (isObserved) noteAnswer(res, answer);
  const type = `${responseJson}; charset=utf-8`;
  send(res, hasData(answer) ? 200 : 400, answer, [...origins, ...extra], type);
}

export function hasData(answer: Uint8Array | string): boolean {
  if (typeof answer !== "string" && !hasErrors(answer)) return true;
  const text = typeof answer === "string" ? answer : Buffer.from(answer).toString();
  if (!text.startsWith('{"errors":')) return true;
  return Object.hasOwn(JSON.parse(text) as object, "data");
}

/** Names the request in its answer, as the log does. */
export const idHeader = "X-Request-Id";

/** Of several machines: a commit that the answer has seen, and that a request may ask for (`seen-state.ts`). */
export const seenHeader = "X-Weft-Seen";

const openHeaders: readonly string[] = ["Access-Control-Allow-Origin", everyOrigin];
const noHeaders: readonly string[] = [];

const settledOrigins = new WeakMap<ServerResponse, readonly string[]>();

/** What every answer to a page of another origin says about origins (`origins.ts`). */
export function setOriginHeaders(res: ServerResponse, headers: readonly string[]): void {
  settledOrigins.set(res, headers);
}

/** Nothing settled: the page may not read. */
export function originHeadersOf(res: ServerResponse): readonly string[] {
  if (res.req.headers.origin === undefined) return openHeaders;
  return settledOrigins.get(res) ?? noHeaders;
}

/** Error bodies are never compressed. */
export function sendError(res: ServerResponse, reply: ErrorReply): void {
  const body = withBeginning(res, reply.body);
  watchedOf(res)?.noteAnswer(body);
  send(res, reply.status, body, [...originHeadersOf(res), ...reply.headers]);
}

/** A whole answer with a status of its own. `extra` is flat. */
export function sendStatus(
  res: ServerResponse,
  status: number,
  body: Buffer | string,
  extra: readonly string[],
): void {
  watchedOf(res)?.noteAnswer(body);
  send(res, status, body, extra);
}

/** Of routes that change the server: any page can make a browser send a GET. */
export function refuseMethod(res: ServerResponse): void {
  const body = makeErrorBody("Invalid method", "ErrorInvalidMethod", false);
  sendError(res, { status: 405, body, headers: ["Allow", "POST"] });
}

const observers = new WeakMap<ServerResponse, (hasErrors: boolean) => void>();
/** Most servers have no observers: their answers are asked nothing. */
let isObserved = false;

/** Calls `observer` when the answer is sent, with whether it tells errors. */
export function observeAnswer(res: ServerResponse, observer: (hasErrors: boolean) => void): void {
  isObserved = true;
  observers.set(res, observer);
}

/** Answers of all routes begin with their errors, where they have any. */
const errorsStart = Buffer.from('{"errors":');

export function noteAnswer(res: ServerResponse, body: Uint8Array | string): void {
  const observer = observers.get(res);
  if (observer === undefined) return;
  observer(hasErrors(typeof body === "string" ? Buffer.from(body.slice(0, 16)) : body));
}

export function hasErrors(answer: Uint8Array): boolean {
  return errorsStart.every((byte, i) => answer[i] === byte);
}

/** For people and scripts. */
export function sendText(res: ServerResponse, status: number, text: string): void {
  if (res.headersSent || res.destroyed) return;
  const bytes = Buffer.from(text);
  const watched = watchedOf(res);
  if (watched !== undefined) watched.status = status;
  res.writeHead(status, [
    ...originHeadersOf(res),
    ...(watched === undefined ? [] : [idHeader, watched.id]),
    "X-Content-Type-Options",
    "nosniff",
    "Content-Type",
    "text/plain; charset=utf-8",
    "Content-Length",
    String(bytes.length),
  ]);
  res.end(bytes);
}

/** 201, and what was made, as a text. */
export function sendCreated(res: ServerResponse, text: string): void {
  watchedOf(res)?.noteAnswer(text);
  send(res, 201, text, originHeadersOf(res), "text/plain; charset=utf-8");
}

/** Beyond those of every route; undefined: none. */
interface PreflightAdditions {
  readonly header?: string | undefined;
  readonly methods?: string | undefined;
}

/** 200 and nothing, for a browser that asks before it sends. `more`: what a page may send beside it. */
export function sendPreflight(
  res: ServerResponse,
  origins: readonly string[] = originHeadersOf(res),
  { header, methods }: PreflightAdditions = {},
): void {
  const common = commonHeaders.map((text) => {
    if (text === allowedHeaders && header !== undefined) return `${text},${header}`;
    return text === allowedMethods && methods !== undefined ? methods : text;
  });
  if (res.headersSent || res.destroyed) return;
  res.writeHead(200, [...common, ...origins, "Content-Length", "0"]);
  res.end();
}

/** Up to this size an answer is joined with its head into one string and one write; beyond it a copy costs more. */
const joinBytesMax = 64 * 1024;

const batcher = new ResponseBatcher(systemClock);

/** Configured by the server of this process. */
export const largeAnswers = new LargeAnswers();

function send(
  res: ServerResponse,
  status: number,
  body: Buffer | string,
  extra: readonly string[],
  type?: string,
): void {
  if (res.headersSent || res.destroyed) return;
  const bytes = typeof body === "string" ? Buffer.from(body) : body;
  const common =
    type === undefined
      ? commonHeaders
      : commonHeaders.map((text) => (text === "application/json" ? type : text));
  if (isObserved && !extra.includes("Content-Encoding")) noteAnswer(res, bytes);
  const watched = watchedOf(res);
  if (watched !== undefined) watched.status = status;
  const own = watched === undefined ? extra : withRequest(extra, watched);
  // As Latin-1 the bytes stay what they are, and head and body leave in one write.
  if (bytes.length <= joinBytesMax) {
    const body = bytes.toString("latin1");
    if (status === 200 && joinHead(res, { common, own, length: bytes.length }, body)) {
      batcher.end(res, undefined);
      return;
    }
    res.writeHead(status, [...common, ...own, "Content-Length", String(bytes.length)]);
    batcher.end(res, body);
    return;
  }
  res.writeHead(status, [...common, ...own, "Content-Length", String(bytes.length)]);
  largeAnswers.end(res, bytes);
}

/** What names the request, and the state that it has seen. */
function withRequest(extra: readonly string[], { id, seenTs }: WatchedRequest): readonly string[] {
  if (seenTs === undefined) return [...extra, idHeader, id];
  return [...extra, seenHeader, String(seenTs()), idHeader, id];
}
