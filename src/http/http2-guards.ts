/** Bounds on what a connection of HTTP/2 may ask for, whatever is spoken on it. */
import { constants, type ServerHttp2Session, type ServerOptions } from "node:http2";
import type { Clock } from "../base/clock.ts";

/** Requests under way on one connection. */
const streamsMax = 128;
/** Bytes of a head, and its fields: as for HTTP/1.1. */
export const headBytesMax = 16 * 1024;
const headFieldsMax = 256;
/** Bytes that may be on their way to this process: on one stream, and on all of a connection. */
const streamWindow = 256 * 1024;
const connectionWindow = 1024 * 1024;
/** Mebibytes of one connection's state. */
const memoryMb = 8;

/** Streams that are refused, settings, pings and heads. */
export const http2Bounds: ServerOptions = {
  maxSessionMemory: memoryMb,
  maxHeaderListPairs: headFieldsMax,
  maxSendHeaderBlockLength: headBytesMax,
  maxOutstandingPings: 10,
  maxSettings: 32,
  maxSessionInvalidFrames: 50,
  maxSessionRejectedStreams: 50,
  settings: {
    maxConcurrentStreams: streamsMax,
    maxHeaderListSize: headBytesMax,
    initialWindowSize: streamWindow,
    enablePush: false,
  },
};

/**
 * Requests that a connection may call off in a second, beyond those that it was answered in it: each costs the work
 * that was begun, and nothing to whoever sends it.
 */
const resetsMax = 100;
const resetsMs = 1_000;

/** A client is bound by what it was told, once it has said that it knows. */
export function weighHead(raw: readonly string[]): number {
  let bytes = 0;
  for (const text of raw) bytes += text.length;
  return bytes;
}

/** What the options of a server do not say. */
export function guardSession(session: ServerHttp2Session, clock: Clock): void {
  session.setLocalWindowSize(connectionWindow);
  let count = 0;
  let sinceMs = 0;
  session.on("stream", (stream) => {
    stream.once("close", () => {
      if (stream.rstCode === constants.NGHTTP2_NO_ERROR) return;
      const nowMs = clock.tickMs();
      if (nowMs - sinceMs > resetsMs) {
        sinceMs = nowMs;
        count = 0;
      }
      if (++count > resetsMax) session.destroy(undefined, constants.NGHTTP2_ENHANCE_YOUR_CALM);
    });
  });
}
