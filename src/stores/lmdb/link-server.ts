/** The writer's side of the link: other processes' changes come in, answers and notices go out. */
import { must } from "../../base/assert.ts";
import * as fs from "node:fs";
import * as net from "node:net";
import { ByteReader, concatBytes } from "../../base/bytes.ts";
import type { Logger } from "../../base/log.ts";
import { readChange } from "../../store/patch-codec.ts";
import { StoreRefusal } from "../../store/store.ts";
import type { Committer } from "../commit/committer.ts";
import { openLinkAddress } from "./link-address.ts";
import {
  decodeFill,
  decodeHello,
  decodeNumbers,
  decodeSweep,
  encodeError,
  encodeFrame,
  encodeHello,
  encodeNumbers,
  FrameCutter,
  frameKind,
  type LinkFrame,
  type FrameKind,
} from "./link-protocol.ts";
import type { SlotKeeper, SlotToken } from "./slot-keeper.ts";

interface LinkServerOptions {
  readonly storeId: string;
  readonly committer: Committer;
  readonly slots: SlotKeeper;
  readonly logger: Logger;
}

/** Listens, so that other writers see that this one is there; those who connect wait until it serves. */
export interface LinkListener {
  /** Once. */
  serve(options: LinkServerOptions): void;
  close(): Promise<void>;
}

/** The claim for writing must be held: a socket file that lies there is a dead writer's. */
export async function openLinkListener(dir: string): Promise<LinkListener> {
  const address = openLinkAddress(dir);
  fs.rmSync(address.path, { force: true });
  const connections = new Set<Connection>();
  const early = new Set<net.Socket>();
  let serveOne: ((socket: net.Socket) => void) | undefined;
  let stopNotices = (): void => {};
  const server = net.createServer({ pauseOnConnect: true }, (socket) => {
    if (serveOne !== undefined) {
      serveOne(socket);
      return;
    }
    early.add(socket);
    socket.on("error", () => early.delete(socket));
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen({ path: address.path, exclusive: true }, resolve);
  });
  fs.chmodSync(address.path, 0o600);
  return {
    serve: (options) => {
      serveOne = (socket) => {
        const connection = new Connection(socket, options);
        connections.add(connection);
        socket.once("close", () => connections.delete(connection));
        socket.resume();
      };
      stopNotices = options.committer.onCommit((commitTs) => {
        for (const connection of connections) connection.notify(commitTs);
      });
      for (const socket of early) serveOne(socket);
      early.clear();
    },
    close: async () => {
      stopNotices();
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const socket of early) socket.destroy();
      for (const connection of connections) connection.end();
      await closed;
      address.close();
    },
  };
}

/** Opening takes a millisecond or two. */
const pauseMsMax = 2000;

class Connection {
  private readonly socket: net.Socket;
  private readonly options: LinkServerOptions;
  private readonly cutter = new FrameCutter();
  private isWelcome = false;
  private slot: SlotToken | undefined = undefined;
  private resume: () => void = () => {};
  /** Frames that were not written yet. */
  private waiting: Uint8Array[] = [];

  constructor(socket: net.Socket, options: LinkServerOptions) {
    this.socket = socket;
    this.options = options;
    socket.on("data", (piece: Buffer) => {
      if (!this.cutter.push(piece, (frame) => this.take(frame))) socket.destroy();
    });
    socket.on("error", () => socket.destroy());
    socket.once("close", () => {
      this.resume();
      if (this.slot !== undefined) options.slots.leave(this.slot, this);
      this.slot = undefined;
    });
  }

  notify(commitTs: number): void {
    if (this.isWelcome) this.send(frameKind.notice, 0, encodeNumbers(commitTs));
  }

  end(): void {
    this.flush();
    this.socket.end();
    setTimeout(() => this.socket.destroy(), 500).unref();
  }

  private take(frame: LinkFrame): void {
    if (!this.isWelcome) {
      this.welcome(frame);
      return;
    }
    this.serve(frame).then(
      (payload) => this.send(frameKind.answer, frame.request, payload),
      (error: unknown) => {
        const { kind, payload } = encodeError(error);
        this.send(kind, frame.request, payload);
      },
    );
  }

  private welcome(frame: LinkFrame): void {
    const { storeId, slots, committer } = this.options;
    const hello = frame.kind === frameKind.hello ? decodeHello(frame.payload) : undefined;
    if (hello === undefined || hello.storeId !== storeId) {
      this.socket.destroy();
      return;
    }
    this.isWelcome = true;
    if (hello.slot !== undefined && slots.rejoin(hello.slot, this)) this.slot = hello.slot;
    this.send(frameKind.welcome, frame.request, encodeHello({ storeId, slot: this.slot }));
    this.notify(committer.commitTs);
  }

  private async serve({ kind, payload }: LinkFrame): Promise<Uint8Array> {
    const { committer, slots } = this.options;
    switch (kind) {
      case frameKind.commit: {
        const reader = new ByteReader(payload);
        const sentAfter = reader.varint();
        const isResent = reader.u8() === 1;
        const change = readChange(reader);
        if (change.id.floorTs === 0) throw new StoreRefusal("slot");
        const { commitTs } = await committer.commit(change, isResent ? sentAfter : undefined);
        return encodeNumbers(commitTs);
      }
      case frameKind.lease:
        return encodeNumbers(await committer.lease(firstNumber(payload)));
      case frameKind.reserve:
        await committer.reserve(firstNumber(payload));
        return encodeNumbers(committer.nextUid);
      case frameKind.fill: {
        const { after, done, tookMs } = await committer.fill(decodeFill(payload));
        return encodeNumbers(after, done ? 1 : 0, Math.ceil(tookMs));
      }
      case frameKind.sweep:
        return encodeNumbers((await committer.sweep(decodeSweep(payload))).done ? 1 : 0);
      case frameKind.claimSlot: {
        const token = await slots.join(this);
        // A process has one: it gives back what it had.
        if (this.slot !== undefined) slots.leave(this.slot, this);
        this.slot = token;
        if (this.socket.destroyed) slots.leave(token, this);
        return encodeNumbers(token.slot, token.floorTs);
      }
      case frameKind.pause:
        await this.pause();
        return encodeNumbers();
      case frameKind.resume:
        this.resume();
        return encodeNumbers();
      default:
        throw new Error("unknown request");
    }
  }

  /** Until it asks to go on, or is gone, or has taken too long: a process that stands still stops nobody else. */
  private async pause(): Promise<void> {
    const { committer, logger } = this.options;
    this.resume();
    const goOn = await committer.pause();
    if (this.socket.destroyed) {
      goOn();
      return;
    }
    const timer = setTimeout(() => {
      logger.warn("a process takes long to open the store; commits go on", { ms: pauseMsMax });
      this.resume();
    }, pauseMsMax);
    this.resume = () => {
      clearTimeout(timer);
      goOn();
    };
  }

  /**
   * What a group of changes gives to say, its notice and all its answers, leaves in one write: after the microtasks in
   * which the answers come. Each write wakes the process at the other end.
   */
  private send(kind: FrameKind, request: number, payload: Uint8Array): void {
    if (this.socket.destroyed) return;
    this.waiting.push(encodeFrame(kind, request, payload));
    if (this.waiting.length === 1) queueMicrotask(this.flushSoon);
  }

  private readonly flushSoon = (): void => process.nextTick(this.flush);

  private readonly flush = (): void => {
    const { waiting } = this;
    const [first] = waiting;
    if (first === undefined) return;
    this.waiting = [];
    if (this.socket.destroyed) return;
    this.socket.write(waiting[1] === undefined ? first : concatBytes(...waiting));
  };
}

function firstNumber(payload: Uint8Array): number {
  return must(decodeNumbers(payload)[0], "the request has a number");
}
