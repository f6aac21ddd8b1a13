/**
 * What the framework answers: health, state, probes and everything that is not there (reference/dql 1.7,
 * reference/graphql 4.15).
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { Buffer } from "node:buffer";
import { drainingWords, explainRefusal } from "../admin/interface.ts";
import { loginRefused } from "../auth/acl.ts";
import { LoginWait } from "../auth/login-guard.ts";
import type { LoginRequest } from "../auth/acl.ts";
import { findJsonSyntaxFault } from "../base/json-syntax.ts";
import { faultTable, replyOf } from "../model/fault-table.ts";
import { Fault } from "../model/fault.ts";
import { anyPrincipal, type Principal } from "../model/principal.ts";
import { beginRecord, notesOf } from "./audit.ts";
import { addConsoleRoutes, sendConsole, wantsConsole } from "./console.ts";
import { findRouteRefusal, judge } from "./gate.ts";
import type { ServerContext } from "./server-context.ts";
import { isOutOfService, printHealth, printHealthOfAll } from "./node-facts.ts";
import { findRemoteAddress } from "./peer.ts";
import { addMetricsRoutes, metricsPaths } from "./metrics-routes.ts";
import { makeRefusalReply } from "./refusal.ts";
import { settleOrigin } from "./origins.ts";
import { setWatched, watchedOf } from "./watched-request.ts";
import {
  commonHeaderRecord,
  idHeader,
  makeErrorBody,
  noteAnswer,
  originHeadersOf,
} from "./reply.ts";
import { elsewhere, rightOf, type RouteRight } from "./rights.ts";
import { accessKeyOf } from "./shown-key.ts";
import { uiKeywords } from "./ui-keywords.ts";

const greeting =
  "Weft is running. Its endpoints: /graphql, /query, /mutate, /commit, /alter, /admin, /health.\n";

/** Everything beside the database routes. Bodies are not parsed by the framework: they come as bytes. */
export function addPlainRoutes(app: FastifyInstance, context: ServerContext): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", { parseAs: "buffer" }, (_request, body, done) => {
    done(null, body);
  });
  addHooks(app, context);
  app.all("/health", async (request, reply) => {
    const isAll = /[?&]all(?:[=&]|$)/.test(request.url);
    if (isAll) {
      const guardian = await admitGuardian(context, request, reply);
      if (guardian === undefined) return reply;
    }
    const isAlive = /[?&]live(?:[=&]|$)/.test(request.url);
    const { isDraining } = context.controls.switches;
    const fault = isAlive ? undefined : context.storeFault?.();
    const recordFault = context.audit?.isRequired === true ? context.audit.fault : undefined;
    if (fault !== undefined || (recordFault !== undefined && !isAlive)) {
      return reply
        .code(503)
        .type("text/plain; charset=utf-8")
        .send(fault ?? recordFault);
    }
    if (isAlive || (context.isReady() && !isDraining)) {
      const principal = (await context.acl?.identify(request.headers)) ?? anyPrincipal;
      if (isAll)
        return sendJson(reply, printHealthOfAll(await context.about.healthOfAll(), principal));
      const health = await context.about.health();
      // A load balancer sends its requests to other machines.
      if (!isAlive && isOutOfService(health)) void reply.code(503);
      return sendJson(reply, printHealth(health, principal));
    }
    void reply.code(503).type("text/plain; charset=utf-8");
    const starting = "Please retry again, server is not ready to accept requests";
    return reply.send(isDraining ? drainingWords : starting);
  });
  app.all("/state", async (request, reply) => {
    const guardian = await admitGuardian(context, request, reply);
    if (guardian === undefined) return reply;
    return sendJson(reply, await context.about.state(guardian.namespace));
  });
  app.all("/probe/graphql", async (_request, reply) => {
    const counter = await context.graphql.schemaUpdateCount(0);
    return sendJson(reply, `{"status":"up","schemaUpdateCounter":${counter}}`);
  });
  app.all("/login", (request, reply) => answerLogin(context, request, reply));
  app.all("/ui/keywords", (request, reply) => {
    if (request.method === "OPTIONS" || request.method === "GET") {
      return sendJson(reply, request.method === "GET" ? uiKeywords : "");
    }
    return reply.code(400).type("text/plain; charset=utf-8").send("ErrorInvalidMethod\n");
  });
  if (context.metrics !== "off") addMetricsRoutes(app, context);
  app.get("/", (request, reply) => {
    if (context.console !== undefined && wantsConsole(request.raw, "/")) {
      return sendConsole(request, reply, context.console);
    }
    return reply.header("vary", "Accept").type("text/plain; charset=utf-8").send(greeting);
  });
  if (context.console !== undefined) addConsoleRoutes(app, context.console);
  app.setNotFoundHandler((_request, reply) =>
    reply.code(404).type("text/plain; charset=utf-8").send("404 page not found\n"),
  );
}

/** What stands before and behind the work of every route. */
function addHooks(app: FastifyInstance, context: ServerContext): void {
  app.addHook("onRequest", async (request, reply) => {
    const { url } = request.routeOptions;
    const right = rightOfPlain(url, context);
    const { raw } = reply;
    const search = request.url.split("?")[1] ?? "";
    const watched = context.watch.begin(request.raw, operationOf(url), search);
    setWatched(raw, watched);
    void reply.header(idHeader, watched.id);
    void reply.header("x-content-type-options", "nosniff");
    await settleOrigin(right, request.raw, raw, context);
    if (right.audience === "logins") void reply.header("cache-control", "no-store");
    if (right.audience === "everyone") return;
    if (request.method === "OPTIONS") {
      await sendJson(reply, "");
      return;
    }
    beginRecord(right, request.raw, raw, context);
    const refusal =
      (await findRouteRefusal(right, request.raw, context)) ??
      (await judge(right, request.raw, context));
    if (refusal === undefined) return;
    const notes = notesOf(raw);
    if (notes !== undefined) notes.refusal = refusal.kind;
    watched.refusal = refusal.kind;
    const { status, body, headers } = makeRefusalReply(refusal, right.form);
    for (let i = 0; i < headers.length; i += 2) void reply.header(headers[i] ?? "", headers[i + 1]);
    await sendJson(reply.code(status), body);
  });
  app.addHook("onSend", async (_request, reply, payload) => {
    if (typeof payload !== "string") return payload;
    noteAnswer(reply.raw, payload);
    watchedOf(reply.raw)?.noteAnswer(payload);
    return payload;
  });
  app.addHook("onResponse", async (_request, reply) => {
    const watched = watchedOf(reply.raw);
    if (watched === undefined) return;
    watched.status = reply.statusCode;
    context.watch.end(watched);
  });
}

/** By which a request is counted. */
function operationOf(url: string | undefined): string {
  if (url === undefined) return "other";
  return url === "/graphql" || url.startsWith("/ui/console/") ? "console" : url.slice(1);
}

/** Metrics may be open to everybody. */
function rightOfPlain(url: string | undefined, { metrics }: ServerContext): RouteRight {
  // What comes here by /graphql is the console alone, which holds nothing.
  if (url === undefined || url === "/graphql") return elsewhere;
  const right = rightOf(url);
  return metrics === "open" && metricsPaths.includes(url)
    ? { ...right, audience: "everyone" }
    : right;
}

function sendJson(reply: FastifyReply, body: string): FastifyReply {
  const origins = originHeadersOf(reply.raw);
  for (let i = 0; i < origins.length; i += 2) void reply.header(origins[i] ?? "", origins[i + 1]);
  return reply.headers(commonHeaderRecord).send(body);
}

/** What is for guardians where users log in. Undefined when the request was refused and answered. */
async function admitGuardian(
  { acl }: ServerContext,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<Principal | undefined> {
  if (acl === undefined) return anyPrincipal;
  const principal = await acl.identify(request.headers);
  const message = explainRefusal("guardian", { principal, acl: true });
  if (message === undefined) return principal;
  await sendJson(reply, makeErrorBody(message, "Error", false));
  return undefined;
}

/** Without access control there is nobody to log in as. */
async function answerLogin(
  context: ServerContext,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { acl } = context;
  if (request.method !== "POST" && request.method !== "PUT") {
    void reply.code(400);
    return sendJson(reply, makeErrorBody("Invalid method", "ErrorInvalidMethod", false));
  }
  try {
    const keyNamespace = (await accessKeyOf(request.headers, context))?.namespace;
    const address = findRemoteAddress(request.raw);
    const login = { ...readLogin(request.body), address, keyNamespace };
    const notes = notesOf(reply.raw);
    if (notes !== undefined) notes.login = { user: login.user, namespace: login.namespace };
    if (acl === undefined) throw new Fault("E_LOGIN", loginRefused);
    const tokens = await acl.login(login);
    return await sendJson(reply, JSON.stringify({ data: tokens }));
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    void reply.code(replyOf(error.code).status);
    const waitSeconds = findWaitSeconds(error);
    if (waitSeconds !== undefined) void reply.header("retry-after", String(waitSeconds));
    return sendJson(reply, makeErrorBody(error.message, faultTable[error.code].extension, true));
  }
}

/** When a login may be tried again that was refused without being looked at; undefined for every other refusal. */
function findWaitSeconds(fault: Fault): number | undefined {
  if (fault instanceof LoginWait) return fault.seconds;
  return replyOf(fault.code).headers.length > 0 ? 1 : undefined;
}

/** Members that are missing, or of another kind, are empty ones: whoever they name cannot log in. */
function readLogin(body: unknown): Omit<LoginRequest, "address"> {
  const text = Buffer.isBuffer(body) ? body.toString() : "";
  let members: Readonly<Record<string, unknown>> = {};
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null) members = value as typeof members;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new Fault("E_HTTP_ERROR", findJsonSyntaxFault(text)?.detail ?? error.message);
  }
  const textOf = (name: string): string => {
    const value = members[name];
    return typeof value === "string" ? value : "";
  };
  const { namespace } = members;
  return {
    user: textOf("userid"),
    password: textOf("password"),
    namespace: typeof namespace === "number" ? namespace : 0,
    refreshToken: textOf("refresh_token"),
  };
}
