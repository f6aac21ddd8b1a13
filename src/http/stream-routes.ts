/**
 * GraphQL over server-sent events with one connection for all operations: PUT reserves a stream and answers its token, GET
 * with the token opens it, POST with the token runs an operation whose answers go into it, DELETE stops one. Each
 * request is judged by itself, and an operation has the rights of its own request; but the token serves those alone who
 * show the key and the login of the reservation. GET may show neither, since pages cannot give `EventSource` headers: the
 * token opens a stream once.
 */
import { identifiedBy } from "./sender.ts";
import { readJsonBodyInSteps } from "../graphql/operation/body.ts";
import type { GraphqlRequest } from "../graphql/operation/request.ts";
import type { Subscriber } from "../graphql/service/service.ts";
import { drive } from "../base/maybe.ts";
import type { Fault } from "../model/fault.ts";
import { nameLimit } from "../model/limits.ts";
import type { Exchange } from "./exchange.ts";
import { judge } from "./gate.ts";
import { mayListen } from "./origins.ts";
import { hasData, originHeadersOf, sendCreated, sendStatus } from "./reply.ts";
import { rightOf } from "./rights.ts";
import type { SharedStream, StreamOperation } from "./shared-stream.ts";

const idLengthMax = 256;

/** PUT: 201 and the token. A foreign page's browser does not send it, and could open no stream by it. */
export async function reserveStream(exchange: Exchange): Promise<void> {
  const { req, res, context, streams, reserved } = exchange;
  const { accept } = req.headers;
  if (accept !== undefined && !/\*\/\*|text\/(?:plain|\*)/.test(accept)) {
    refuse(exchange, 406, "A reservation is answered as text/plain");
    return;
  }
  if (streams.isFull || reserved.isFull) {
    const which = streams.isFull ? "sockets" : "reserved-streams";
    refuse(exchange, 503, nameLimit(which, "Too many event streams are open or reserved"));
    return;
  }
  const owner = await identifiedBy(exchange);
  const token = reserved.reserve(owner ?? "", {
    bytesMax: context.limits.socketBufferBytesMax,
    memory: context.memory,
    isWelcome: async () => (await judge(rightOf("/graphql"), req, context)) === undefined,
  });
  sendCreated(res, token);
}

/** GET: the stream. One that is open is not opened again. */
export async function openStream(exchange: Exchange, token: string): Promise<void> {
  const { req, res, context, reserved } = exchange;
  if (!(await mayListen(context, req.headers, req.headers))) {
    refuse(exchange, 403, "Event streams of a foreign page are refused");
    return;
  }
  const stream = reserved.find(token, await identifiedBy(exchange));
  if (stream === undefined) {
    refuse(exchange, 404, noStream);
    return;
  }
  if (stream.isOpen) {
    refuse(exchange, 409, "The event stream is open already");
    return;
  }
  reserved.noteOpening(token);
  stream.open(res, originHeadersOf(res));
}

/** DELETE: 200, whether the operation was under way or not. */
export async function stopOperation(exchange: Exchange, token: string | undefined): Promise<void> {
  const owner = (await identifiedBy(exchange)) ?? "";
  const stream = token === undefined ? undefined : exchange.reserved.find(token, owner);
  if (stream === undefined) {
    refuse(exchange, 404, noStream);
    return;
  }
  const id = new URLSearchParams(exchange.search).get("operationId") ?? "";
  if (id === "") {
    refuse(exchange, 400, "The parameter operationId is missing");
    return;
  }
  stream.stop(id);
  sendStatus(exchange.res, 200, "", originHeadersOf(exchange.res));
}

/** POST: 202 where the answers go into the stream; what is wrong with the request itself is answered here. */
export async function runOnStream(
  exchange: Exchange,
  request: GraphqlRequest,
  token: string,
): Promise<void> {
  const { context, reserved } = exchange;
  const stream = reserved.find(token, (await identifiedBy(exchange)) ?? "");
  if (stream === undefined) {
    refuse(exchange, 404, noStream);
    return;
  }
  const id = await readOperationId(request);
  const refusal = findIdRefusal(id, stream, context.limits.socketSubscriptionsMax);
  if (refusal !== undefined) {
    refuse(exchange, refusal.status, refusal.message);
    return;
  }
  const operation = stream.begin(id);
  try {
    await run(exchange, request, stream, operation);
  } catch (error) {
    stream.stop(id);
    throw error;
  }
}

async function run(
  exchange: Exchange,
  request: GraphqlRequest,
  stream: SharedStream,
  operation: StreamOperation,
): Promise<void> {
  const subscriber: Subscriber = {
    next: (answer) => stream.next(operation, answer),
    end: (reason) => stream.ended(operation, reason),
  };
  const outcome = await exchange.context.graphql.subscribe(request, subscriber, true);
  if (outcome.kind === "open") stream.hold(operation, outcome.close);
  else if (outcome.kind === "refused" || outcome.kind === "other") {
    stream.stop(operation.id);
    const errors = outcome.kind === "refused" ? outcome.errors : [];
    answer(exchange, 400, JSON.stringify({ errors }));
    return;
  } else {
    const { body, status } = outcome.answer;
    if (status !== undefined || !hasData(body)) {
      stream.stop(operation.id);
      answer(exchange, status ?? 400, new TextDecoder().decode(body));
      return;
    }
    stream.next(operation, body);
    stream.complete(operation);
  }
  answer(exchange, operation.isStopped ? 204 : 202, "");
}

const noStream = "There is no event stream with this token";

async function readOperationId({ kind, body }: GraphqlRequest): Promise<string> {
  if (kind !== "json") return "";
  let since = 0;
  const look = (work: number): Promise<void> | undefined => {
    since += work;
    if (since < restAfter) return undefined;
    since = 0;
    return rest();
  };
  const { extensions } = await drive(readJsonBodyInSteps(body, look));
  const id = extensions?.["operationId"];
  return typeof id === "string" ? id : "";
}

/** Values of a long body that are read before others have their turn. */
const restAfter = 20_000;

function rest(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function findIdRefusal(
  id: string,
  stream: SharedStream,
  operationsMax: number,
): { readonly status: number; readonly message: string } | undefined {
  if (id === "") return { status: 400, message: "The member operationId of extensions is missing" };
  if (id.length > idLengthMax) {
    return { status: 400, message: `operationId may have ${idLengthMax} characters` };
  }
  if (stream.has(id)) return { status: 409, message: "An operation of this id is under way" };
  if (stream.operationCount < operationsMax) return undefined;
  const text = `An event stream may have ${operationsMax} operations under way`;
  return { status: 429, message: nameLimit("socket-subscriptions", text) };
}

function refuse(exchange: Exchange, status: number, message: string): void {
  answer(exchange, status, JSON.stringify({ errors: [{ message }] }));
}

function answer({ res }: Exchange, status: number, body: string): void {
  const retry = status === 503 ? ["Retry-After", "1"] : [];
  sendStatus(res, status, body, [...originHeadersOf(res), ...retry]);
}

/** What went wrong before there was an operation, of a request that names a stream. */
export function refuseOnStream(exchange: Exchange, fault: Fault): void {
  refuse(exchange, 400, fault.message);
}
