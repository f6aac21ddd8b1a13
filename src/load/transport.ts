/** How requests reach a server: as the platform sends them, or over TLS with authorities of the operator's, or a socket. */
import { Agent as PlainAgent, type IncomingMessage, request, type RequestOptions } from "node:http";
import { Agent as TlsAgent, request as requestTls } from "node:https";
import { Buffer } from "node:buffer";

export interface Transport {
  /** Certificates of authorities, in PEM, in place of the well-known ones. */
  readonly ca?: string | undefined;
  /** What this side shows where the server asks for it, in PEM. */
  readonly cert?: string | undefined;
  readonly certKey?: string | undefined;
  /** A socket file, in place of the address. */
  readonly socketPath?: string | undefined;
}

export interface Sent {
  readonly method?: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface Received {
  readonly status: number;
  readonly text: string;
}

/** Rejects as `fetch` does: with the reason as the error's cause, or as its code. */
type Send = (url: string, sent: Sent) => Promise<Received>;

export function openTransport({ ca, cert, certKey, socketPath }: Transport): Send {
  if (socketPath !== undefined) {
    const agent = new PlainAgent({ keepAlive: true });
    return (url, sent) => sendBy(request, url, { agent, socketPath }, sent);
  }
  if (ca === undefined && cert === undefined) return sendPlainly;
  const agent = new TlsAgent({ keepAlive: true, ca, cert, key: certKey });
  return (url, sent) =>
    url.startsWith("https:") ? sendBy(requestTls, url, { agent }, sent) : sendPlainly(url, sent);
}

async function sendPlainly(url: string, sent: Sent): Promise<Received> {
  const response = await fetch(url, sent);
  return { status: response.status, text: await response.text() };
}

function sendBy(
  ask: typeof request,
  url: string,
  options: RequestOptions,
  { method, headers, body }: Sent,
): Promise<Received> {
  return new Promise((resolve, reject) => {
    const sized = body === undefined ? {} : { "content-length": String(Buffer.byteLength(body)) };
    const asked = ask(
      url,
      { ...options, method: method ?? "GET", headers: { ...headers, ...sized } },
      (answer: IncomingMessage) => {
        const chunks: Buffer[] = [];
        answer.on("data", (chunk: Buffer) => chunks.push(chunk));
        answer.on("error", reject);
        answer.on("end", () =>
          resolve({
            status: answer.statusCode ?? 0,
            text: Buffer.concat(chunks).toString(),
          }),
        );
      },
    );
    asked.on("error", (cause) => reject(new Error("the request failed", { cause })));
    asked.end(body);
  });
}
