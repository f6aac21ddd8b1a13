/** Makes the requests that resolvers ask for: of the database, and of the hosts on the operator's list. */
import { request } from "node:http";
import type { AskAnswer, AskCall } from "./messages.ts";

interface GatewayOptions {
  /** The database's address, as http://127.0.0.1:8080. */
  readonly databaseUrl: string;
  /** A socket file that leads to it, in place of the address. */
  readonly databaseSocket?: string | undefined;
  /** Sent as X-Auth-Token; undefined for none. */
  readonly token: string | undefined;
  /** Hosts that `fetch` may ask: `api.example.com`, `*.example.com`, with a port where it is not the usual one. */
  readonly hosts: readonly string[];
  readonly timeoutMs: number;
  readonly bodyBytesMax: number;
}

const redirectsMax = 5;

/** Never rejects. `leftMs`: what is left of the time of the request that the resolver serves. */
export function openGateway(
  options: GatewayOptions,
): (call: AskCall, leftMs: number) => Promise<AskAnswer> {
  const base = options.databaseUrl.replace(/\/+$/, "");
  const credentials: readonly (readonly [string, string])[] =
    options.token === undefined ? [] : [["X-Auth-Token", options.token]];
  return async (call, leftMs) => {
    if (leftMs <= 0) return { ok: false, message: "context deadline exceeded" };
    const bounded = { ...options, timeoutMs: Math.ceil(Math.min(options.timeoutMs, leftMs)) };
    try {
      if (call.to === "database") {
        const headers = [...call.headers, ...credentials];
        const isBounded = leftMs !== Infinity;
        const url = base + (isBounded ? withTimeout(call.url, bounded.timeoutMs) : call.url);
        const own = { ...call, url, headers };
        const { databaseSocket: socket } = options;
        return await (socket === undefined ? send(own, bounded) : sendBy(socket, own, bounded));
      }
      return await browse(call, bounded);
    } catch (error) {
      return { ok: false, message: explain(error) };
    }
  };
}

/** The database ends what it does for the resolver when the time is over. */
function withTimeout(url: string, timeoutMs: number): string {
  return `${url}${url.includes("?") ? "&" : "?"}timeout=${timeoutMs}ms`;
}

/** Each hop of a redirection must be on the list too. */
async function browse(call: AskCall, options: GatewayOptions): Promise<AskAnswer> {
  let next = call;
  for (let hops = 0; hops <= redirectsMax; hops++) {
    const url = new URL(next.url);
    if (!isAllowed(url, options.hosts)) {
      const message = `fetch: ${url.host || url.protocol} is not on the list of hosts that scripts may ask`;
      return { ok: false, message };
    }
    const answer = await send(next, options);
    const to = answer.ok ? answer.headers.find(([name]) => name === "location")?.[1] : undefined;
    if (!answer.ok || to === undefined || answer.status < 300 || answer.status > 399) return answer;
    next = follow(next, answer.status, new URL(to, url));
  }
  return { ok: false, message: `fetch: more than ${redirectsMax} redirections` };
}

/** As browsers do: 303, and a redirected POST, become GET; credentials stay with their host. */
function follow(call: AskCall, status: number, to: URL): AskCall {
  const isKept =
    status === 307 || status === 308 || call.method === "GET" || call.method === "HEAD";
  const isSameHost = new URL(call.url).host === to.host;
  const headers = call.headers.filter(
    ([name]) => isSameHost || !/^(?:authorization|cookie)$/i.test(name),
  );
  if (isKept) return { ...call, url: to.href, headers };
  const plain = headers.filter(([name]) => !/^content-/i.test(name));
  return { ...call, url: to.href, method: "GET", headers: plain, body: undefined };
}

/** `*.example.com` stands for every host below it. */
function isAllowed(url: URL, hosts: readonly string[]): boolean {
  if (url.protocol !== "http:" && url.protocol !== "https:") return false;
  return hosts.some((entry) => {
    const host = entry.toLowerCase();
    if (!host.startsWith("*.")) return url.host === host;
    return url.host.endsWith(host.slice(1));
  });
}

async function send(call: AskCall, options: GatewayOptions): Promise<AskAnswer> {
  const { body, isBase64 } = call;
  const answer = await fetch(call.url, {
    method: call.method,
    headers: call.headers.map(([name, value]): [string, string] => [name, value]),
    redirect: "manual",
    signal: AbortSignal.timeout(options.timeoutMs),
    ...(body === undefined ? {} : { body: isBase64 ? Buffer.from(body, "base64") : body }),
  });
  const bytes = await readBytes(answer, options.bodyBytesMax);
  const isText = call.to === "database";
  return {
    ok: true,
    status: answer.status,
    statusText: answer.statusText,
    url: call.url,
    headers: [...answer.headers].filter(([name]) => !ofTransfer.test(name)),
    body: bytes.toString(isText ? "utf8" : "base64"),
    isBase64: !isText,
  };
}

/** The same, of the database through a socket file. */
function sendBy(socketPath: string, call: AskCall, options: GatewayOptions): Promise<AskAnswer> {
  const { body, isBase64 } = call;
  return new Promise((resolve, reject) => {
    const asked = request(
      call.url,
      {
        socketPath,
        method: call.method,
        headers: Object.fromEntries(call.headers),
        signal: AbortSignal.timeout(options.timeoutMs),
      },
      (answer) => {
        const headers = Object.entries(answer.headers).flatMap(([name, value]) =>
          typeof value === "string" ? [[name, value] as const] : [],
        );
        readChunks(answer, options.bodyBytesMax).then(
          (bytes) =>
            resolve({
              ok: true,
              status: answer.statusCode ?? 0,
              statusText: answer.statusMessage ?? "",
              url: call.url,
              headers: headers.filter(([name]) => !ofTransfer.test(name)),
              body: bytes.toString(),
              isBase64: false,
            }),
          reject,
        );
      },
    );
    asked.on("error", reject);
    asked.end(body === undefined || !isBase64 ? body : Buffer.from(body, "base64"));
  });
}

/** The body is decoded already. */
const ofTransfer = /^content-(?:encoding|length)$/;

function readBytes(answer: Response, bytesMax: number): Promise<Buffer> {
  return readChunks(answer.body ?? [], bytesMax);
}

async function readChunks(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  bytesMax: number,
): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of chunks) {
    length += part.length;
    if (length > bytesMax) throw new Error(`the answer is larger than ${bytesMax} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts, length);
}

function explain(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  return cause instanceof Error ? `${error.message}: ${cause.message}` : error.message;
}
