/** Request bodies: bounded, and unpacked. */
import { Buffer } from "node:buffer";
import type { IncomingMessage } from "node:http";
import { gunzip } from "node:zlib";
import { Fault } from "../model/fault.ts";

/** A body over its limit. The connection cannot be used any further: what follows is not read. */
export class BodyTooLarge extends Error {
  override readonly name = "BodyTooLarge";
}

/** The sender went away before the end: nobody waits for an answer. */
export class BodyCut extends Error {
  override readonly name = "BodyCut";
}

/** How faulty compression is told: the native endpoints and GraphQL have their own words. */
export interface EncodingFaults {
  readonly unknown: () => Fault;
  readonly broken: (error: Error) => Fault;
}

export const nativeEncodingFaults: EncodingFaults = {
  unknown: () => new Fault("E_HTTP_REQUEST", "Unsupported content encoding"),
  broken: () => new Fault("E_HTTP_ERROR", "Unable to create decompressor"),
};

/** The whole body, unpacked, at most `bytesMax` bytes before and after. */
export function readBody(
  req: IncomingMessage,
  bytesMax: number,
  faults: EncodingFaults,
): Promise<Buffer> {
  const declared = req.headers["content-length"];
  if (declared !== undefined && Number(declared) > bytesMax) {
    return Promise.reject(new BodyTooLarge(`${bytesMax}`));
  }
  const packed = collect(req, bytesMax);
  const encoding = req.headers["content-encoding"];
  if (encoding === undefined || encoding === "identity" || encoding === "") return packed;
  return packed.then((bytes) => {
    if (encoding !== "gzip") throw faults.unknown();
    return unpack(bytes, bytesMax, faults);
  });
}

function collect(req: IncomingMessage, bytesMax: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    let first: Buffer | undefined;
    let chunks: Buffer[] | undefined;
    let size = 0;
    req.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size > bytesMax) {
        req.pause();
        reject(new BodyTooLarge(`${bytesMax}`));
      } else if (first === undefined) first = chunk;
      else if (chunks === undefined) chunks = [first, chunk];
      else chunks.push(chunk);
    });
    req.on("end", () => {
      resolve(chunks === undefined ? (first ?? Buffer.alloc(0)) : Buffer.concat(chunks, size));
    });
    req.on("error", () => reject(new BodyCut("the request broke off")));
    req.on("close", () => {
      if (!req.complete) reject(new BodyCut("the request broke off"));
    });
  });
}

function unpack(packed: Buffer, bytesMax: number, faults: EncodingFaults): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    gunzip(packed, { maxOutputLength: bytesMax }, (error, bytes) => {
      if (error === null) resolve(bytes);
      else if ((error as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE") {
        reject(new BodyTooLarge(`${bytesMax}`));
      } else reject(faults.broken(error));
    });
  });
}
