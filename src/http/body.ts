/** Request bodies: bounded, at a least rate, unpacked, and counted as what the process holds. */
import { Buffer } from "node:buffer";
import type { IncomingMessage } from "node:http";
import type { Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { Fault } from "../model/fault.ts";
import type { BodyWatch, Watched } from "./body-watch.ts";
import { BodyWeight, formOf, weighSmall } from "./body-weight.ts";
import type { RequestHold } from "./request-hold.ts";

/** A body over its limit; the message says which. The connection cannot be used any further: what follows is not read. */
export class BodyTooLarge extends Error {
  override readonly name = "BodyTooLarge";
}

/** The sender went away before the end: nobody waits for an answer. */
export class BodyCut extends Error {
  override readonly name = "BodyCut";
}

/** The body comes too slowly. */
export class BodySlow extends Error {
  override readonly name = "BodySlow";
}

/** How faulty compression is told: the native endpoints and GraphQL have their own words. */
export interface EncodingFaults {
  readonly unknown: () => Fault;
  readonly broken: (error: Error) => Fault;
}

export const nativeEncodingFaults: EncodingFaults = {
  unknown: () => new Fault("E_CONTENT_ENCODING", "Unsupported content encoding"),
  broken: () => new Fault("E_HTTP_ERROR", "Unable to create decompressor"),
};

interface BodyRules {
  /** Bytes, before and after unpacking. */
  readonly bytesMax: number;
  /** What a body over `bytesMax` is refused with. */
  readonly tooLarge: () => Error;
  readonly faults: EncodingFaults;
  readonly hold: RequestHold;
  readonly watch: BodyWatch;
}

/** Up to this size a body is weighed by its size alone, and may come as slowly as the server's request timeout lets it. */
const smallBytesMax = 64 * 1024;

/**
 * The whole body, unpacked. What it takes is held before it is read where its length is known, in steps where it is not;
 * what will be made of it is held before this resolves. Rejects with BodyTooLarge, BodyCut, BodySlow, Fault
 * E_OVERLOADED, or what `rules` say.
 */
export function readBody(req: IncomingMessage, rules: BodyRules): Promise<Buffer> {
  const declared = req.headers["content-length"];
  const length = declared === undefined ? undefined : Number(declared);
  if (length !== undefined && length > rules.bytesMax) return Promise.reject(rules.tooLarge());
  const encoding = req.headers["content-encoding"];
  if (encoding === undefined || encoding === "identity" || encoding === "") {
    if (length === undefined) return new BodyReader(req, rules, { isPacked: false }).whenRead;
    const known = { isPacked: false, length };
    if (rules.hold.tryTake(length)) return new BodyReader(req, rules, known).whenRead;
    return rules.hold.reserve(length).then(() => new BodyReader(req, rules, known).whenRead);
  }
  if (encoding !== "gzip") return Promise.reject(rules.faults.unknown());
  return new BodyReader(req, rules, { isPacked: true }).whenRead;
}

interface BodyShape {
  readonly isPacked: boolean;
  /** Held already. */
  readonly length?: number;
}

class BodyReader implements Watched {
  readonly whenRead: Promise<Buffer>;
  /** Bytes that came, packed or not. */
  size = 0;
  markSize = 0;
  markMs = 0;
  readonly #req: IncomingMessage;
  readonly #rules: BodyRules;
  readonly #isHeld: boolean;
  /** Of a large body whose length is known: what comes is written into it. */
  #whole: Buffer | undefined;
  readonly #weight: BodyWeight | undefined;
  /** What the bytes come from, unpacked. */
  readonly #source: Readable;
  #first: Buffer | undefined;
  #chunks: Buffer[] | undefined;
  #unpackedSize = 0;
  #isSettled = false;
  #resolve: (bytes: Buffer) => void = () => {};
  #reject: (error: unknown) => void = () => {};

  constructor(req: IncomingMessage, rules: BodyRules, { isPacked, length }: BodyShape) {
    this.#req = req;
    this.#rules = rules;
    this.#isHeld = length !== undefined;
    if (length === undefined || length > smallBytesMax) {
      this.#weight = new BodyWeight(formOf(req));
      rules.watch.add(this);
      // Of its own, not of the pool: the system gives its pages as they are written.
      if (length !== undefined) this.#whole = Buffer.allocUnsafeSlow(length);
    }
    this.whenRead = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.#source = isPacked ? this.#unpack(req) : req;
    this.#source.on("data", (chunk: Buffer) => {
      if (!isPacked) this.size += chunk.length;
      this.#keep(chunk);
    });
    this.#source.on("end", () => {
      // The end of a stream of HTTP/2 may be that it was broken off.
      if (req.complete) this.#finish();
      else this.#fail(new BodyCut("the request broke off"));
    });
    req.on("error", () => this.#fail(new BodyCut("the request broke off")));
    req.on("close", () => {
      if (!req.complete) this.#fail(new BodyCut("the request broke off"));
    });
  }

  get isDry(): boolean {
    return !this.#req.complete && this.#req.readableLength === 0;
  }

  endSlow(): void {
    this.#fail(new BodySlow("the body comes too slowly"));
  }

  /** As it comes: a small body may become a thousand times as large. */
  #unpack(req: IncomingMessage): Readable {
    const gunzip = createGunzip({ chunkSize: 128 * 1024 });
    req.on("data", (chunk: Buffer) => (this.size += chunk.length));
    req.on("end", () => this.#rules.watch.remove(this));
    gunzip.on("error", (error) => this.#fail(this.#rules.faults.broken(error)));
    return req.pipe(gunzip);
  }

  #keep(chunk: Buffer): void {
    if (this.#isSettled) return;
    const offset = this.#unpackedSize;
    this.#unpackedSize += chunk.length;
    if (this.#unpackedSize > this.#rules.bytesMax) {
      this.#fail(this.#rules.tooLarge());
      return;
    }
    if (!this.#isHeld && !this.#rules.hold.tryTake(chunk.length)) this.#waitFor(chunk.length);
    this.#weight?.add(chunk);
    if (this.#whole !== undefined) chunk.copy(this.#whole, offset);
    else if (this.#first === undefined) this.#first = chunk;
    else if (this.#chunks === undefined) this.#chunks = [this.#first, chunk];
    else this.#chunks.push(chunk);
  }

  /** Nothing more is read until what came is held, which is not the sender's delay. */
  #waitFor(bytes: number): void {
    const { hold, watch } = this.#rules;
    this.#source.pause();
    watch.remove(this);
    hold.reserve(bytes).then(
      () => {
        if (this.#isSettled) return;
        this.markMs = 0;
        if (!this.#req.readableEnded) watch.add(this);
        this.#source.resume();
      },
      (error: unknown) => this.#fail(error),
    );
  }

  #finish(): void {
    if (this.#isSettled) return;
    const { watch, hold } = this.#rules;
    if (this.#weight !== undefined) watch.remove(this);
    const more = this.#weight?.bytes ?? weighSmall(this.#unpackedSize);
    if (hold.tryTake(more)) this.#settle();
    else if (hold.canHold(more)) {
      hold.reserve(more).then(
        () => this.#settle(),
        (error: unknown) => this.#fail(error),
      );
    } else {
      const text = `What is made of the request's body takes ${more} bytes of memory, more than a process has for its requests (--memory)`;
      this.#fail(new BodyTooLarge(text));
    }
  }

  #settle(): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    if (this.#whole !== undefined) this.#resolve(this.#whole);
    else if (this.#chunks === undefined) this.#resolve(this.#first ?? Buffer.alloc(0));
    else this.#resolve(Buffer.concat(this.#chunks, this.#unpackedSize));
  }

  #fail(error: unknown): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    this.#rules.watch.remove(this);
    this.#whole = this.#first = this.#chunks = undefined;
    this.#req.pause();
    if (this.#source !== this.#req) {
      this.#req.unpipe();
      this.#source.destroy();
    }
    this.#reject(error);
  }
}
