/** The writer's side of the link: other processes' changes come in, answers and notices go out. */
import * as fs from "node:fs";
import * as net from "node:net";
import { must } from "../../base/assert.ts";
import { concatBytes } from "../../base/bytes.ts";
import { encodeFrame, FrameCutter } from "../../base/frames.ts";
import type { Logger } from "../../base/log.ts";
import type { Committer } from "../commit/committer.ts";
import { openLinkAddress } from "./link-address.ts";
import type { Compaction, FileReader } from "./compaction.ts";
import {
  decodeHello,
  decodeNumbers,
  encodeError,
  encodeHello,
  encodeNumbers,
  frameKind,
  type LinkFrame,
  type FrameKind,
  linkFrameBytesMax,
} from "./link-protocol.ts";
import { LinkSession, type SessionAnswer } from "./link-session.ts";
import type { SlotKeeper } from "./slot-keeper.ts";

interface LinkServerOptions {
  readonly storeId: string;
  readonly committer: Committer;
  readonly slots: SlotKeeper;
  readonly compaction: Compaction;
  readonly logger: Logger;
}

/** Listens, so that other writers see that this one is there; those who connect wait until it serves. */
export interface LinkListener {
  /** Once: this, or `serveWith`. */
  serve(options: LinkServerOptions): void;
  /** What becomes of each process that connects, paused: it is told to `take`. */
  serveWith(take: (socket: net.Socket) => void): void;
  /** The processes that are linked, of those that `serve` has let in. */
  readonly readers: readonly FileReader[];
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
  const serveWith = (take: (socket: net.Socket) => void): void => {
    serveOne = take;
    for (const socket of early) take(socket);
    early.clear();
  };
  return {
    serveWith,
    get readers() {
      return [...connections];
    },
    serve: (options) => {
      stopNotices = options.committer.onCommit((commitTs) => {
        for (const connection of connections) connection.notify(commitTs);
      });
      serveWith((socket) => {
        const connection = new Connection(socket, options);
        connections.add(connection);
        socket.once("close", () => connections.delete(connection));
        socket.resume();
      });
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
const prepareMsMax = 1000;

class Connection implements FileReader {
  private readonly socket: net.Socket;
  private readonly options: LinkServerOptions;
  private readonly cutter = new FrameCutter<FrameKind>(linkFrameBytesMax);
  private isWelcome = false;
  private readonly session: LinkSession;
  private resume: () => void = () => {};
  /** Who waits for what the process says of the copy. */
  private heard: (isSound: boolean) => void = () => {};
  private asked: FrameKind | undefined = undefined;
  /** Frames that were not written yet. */
  private waiting: Uint8Array[] = [];

  constructor(socket: net.Socket, options: LinkServerOptions) {
    this.socket = socket;
    this.options = options;
    this.session = new LinkSession(options);
    socket.on("data", (piece: Buffer) => {
      if (!this.cutter.push(piece, (frame) => this.take(frame))) socket.destroy();
    });
    socket.on("error", () => socket.destroy());
    socket.once("close", () => {
      this.resume();
      this.heard(true);
      options.compaction.cancel(this);
      this.session.leave();
    });
  }

  prepareFile(): Promise<boolean> {
    return this.tellOfFile(frameKind.prepareFile, frameKind.filePrepared, prepareMsMax);
  }

  async useFile(): Promise<void> {
    await this.tellOfFile(frameKind.useFile, frameKind.fileUsed);
  }

  forgetFile(): void {
    if (this.isWelcome) this.send(frameKind.forgetFile, 0, encodeNumbers());
  }

  /** What the process says to it; true, too, when it is gone. */
  private tellOfFile(kind: FrameKind, answer: FrameKind, waitMs?: number): Promise<boolean> {
    if (!this.isWelcome || this.socket.destroyed) return Promise.resolve(true);
    this.asked = answer;
    return new Promise((resolve) => {
      const timer = waitMs === undefined ? undefined : setTimeout(() => this.heard(false), waitMs);
      this.heard = (isSound) => {
        clearTimeout(timer);
        this.heard = () => {};
        resolve(isSound);
      };
      this.send(kind, 0, encodeNumbers());
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
    if (frame.kind === frameKind.filePrepared || frame.kind === frameKind.fileUsed) {
      // What comes late is not taken for what was asked since.
      if (frame.kind === this.asked) this.heard(decodeNumbers(frame.payload)[0] === 1);
      return;
    }
    void this.serve(frame).then(({ kind, payload }) => this.send(kind, frame.request, payload));
  }

  private welcome(frame: LinkFrame): void {
    const { storeId, committer } = this.options;
    const hello = frame.kind === frameKind.hello ? decodeHello(frame.payload) : undefined;
    if (hello === undefined || hello.storeId !== storeId) {
      this.socket.destroy();
      return;
    }
    this.isWelcome = true;
    if (hello.slot !== undefined) this.session.rejoin(hello.slot);
    const { slot } = this.session;
    this.send(frameKind.welcome, frame.request, encodeHello({ storeId, slot }));
    this.notify(committer.commitTs);
  }

  private async serve({ kind, payload }: LinkFrame): Promise<SessionAnswer> {
    if (kind === frameKind.pause) await this.pause();
    else if (kind === frameKind.resume) this.resume();
    else if (kind === frameKind.compactBegin || kind === frameKind.compactExchange) {
      return await this.compact(kind, payload);
    } else return this.session.answer(kind, payload);
    return { kind: frameKind.answer, payload: encodeNumbers() };
  }

  /** Never rejects, as a session's answers. */
  private async compact(kind: FrameKind, payload: Uint8Array): Promise<SessionAnswer> {
    const { compaction } = this.options;
    try {
      if (kind === frameKind.compactBegin) {
        compaction.begin(this);
        return { kind: frameKind.answer, payload: encodeNumbers() };
      }
      const [applied] = decodeNumbers(payload);
      const { isDone, bytes } = await compaction.exchange(this, must(applied, "it says how many"));
      return { kind: frameKind.answer, payload: encodeNumbers(isDone ? 1 : 0, bytes) };
    } catch (error) {
      return encodeError(error);
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
