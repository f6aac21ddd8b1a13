/**
 * The console: one page for a browser at `/` and `/graphql`, with scripts and styles of the package's own. It holds no
 * data and no credentials, so everybody may load it; what it shows it asks for as any client does.
 */
import type { Buffer } from "node:buffer";
import type { IncomingMessage } from "node:http";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";

/** A file of the console, as it is sent. */
export interface ConsoleFile {
  /** Content-Type. */
  readonly type: string;
  readonly bytes: Buffer;
  /** The same, packed. */
  readonly gzip: Buffer;
  /** Changes with the bytes. */
  readonly tag: string;
}

/** The files that the build has made; undefined: there is none of that name. */
export interface ConsoleFiles {
  find(name: string): ConsoleFile | undefined;
}

/** Below it lie the scripts and styles; their names change with what is in them. */
const consoleFilePath = "/ui/console/:name";

const pageName = "index.html";

/**
 * Scripts and styles of this server alone, none written into the page; connections to this server alone, with the
 * WebSockets of its host for browsers that do not count those as its own; and no page around it.
 */
function policyOf(host: string | undefined): string {
  const sockets =
    host !== undefined && /^[\w.:[\]-]+$/.test(host) ? ` ws://${host} wss://${host}` : "";
  return `default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'${sockets}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;
}

/** Whether a request is one of somebody who looks at `/` or `/graphql` with a browser; a document is executed as ever. */
export function wantsConsole(req: IncomingMessage, path: string): boolean {
  if (req.method !== "GET" && req.method !== "HEAD") return false;
  if (path !== "/" && path !== "/graphql") return false;
  if (!acceptsHtml(req.headers.accept)) return false;
  return path === "/" || !/[?&](?:query|extensions|operationName|token)=/.test(req.url ?? "");
}

/** Browsers name HTML when they load a page; other clients say that they take anything. */
function acceptsHtml(accept: string | undefined): boolean {
  if (accept === undefined || !accept.includes("text/html")) return false;
  const member = accept.split(",").find((one) => /^\s*text\/html\s*(?:;|$)/.test(one));
  return member !== undefined && !/;\s*q=0(?:\.0*)?\s*(?:;|$)/.test(member);
}

export function addConsoleRoutes(app: FastifyInstance, files: ConsoleFiles): void {
  app.get<{ Params: { name: string } }>(consoleFilePath, (request, reply) => {
    const { name } = request.params;
    const file = name === pageName ? undefined : files.find(name);
    if (file === undefined) {
      return reply.code(404).type("text/plain; charset=utf-8").send("404 page not found\n");
    }
    void reply.header("cache-control", "public, max-age=31536000, immutable");
    return sendFile(request, reply, file);
  });
  app.get("/graphql", (request, reply) => sendConsole(request, reply, files));
}

/** The page itself: looked for anew each time, so that a new version shows its own scripts. */
export function sendConsole(
  request: FastifyRequest,
  reply: FastifyReply,
  files: ConsoleFiles,
): FastifyReply {
  const file = files.find(pageName);
  if (file === undefined) {
    return reply.code(404).type("text/plain; charset=utf-8").send("404 page not found\n");
  }
  void reply.headers({
    "cache-control": "no-cache",
    "content-security-policy": policyOf(request.headers.host),
    "cross-origin-opener-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-frame-options": "DENY",
  });
  return sendFile(request, reply, file);
}

function sendFile(request: FastifyRequest, reply: FastifyReply, file: ConsoleFile): FastifyReply {
  const { type, bytes, gzip, tag } = file;
  void reply.headers({ etag: tag, vary: "Accept, Accept-Encoding" });
  if (request.headers["if-none-match"]?.includes(tag) === true) return reply.code(304).send();
  void reply.type(type);
  const accepted = request.headers["accept-encoding"];
  if (typeof accepted !== "string" || !accepted.includes("gzip")) return reply.send(bytes);
  return reply.header("content-encoding", "gzip").send(gzip);
}
