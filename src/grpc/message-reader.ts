/**
 * The message of a call, read once it is known who sends it: bounded, at a least rate, unpacked, and counted as what the
 * process holds. Until then no more than a stream's window of it is taken from the connection.
 */
import { Buffer } from "node:buffer";
import type { ServerHttp2Stream } from "node:http2";
import type { Transform } from "node:stream";
import { createGunzip, createInflate } from "node:zlib";
import type { BodyWatch, RequestHold, Watched } from "../http/interface.ts";
import { CallRefusal, status } from "./status.ts";
import { framePrefixBytes } from "./wire.ts";

interface MessageRules {
  /** Bytes, before and after unpacking. */
  readonly bytesMax: number;
  /** What a message over `bytesMax` is refused with. */
  readonly tooLarge: () => Error;
  /** What one is refused with that comes too slowly. */
  readonly tooSlow: () => Error;
  readonly hold: RequestHold;
  readonly watch: BodyWatch;
  /** In all, for its arrival. */
  readonly timeoutMs: number;
  /** By which the message is packed, where it says that it is. */
  readonly encoding: string;
}

/** Up to this size a message may come as slowly as `timeoutMs` lets it. */
const smallBytesMax = 64 * 1024;

/** The sender has gone before its message was whole: nobody waits for an answer. */
export class CallCut extends Error {}

/** Without its prefix. Rejects with CallCut, CallRefusal, Fault E_OVERLOADED, or what `rules` say. */
export async function readMessage(stream: ServerHttp2Stream, rules: MessageRules): Promise<Buffer> {
  const reader = new MessageReader(stream, rules);
  const message = await reader.whenRead;
  if (!reader.isPacked) return message;
  return await unpack(message, rules);
}

class MessageReader implements Watched {
  readonly whenRead: Promise<Buffer>;
  isPacked = false;
  /** Bytes of the message that came. */
  size = 0;
  markSize = 0;
  markMs = 0;
  readonly #stream: ServerHttp2Stream;
  readonly #rules: MessageRules;
  /** What came of the prefix, while it is not whole. */
  #prefix: Buffer | undefined;
  /** undefined: not told yet. */
  #length: number | undefined;
  /** Of a message that did not come in one piece. */
  #whole: Buffer | undefined;
  #message: Buffer | undefined;
  #isSettled = false;
  readonly #timer: NodeJS.Timeout;
  #resolve: (bytes: Buffer) => void = () => {};
  #reject: (error: unknown) => void = () => {};

  constructor(stream: ServerHttp2Stream, rules: MessageRules) {
    this.#stream = stream;
    this.#rules = rules;
    this.whenRead = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.#timer = setTimeout(() => this.endSlow(), rules.timeoutMs).unref();
    stream.on("data", this.#take);
    stream.once("end", this.#finish);
    stream.once("close", this.#cut);
    if (stream.destroyed) this.#cut();
  }

  get isDry(): boolean {
    return this.#stream.readableLength === 0;
  }

  endSlow(): void {
    this.#fail(this.#rules.tooSlow());
  }

  readonly #take = (chunk: Buffer): void => {
    if (this.#isSettled) return;
    if (this.#length !== undefined) {
      this.#keep(chunk);
      return;
    }
    const bytes = this.#prefix === undefined ? chunk : Buffer.concat([this.#prefix, chunk]);
    if (bytes.length < framePrefixBytes) {
      this.#prefix = bytes;
      return;
    }
    this.#begin(bytes);
  };

  /** `bytes`: the prefix, and what follows it. */
  #begin(bytes: Buffer): void {
    const length = bytes.readUInt32BE(1);
    const { bytesMax, tooLarge, hold, watch } = this.#rules;
    this.isPacked = bytes[0] === 1;
    this.#length = length;
    if (length > bytesMax) {
      this.#fail(tooLarge());
      return;
    }
    const rest = bytes.subarray(framePrefixBytes);
    if (hold.tryTake(length)) {
      if (length > smallBytesMax) watch.add(this);
      this.#keep(rest);
      return;
    }
    // Nothing more is read until it is held, which is not the sender's delay.
    this.#stream.pause();
    hold.reserve(length).then(
      () => {
        if (this.#isSettled) return;
        if (length > smallBytesMax) watch.add(this);
        this.#keep(rest);
        this.#stream.resume();
      },
      (error: unknown) => this.#fail(error),
    );
  }

  #keep(chunk: Buffer): void {
    const length = this.#length ?? 0;
    const size = this.size + chunk.length;
    if (size > length || this.#message !== undefined) {
      if (chunk.length === 0) return;
      this.#fail(new CallRefusal(status.UNIMPLEMENTED, "a call has one message"));
      return;
    }
    if (this.size === 0 && size === length) this.#message = chunk;
    else {
      // Of its own, not of the pool: the system gives its pages as they are written.
      this.#whole ??= Buffer.allocUnsafeSlow(length);
      chunk.copy(this.#whole, this.size);
      if (size === length) this.#message = this.#whole;
    }
    this.size = size;
  }

  readonly #finish = (): void => {
    if (this.#isSettled) return;
    if (this.#stream.aborted) {
      this.#cut();
    } else if (this.#message === undefined) {
      this.#fail(new CallRefusal(status.INTERNAL, "the call ended before its message"));
    } else {
      this.#settle();
      this.#resolve(this.#message);
    }
  };

  readonly #cut = (): void => {
    if (!this.#isSettled) this.#fail(new CallCut("the call broke off"));
  };

  #settle(): void {
    this.#isSettled = true;
    clearTimeout(this.#timer);
    if ((this.#length ?? 0) > smallBytesMax) this.#rules.watch.remove(this);
  }

  #fail(error: unknown): void {
    if (this.#isSettled) return;
    this.#settle();
    this.#whole = undefined;
    this.#stream.pause();
    this.#reject(error);
  }
}

/** As it comes: a small message may become a thousand times as large. */
async function unpack(packed: Buffer, rules: MessageRules): Promise<Buffer> {
  const { bytesMax, tooLarge, hold, encoding } = rules;
  const unpacker = makeUnpacker(encoding);
  unpacker.end(packed);
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of unpacker as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > bytesMax) throw tooLarge();
      if (!hold.tryTake(chunk.length)) await hold.reserve(chunk.length);
      chunks.push(chunk);
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined || !code.startsWith("Z_")) throw error;
    throw new CallRefusal(status.INTERNAL, "the message cannot be unpacked");
  }
  return Buffer.concat(chunks, size);
}

function makeUnpacker(encoding: string): Transform {
  const options = { chunkSize: 128 * 1024 };
  if (encoding === "gzip") return createGunzip(options);
  if (encoding === "deflate") return createInflate(options);
  const words = `messages packed with "${encoding}" are not read`;
  throw new CallRefusal(status.UNIMPLEMENTED, words, {
    "grpc-accept-encoding": "identity,deflate,gzip",
  });
}
