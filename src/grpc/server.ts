/** The gRPC server of one process: calls of the service `api.Dgraph`, answered by the same engine as HTTP. */
import { Buffer } from "node:buffer";
import type { Socket } from "node:net";
import {
  type handleUnaryCall,
  Server,
  ServerCredentials,
  type ServerUnaryCall,
  status,
} from "@grpc/grpc-js";
import { drainingWords } from "../admin/interface.ts";
import { Fault } from "../model/fault.ts";
import {
  countNamespaceRequest,
  openTls,
  recordCall,
  RequestHold,
  type RouteRight,
  type TlsAcceptor,
  type TlsMaterial,
} from "../http/interface.ts";
import { messageReaderOf, messageWriterOf } from "./api.ts";
import type { Call, GrpcContext, Method } from "./call.ts";
import { commitMethod, queryMethod, runDqlMethod } from "./data-methods.ts";
import { Handover, OwnerLost } from "./handover.ts";
import { addressOf, admitCall, firstSenderKey, headersOfCall, textOf } from "./sender.ts";
import {
  allocateMethod,
  alterMethod,
  createNamespaceMethod,
  dropNamespaceMethod,
  listNamespacesMethod,
  loginMethod,
  versionMethod,
} from "./server-methods.ts";
import { type CallStatus, CallRefusal, statusOf } from "./status.ts";

// oxlint-disable-next-line typescript/no-explicit-any -- each method knows its own message
type AnyMethod = Method<any>;

const methods: readonly AnyMethod[] = [
  queryMethod,
  runDqlMethod,
  commitMethod,
  alterMethod,
  loginMethod,
  versionMethod,
  createNamespaceMethod,
  dropNamespaceMethod,
  listNamespacesMethod,
  allocateMethod,
];

export interface GrpcServer {
  /** Takes over a connection that another process has accepted. `isTls`: it begins with a handshake. */
  accept(socket: Socket, isTls: boolean): void;
  /** For connections to come. */
  reloadTls(material: TlsMaterial): void;
  /** What comes through the socket file is believed to come from a process of this server. */
  listen(path: string): Promise<void>;
  /** Tells clients to call elsewhere, answers what is under way and resolves when nothing is. */
  drain(): Promise<void>;
}

/** Calls under way on one connection. */
const streamsMax = 128;

const metadataBytesMax = 16 * 1024;

/** `tls`: for connections that begin with a handshake; undefined: there are none. */
export function openGrpcServer(context: GrpcContext, tls?: TlsMaterial): GrpcServer {
  const service = new Service(context);
  const open = service.open(false);
  const own = service.open(true);
  const injector = open.createConnectionInjector(ServerCredentials.createInsecure());
  const take = (socket: Socket): void => injector.injectConnection(socket);
  const acceptor: TlsAcceptor | undefined = tls && openTls(tls, take, ["h2"]);
  return {
    accept(socket, isTls) {
      socket.setNoDelay(true);
      if (!isTls) take(socket);
      else if (acceptor === undefined) socket.destroy();
      else acceptor.accept(socket);
      socket.resume();
    },
    reloadTls: (material) => acceptor?.reload(material),
    listen: async (path) => {
      await new Promise<void>((resolve, reject) => {
        own.bindAsync(`unix:${path}`, ServerCredentials.createInsecure(), (error) => {
          if (error === null) resolve();
          else reject(error);
        });
      });
    },
    drain: async () => {
      await Promise.all([shutDown(open), shutDown(own)]);
      service.close();
    },
  };
}

function shutDown(server: Server): Promise<void> {
  return new Promise((resolve) => server.tryShutdown(() => resolve()));
}

/** A message with the bytes that it was: another process may have to read them. */
interface Read {
  readonly message: unknown;
  readonly bytes: Buffer;
}

type Unary = ServerUnaryCall<Read, object>;

class Service {
  readonly #context: GrpcContext;
  readonly #handover = new Handover();
  #pending = 0;

  constructor(context: GrpcContext) {
    this.#context = context;
  }

  /** `isPrivate`: its callers are processes of this server. */
  open(isPrivate: boolean): Server {
    const { bodyBytesMax } = this.#context.limits;
    const server = new Server({
      "grpc.max_receive_message_length": bodyBytesMax,
      "grpc.max_send_message_length": -1,
      "grpc.max_concurrent_streams": streamsMax,
      "grpc.max_metadata_size": metadataBytesMax,
      "grpc.enable_channelz": 0,
    });
    for (const method of methods) this.#add(server, method, isPrivate);
    return server;
  }

  close(): void {
    this.#handover.close();
  }

  #add(server: Server, method: AnyMethod, isPrivate: boolean): void {
    const read = messageReaderOf(method.request);
    const write = messageWriterOf(method.response);
    const handle: handleUnaryCall<Read, object> = (call, answer) => {
      void this.#answer(method, call, isPrivate).then(
        (message) => answer(null, message),
        (error: CallStatus) => answer(error),
      );
    };
    server.register<Read, object>(
      `/api.Dgraph/${method.name}`,
      handle,
      (message) => (Buffer.isBuffer(message) ? message : (write(message) as Buffer)),
      (bytes) => ({ message: read(bytes), bytes }),
      "unary",
    );
  }

  /** Rejects with a status, whatever went wrong. */
  async #answer(method: AnyMethod, unary: Unary, isPrivate: boolean): Promise<object> {
    const context = this.#context;
    const { message } = unary.request;
    const call = openCall(unary, context, isPrivate);
    const right = method.right(message);
    const startMs = context.clock.tickMs();
    let ended: CallStatus | undefined;
    let isHandedOver = false;
    this.#pending++;
    try {
      const sender = { headers: call.headers, address: call.address, isCounted: isPrivate };
      const admitted = admitCall(right, sender, context, ({ kind }) => (call.notes.refusal = kind));
      if (admitted instanceof Promise) await admitted;
      this.#checkServing(method);
      const startTs = isPrivate ? 0 : method.startTs(message);
      const found = startTs === 0 ? undefined : context.transactions.findOwner(startTs);
      const owner = found instanceof Promise ? await found : found;
      isHandedOver = owner !== undefined;
      if (owner === undefined) return await method.answer(message, call);
      return await this.#handOver(owner, method, unary, call);
    } catch (error) {
      ended = statusOf(error, context.logger);
      // The owner has recorded what it has seen.
      if (error instanceof OwnerLost) isHandedOver = false;
      throw ended;
    } finally {
      this.#pending--;
      call.hold.end();
      call.budget?.end();
      if (call.namespace !== undefined && context.metrics !== "off") {
        countNamespaceRequest(call.namespace, call.budget?.work ?? 0, 0);
      }
      const ms = Math.round((context.clock.tickMs() - startMs) * 10) / 10;
      if (!isHandedOver) noteEnd(call, { method, right, ended, ms });
    }
  }

  #checkServing({ isDrained }: AnyMethod): void {
    const { controls, limits } = this.#context;
    if (isDrained && controls.switches.isDraining) throw new Fault("E_TXN", drainingWords);
    if (this.#pending > limits.pendingMax) {
      const words = "429 Too Many Requests. Please throttle your requests";
      throw new CallRefusal(status.UNKNOWN, words);
    }
  }

  #handOver(owner: string, method: AnyMethod, unary: Unary, call: Call): Promise<Buffer> {
    return this.#handover.send(owner, {
      path: unary.getPath(),
      bytes: unary.request.bytes,
      metadata: unary.metadata,
      address: call.address,
      deadlineMs: deadlineOf(unary),
      mayCommit: method.mayCommit(unary.request.message),
    });
  }
}

function deadlineOf(unary: Unary): number {
  const deadline = unary.getDeadline();
  return deadline instanceof Date ? deadline.getTime() : deadline;
}

function openCall(unary: Unary, context: GrpcContext, isPrivate: boolean): Call {
  const { metadata } = unary;
  const deadlineMs = deadlineOf(unary);
  const leftMs = deadlineMs - context.clock.nowMs();
  return {
    context,
    headers: headersOfCall(metadata, unary.getHost()),
    address: isPrivate ? (textOf(metadata, firstSenderKey) ?? "") : addressOf(unary.getPeer()),
    debug: textOf(metadata, "debug") === "true",
    // 0 would say that there is none.
    timeoutMs: deadlineMs === Infinity ? 0 : leftMs === 0 ? -1 : leftMs,
    signal: {
      get aborted() {
        return unary.cancelled;
      },
    },
    hold: new RequestHold(context.memory),
    notes: {},
    budget: undefined,
    namespace: undefined,
  };
}

interface End {
  readonly method: AnyMethod;
  readonly right: RouteRight;
  readonly ended: CallStatus | undefined;
  readonly ms: number;
}

function noteEnd(call: Call, { method, right, ended, ms }: End): void {
  const { context, headers, address, notes } = call;
  if (context.audit === undefined || right.audience === "everyone") return;
  const outcome = ended === undefined ? "ok" : notes.refusal === undefined ? "error" : "refused";
  const route = `/api.Dgraph/${method.name}`;
  const code = ended?.code ?? status.OK;
  recordCall(context, {
    right,
    headers,
    address,
    method: "gRPC",
    route,
    outcome,
    status: code,
    ms,
    notes,
  });
}
