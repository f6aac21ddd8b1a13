/** Calls of the service `api.Dgraph`, from their head to their end: who calls, their message, its answer. */
import type { Buffer } from "node:buffer";
import type { IncomingHttpHeaders, ServerHttp2Stream } from "node:http2";
import type { Socket } from "node:net";
import { drainingWords } from "../admin/interface.ts";
import { strangerFault } from "../engine/authorize.ts";
import { Fault } from "../model/fault.ts";
import { nameLimit } from "../model/limits.ts";
import {
  BodyWatch,
  findRemoteAddress,
  headBytesMax,
  peerOf,
  recordCall,
  RequestHold,
  weighHead,
} from "../http/interface.ts";
import { messageKindOf, type MessageKind, messageWriterOf, writeResponse } from "./api.ts";
import { type Call, type GrpcContext, leftMs, type Method } from "./call.ts";
import { Handover, OwnerLost } from "./handover.ts";
import { CallCut, readMessage } from "./message-reader.ts";
import { methods } from "./methods.ts";
import { admitCall, headersOfCall, judgeCall, textOf } from "./sender.ts";
import { CallRefusal, type CallStatus, status, statusOf } from "./status.ts";
import { type Framed, framePrefixBytes, readTimeoutMs, sendAnswer, endCall } from "./wire.ts";

const servicePath = "/api.Dgraph/";

/** A method with what reads and writes its messages. */
interface Served {
  // oxlint-disable-next-line typescript/no-explicit-any -- each method knows its own message
  readonly method: Method<any>;
  readonly operation: string;
  readonly kind: MessageKind;
  readonly write: (value: object) => Framed;
}

/** A whole message must have arrived by then. */
const messageMs = 300_000;

/** What who is not known may send, and what names and numbers take. */
const smallBytesMax = 64 * 1024;

export class Service {
  readonly #context: GrpcContext;
  readonly #handover = new Handover();
  readonly #bodies: BodyWatch;
  readonly #served = new Map<string, Served>();
  #pending = 0;

  constructor(context: GrpcContext) {
    this.#context = context;
    const { bodyRateMin, bodyWindowMs } = context.limits;
    const rate = { bytesPerSecond: bodyRateMin, windowMs: bodyWindowMs };
    this.#bodies = new BodyWatch(context.clock, rate);
    for (const method of methods) {
      this.#served.set(servicePath + method.name, {
        method,
        operation: `grpc/${method.name}`,
        kind: messageKindOf(method.request),
        write: method.response === "Response" ? writeResponse : messageWriterOf(method.response),
      });
    }
  }

  close(): void {
    this.#handover.close();
  }

  /** `socket`: its peer is marked. */
  readonly answer = (
    stream: ServerHttp2Stream,
    head: IncomingHttpHeaders,
    socket: Socket,
    rawHeaders: readonly string[],
  ): void => {
    const type = head["content-type"];
    if (head[":method"] !== "POST" || type?.startsWith("application/grpc") !== true) {
      stream.respond({ ":status": head[":method"] === "POST" ? 415 : 405 }, { endStream: true });
      return;
    }
    const path = head[":path"] ?? "";
    const served = this.#served.get(path);
    const fault = findHeadFault(served, path, rawHeaders);
    if (served === undefined || fault !== undefined) {
      endCall(stream, fault ?? unknownMethod(path), this.#context.watch.makeId());
      return;
    }
    void this.#run(served, stream, head, socket);
  };

  /** Never rejects. */
  async #run(
    served: Served,
    stream: ServerHttp2Stream,
    head: IncomingHttpHeaders,
    socket: Socket,
  ): Promise<void> {
    const call = this.#open(served, stream, head, socket);
    const { watched, context } = call;
    this.#pending++;
    try {
      const answer = await this.#answer(served, call, head);
      watched.answerBytes = answer.start.length + (answer.rest?.length ?? 0) - framePrefixBytes;
      sendAnswer(stream, answer, watched.id);
      end(served, call, undefined);
    } catch (error) {
      const ended = statusOf(error, context.logger, {
        id: watched.id,
        runsEngine: served.method.runsEngine ?? false,
      });
      // The owner has recorded what it has seen.
      if (error instanceof OwnerLost) watched.isHandedOver = false;
      if (!(error instanceof CallCut)) endCall(stream, ended, watched.id);
      end(served, call, error instanceof CallCut ? callOff : ended);
    } finally {
      this.#pending--;
      call.hold.end();
      watched.budget?.end();
      context.watch.end(watched);
    }
  }

  #open(
    { method, operation }: Served,
    stream: ServerHttp2Stream,
    head: IncomingHttpHeaders,
    socket: Socket,
  ): Call {
    const context = this.#context;
    const headers = headersOfCall(head);
    const req = { headers, method: "gRPC", url: head[":path"] ?? "", socket };
    const watched = context.watch.begin(req, operation, "");
    return {
      context,
      stream,
      headers,
      address: findRemoteAddress(req),
      isPrivate: peerOf(req).kind === "private",
      debug: textOf(head, "debug") === "true",
      timeoutMs: timeoutOf(head),
      hold: new RequestHold(context.memory),
      watched,
      notes: {},
      right: method.right,
    };
  }

  /** The answer behind its prefix. */
  async #answer(served: Served, call: Call, head: IncomingHttpHeaders): Promise<Framed> {
    const { method } = served;
    // What is wrong with it is told now.
    readTimeoutMs(head);
    const admitted = admitCall(call);
    if (admitted instanceof Promise) await admitted;
    this.#checkServing(method);
    const bytes = await this.#read(served, call, head);
    const message = await readKind(served.kind, bytes, call);
    const judged = judgeExactly(method, message, call);
    if (judged instanceof Promise) await judged;
    const startTs = call.isPrivate ? 0 : method.startTs(message);
    if (startTs !== 0) {
      const found = this.#context.transactions.findOwner(startTs);
      const owner = found instanceof Promise ? await found : found;
      if (owner !== undefined) {
        return await this.#handOver(owner, call, {
          head,
          bytes,
          isLasting: method.mayCommit(message),
        });
      }
    }
    return served.write(await method.answer(message, call));
  }

  #checkServing({ isDrained }: Served["method"]): void {
    const { controls, limits } = this.#context;
    if (isDrained && controls.switches.isDraining) throw new Fault("E_TXN", drainingWords);
    if (this.#pending > limits.pendingMax) {
      const words = "429 Too Many Requests. Please throttle your requests";
      throw new CallRefusal(status.UNKNOWN, words);
    }
  }

  async #read({ method }: Served, call: Call, head: IncomingHttpHeaders): Promise<Buffer> {
    const { acl, limits } = this.#context;
    const { bytesMax, tooLarge } = this.#sizeOf(method);
    const rules = {
      bytesMax,
      tooLarge,
      tooSlow: () => refuseSlow(limits),
      hold: call.hold,
      watch: this.#bodies,
      timeoutMs: Math.max(0, Math.min(messageMs, leftMs(call))),
      encoding: textOf(head, "grpc-encoding") ?? "identity",
    };
    if (acl === undefined || bytesMax <= smallBytesMax) {
      return await readMessage(call.stream, rules);
    }
    const known = acl.identify(call.headers);
    const principal = known instanceof Promise ? await known : known;
    if (principal.refusal === undefined) return await readMessage(call.stream, rules);
    return await readMessage(call.stream, {
      ...rules,
      bytesMax: smallBytesMax,
      tooLarge: () => strangerFault(principal),
    });
  }

  #sizeOf({ size }: Served["method"]): { bytesMax: number; tooLarge: () => Error } {
    const { bodyBytesMax, textBytesMax } = this.#context.limits;
    if (size === "small") {
      const words = `The message is over the ${smallBytesMax} bytes that this method takes`;
      const tooLarge = (): Error => new CallRefusal(status.RESOURCE_EXHAUSTED, words);
      return { bytesMax: smallBytesMax, tooLarge };
    }
    const isText = size === "text" && textBytesMax < bodyBytesMax;
    const bytesMax = isText ? textBytesMax : bodyBytesMax;
    const words = `The message is over the limit of ${bytesMax} bytes`;
    const named = nameLimit(isText ? "text-bytes" : "body-bytes", words);
    return { bytesMax, tooLarge: () => new CallRefusal(status.RESOURCE_EXHAUSTED, named) };
  }

  #handOver(
    owner: string,
    call: Call,
    { head, bytes, isLasting }: { head: IncomingHttpHeaders; bytes: Buffer; isLasting: boolean },
  ): Promise<Framed> {
    const { stream, address, watched } = call;
    watched.isHandedOver = true;
    return this.#handover.send(owner, {
      path: head[":path"] ?? "",
      bytes,
      metadata: head,
      address,
      id: watched.id,
      leftMs: leftMs(call),
      stream,
      mayCommit: isLasting,
    });
  }
}

/** The protocol's own words for a call whose message has not come. */
const callOff: CallStatus = { code: status.CANCELLED, details: "context canceled" };

function findHeadFault(
  served: Served | undefined,
  path: string,
  rawHeaders: readonly string[],
): CallStatus | undefined {
  if (served === undefined) return unknownMethod(path);
  if (weighHead(rawHeaders) <= headBytesMax) return undefined;
  return {
    code: status.RESOURCE_EXHAUSTED,
    details: `The call's metadata are over ${headBytesMax} bytes`,
  };
}

function unknownMethod(path: string): CallStatus {
  const [, service = "", name = ""] = path.split("/");
  const details =
    service === "api.Dgraph"
      ? `unknown method ${name} for service ${service}`
      : `unknown service ${service}`;
  return { code: status.UNIMPLEMENTED, details };
}

/** One that cannot be read is refused where calls are. */
function timeoutOf(head: IncomingHttpHeaders): number {
  try {
    return readTimeoutMs(head);
  } catch {
    return Infinity;
  }
}

function refuseSlow({ bodyRateMin, bodyWindowMs }: GrpcContext["limits"]): Error {
  const text = `The call's message brought less than ${bodyRateMin} bytes a second for ${bodyWindowMs / 1000} seconds`;
  return new CallRefusal(status.DEADLINE_EXCEEDED, nameLimit("body-rate", text));
}

/** Room is made for what becomes of a large message before it is read. */
async function readKind(kind: MessageKind, bytes: Buffer, call: Call): Promise<unknown> {
  const { hold, watched } = call;
  watched.bodyBytes = bytes.length;
  const more = bytes.length <= smallBytesMax ? bytes.length * bytesOfSmall : kind.weigh(bytes);
  if (!hold.tryTake(more)) {
    if (!hold.canHold(more)) {
      const text = `What is made of the message takes ${more} bytes of memory, more than a process has for its requests (--memory)`;
      throw new CallRefusal(status.RESOURCE_EXHAUSTED, text);
    }
    await hold.reserve(more);
  }
  try {
    return kind.read(bytes);
  } catch {
    throw new CallRefusal(status.INTERNAL, "the message cannot be read");
  }
}

/** Of a small message, without looking at it. */
const bytesOfSmall = 8;

function judgeExactly(
  method: Served["method"],
  message: unknown,
  call: Call,
): Promise<void> | void {
  call.watched.text = method.textOf?.(message);
  const exact = method.exact?.(message);
  if (exact === undefined) return undefined;
  call.watched.operation = exact.operation;
  if (exact.right === call.right) return undefined;
  call.right = exact.right;
  return judgeCall(call);
}

/** What is told of a call that has ended. */
function end({ method }: Served, call: Call, ended: CallStatus | undefined): void {
  const { context, headers, address, notes, watched, right } = call;
  watched.status = ended?.code ?? status.OK;
  if (ended !== undefined && watched.refusal === undefined) watched.errors = ended.details;
  if (context.audit === undefined || right.audience === "everyone" || watched.isHandedOver) return;
  const outcome = ended === undefined ? "ok" : notes.refusal === undefined ? "error" : "refused";
  const ms = Math.round((context.clock.tickMs() - watched.startMs) * 10) / 10;
  recordCall(context, {
    watched,
    right,
    headers,
    address,
    method: "gRPC",
    route: servicePath + method.name,
    outcome,
    status: watched.status,
    ms,
    notes,
  });
}
