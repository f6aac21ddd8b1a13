/**
 * Hot: heads of the answers that nearly all requests get, made as one string. `writeHead` looks at each name and value
 * anew for each answer, and `end` then writes head, body and nothing as three pieces: together a twentieth of what a
 * small read costs (decision 0162). Here the names and values that stand on every answer were looked at when the process
 * started, and head and body leave as one piece.
 *
 * Node has no public way to write a head that is made: `_header` is where `writeHead` leaves it and `end` finds it, in
 * every release since 0.12. A test holds both ways to the same bytes; where the fields are not there, or the answer is
 * anything out of the ordinary, `writeHead` is used.
 */
import type { ServerResponse } from "node:http";
import { systemClock } from "../base/clock.ts";

/** What `writeHead` sets, and `end` writes. */
interface HeadFields {
  _header: string | null;
  _headerSent: boolean;
  readonly _hasBody: boolean;
  readonly _defaultKeepAlive: boolean;
  readonly _keepAliveTimeout: number;
  readonly _removedConnection: boolean;
  readonly _expect_continue: boolean;
  readonly maxRequestsOnConnectionReached: boolean;
  shouldKeepAlive: boolean;
}

interface Head {
  /** Flat, as for `writeHead`; the same array for every answer with the same ones. */
  readonly common: readonly string[];
  /** Flat: those of this answer. */
  readonly own: readonly string[];
  readonly length: number;
}

let dateSecond = 0;
let dateLine = "";

/** RFC 9110 6.6.1, to the second. */
function dateOf(nowMs: number): string {
  const second = Math.floor(nowMs / 1000);
  if (second !== dateSecond) {
    dateSecond = second;
    dateLine = `Date: ${new Date(nowMs).toUTCString()}\r\n`;
  }
  return dateLine;
}

function printHeaders(flat: readonly string[]): string {
  let text = "";
  for (let i = 0; i + 1 < flat.length; i += 2) text += `${flat[i]}: ${flat[i + 1]}\r\n`;
  return text;
}

const printed = new WeakMap<readonly string[], string>();

function printCommon(common: readonly string[]): string {
  let text = printed.get(common);
  if (text === undefined) {
    text = `HTTP/1.1 200 OK\r\n${printHeaders(common)}`;
    printed.set(common, text);
  }
  return text;
}

/** Neither ends a line, nor is anything but one byte. */
function isPlain(flat: readonly string[]): boolean {
  for (let i = 0; i < flat.length; i++) {
    const text = flat[i] ?? "";
    for (let k = 0; k < text.length; k++) {
      const code = text.charCodeAt(k);
      if (code < 0x20 || code > 0x7e) return false;
    }
  }
  return true;
}

/** Of one who asked by HTTP/1.1 for a body, and whose connection stays. */
function isOrdinary(res: ServerResponse): res is ServerResponse & HeadFields {
  const fields: Partial<HeadFields> = res;
  return (
    fields._header === null &&
    fields._headerSent === false &&
    fields._hasBody === true &&
    fields._defaultKeepAlive === true &&
    fields._removedConnection === false &&
    fields._expect_continue !== true &&
    fields.maxRequestsOnConnectionReached !== true &&
    fields.shouldKeepAlive === true &&
    res.sendDate &&
    res.req.httpVersionMinor === 1 &&
    res.req.httpVersionMajor === 1 &&
    res.getHeaderNames().length === 0
  );
}

/**
 * Makes the head of an answer with status 200; `res.end()` then writes it with `body`, text in Latin-1. False, and
 * nothing is done: the answer is not an ordinary one.
 */
export function joinHead(
  res: ServerResponse,
  { common, own, length }: Head,
  body: string,
): boolean {
  if (!isOrdinary(res) || !isPlain(own)) return false;
  const seconds = Math.floor(res._keepAliveTimeout / 1000);
  const timeout = seconds > 0 ? `Keep-Alive: timeout=${seconds}\r\n` : "";
  res.statusMessage = "OK";
  res._header = `${printCommon(common)}${printHeaders(own)}Content-Length: ${length}\r\n${dateOf(systemClock.nowMs())}Connection: keep-alive\r\n${timeout}\r\n${body}`;
  return true;
}
