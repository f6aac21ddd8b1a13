/** How a call is written on a stream of HTTP/2: a head, a message behind five bytes of its own, a status in trailers. */
import { Buffer } from "node:buffer";
import { type IncomingHttpHeaders, sensitiveHeaders, type ServerHttp2Stream } from "node:http2";
import { largeAnswers } from "../http/interface.ts";
import { CallRefusal, type CallStatus, status } from "./status.ts";

/** One byte that says whether the message is packed, and four of its length. */
export const framePrefixBytes = 5;

export const contentType = "application/grpc+proto";

/** Up to this size an answer leaves in one piece; larger ones are counted until they have left (`large-answers.ts`). */
const wholeBytesMax = 4 * 1024;

/** Of the words of an error as they travel: clients refuse heads of more than 8 KB. */
const wordsBytesMax = 6_000;

/** Of a value that never comes again the connection's table of headers keeps nothing: a tenth of a small answer. */
const unique = ["x-request-id"];

const withTrailers = { waitForTrailers: true, sendDate: false };

const trailersOfSuccess = { "grpc-status": "0" };

/** A message behind its prefix. `rest`: its end, which stays where it is. */
export interface Framed {
  readonly start: Buffer;
  readonly rest: Uint8Array | undefined;
}

export function frame(message: Uint8Array, rest?: Uint8Array): Framed {
  const start = Buffer.allocUnsafe(framePrefixBytes + message.length);
  start[0] = 0;
  start.writeUInt32BE(message.length + (rest?.length ?? 0), 1);
  start.set(message, framePrefixBytes);
  return { start, rest };
}

/** `id`: of the request. */
export function sendAnswer(stream: ServerHttp2Stream, { start, rest }: Framed, id: string): void {
  if (stream.destroyed || stream.headersSent) return;
  stream.respond(
    { ":status": 200, "content-type": contentType, "x-request-id": id, [sensitiveHeaders]: unique },
    withTrailers,
  );
  stream.once("wantTrailers", () => stream.sendTrailers(trailersOfSuccess));
  if (rest === undefined) {
    end(stream, start);
    return;
  }
  stream.cork();
  stream.write(start);
  end(stream, rest);
  stream.uncork();
}

function end(stream: ServerHttp2Stream, bytes: Uint8Array): void {
  if (bytes.length <= wholeBytesMax) stream.end(bytes);
  else largeAnswers.end(stream, Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
}

/** A status without a message. What of the call's message has not come is not waited for. */
export function endCall(stream: ServerHttp2Stream, ended: CallStatus, id: string): void {
  if (stream.destroyed || stream.headersSent) return;
  stream.respond(
    {
      ":status": 200,
      "content-type": contentType,
      "x-request-id": id,
      "grpc-status": String(ended.code),
      "grpc-message": escapeWords(ended.details),
      ...ended.metadata,
    },
    { endStream: true },
  );
  if (!stream.readableEnded) stream.close();
}

/** What is printable ASCII stands for itself. */
function escapeWords(text: string): string {
  let words = "";
  for (const byte of Buffer.from(text)) {
    const isPlain = byte >= 0x20 && byte <= 0x7e && byte !== 0x25;
    words += isPlain ? String.fromCharCode(byte) : `%${byte.toString(16).padStart(2, "0")}`;
    if (words.length >= wordsBytesMax) break;
  }
  return words;
}

export function unescapeWords(words: string): string {
  try {
    return decodeURIComponent(words);
  } catch {
    return words;
  }
}

const timeoutPattern = /^(?<count>\d{1,8})(?<unit>[HMSmun])$/;

const unitMs: Readonly<Record<string, number>> = {
  H: 3_600_000,
  M: 60_000,
  S: 1_000,
  m: 1,
  u: 1e-3,
  n: 1e-6,
};

/** Milliseconds that the client gives its call; Infinity: it waits for ever. Throws CallRefusal. */
export function readTimeoutMs(headers: IncomingHttpHeaders): number {
  const text = headers["grpc-timeout"];
  if (text === undefined) return Infinity;
  const { count = "", unit = "" } = timeoutPattern.exec(String(text))?.groups ?? {};
  const factor = unitMs[unit];
  if (factor !== undefined) return Number(count) * factor;
  throw new CallRefusal(status.INTERNAL, `malformed grpc-timeout: "${String(text)}"`);
}

/** For a call that is handed over; undefined where nothing is said. */
export function printTimeout(ms: number): string | undefined {
  if (ms === Infinity) return undefined;
  const micros = Math.max(0, Math.ceil(ms * 1000));
  return micros < 1e8 ? `${micros}u` : `${Math.min(99_999_999, Math.ceil(ms))}m`;
}
