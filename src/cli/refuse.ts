/** The supervisor's own answer to a connection that no process takes: the one thing that it says to a client itself. */
import type { Socket } from "node:net";

/** For so long the other side may go on sending: what is not read would take the answer back. */
const lingerMs = 1_000;

/** 503 with a text, and the end. Behind TLS nothing can be said: the connection is reset. */
export function refuseConnection(socket: Socket, text: string, isTls: boolean): void {
  if (isTls) {
    socket.resetAndDestroy();
    return;
  }
  const body = `${text}\n`;
  const head = [
    "HTTP/1.1 503 Service Unavailable",
    "Content-Type: text/plain; charset=utf-8",
    `Content-Length: ${Buffer.byteLength(body)}`,
    "Retry-After: 1",
    "Connection: close",
  ];
  socket.end(`${head.join("\r\n")}\r\n\r\n${body}`);
  socket.resume();
  setTimeout(() => socket.destroy(), lingerMs).unref();
}
