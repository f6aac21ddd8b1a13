/** What the framework answers: health, state, probes and everything that is not there (dql.md 1.7, graphql.md 4.15). */
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { drainingWords } from "../admin/controls.ts";
import { judge } from "./gate.ts";
import type { House } from "./house.ts";
import { printHealth } from "./node-facts.ts";
import { makeRefusalReply } from "./refusal.ts";
import { commonHeaderRecord, makeErrorBody } from "./reply.ts";
import { elsewhere, rightOf } from "./rights.ts";
import { uiKeywords } from "./ui-keywords.ts";

const greeting =
  "Weft is running. Its endpoints: /graphql, /query, /mutate, /commit, /alter, /admin, /health.\n";

/** Everything beside the database routes. Bodies are not parsed by the framework: they come as bytes. */
export function addPlainRoutes(app: FastifyInstance, house: House): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", { parseAs: "buffer" }, (_request, body, done) => {
    done(null, body);
  });
  app.addHook("onRequest", async (request, reply) => {
    const { url } = request.routeOptions;
    const right = url === undefined ? elsewhere : rightOf(url);
    if (right.audience === "everyone") return;
    if (request.method === "OPTIONS") {
      await sendJson(reply, "");
      return;
    }
    const refusal = await judge(right, request.raw, house);
    if (refusal === undefined) return;
    const { status, body } = makeRefusalReply(refusal, right.form);
    await reply.code(status).headers(commonHeaderRecord).send(body);
  });
  app.all("/health", async (request, reply) => {
    const isAlive = /[?&]live(?:[=&]|$)/.test(request.url);
    const { isDraining } = house.controls.switches;
    if (isAlive || (house.isReady() && !isDraining))
      return sendJson(reply, printHealth(await house.about.health()));
    void reply.code(503).type("text/plain; charset=utf-8");
    const starting = "Please retry again, server is not ready to accept requests";
    return reply.send(isDraining ? drainingWords : starting);
  });
  app.all("/state", async (_request, reply) => sendJson(reply, await house.about.state()));
  app.all("/probe/graphql", (_request, reply) => {
    const counter = house.graphql.schemaUpdateCounter;
    return sendJson(reply, `{"status":"up","schemaUpdateCounter":${counter}}`);
  });
  app.all("/login", (request, reply) => answerLogin(request, reply));
  app.all("/ui/keywords", (request, reply) => {
    if (request.method === "OPTIONS" || request.method === "GET") {
      return sendJson(reply, request.method === "GET" ? uiKeywords : "");
    }
    return reply.code(400).type("text/plain; charset=utf-8").send("ErrorInvalidMethod\n");
  });
  app.get("/", (_request, reply) => reply.type("text/plain; charset=utf-8").send(greeting));
  app.setNotFoundHandler((_request, reply) =>
    reply.code(404).type("text/plain; charset=utf-8").send("404 page not found\n"),
  );
}

function sendJson(reply: FastifyReply, body: string): FastifyReply {
  return reply.headers(commonHeaderRecord).send(body);
}

/** Without access control there is nobody to log in as. */
function answerLogin(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  if (request.method !== "POST" && request.method !== "PUT") {
    void reply.code(400);
    return sendJson(reply, makeErrorBody("Invalid method", "ErrorInvalidMethod", false));
  }
  const message = "invalid username or password";
  return sendJson(reply, makeErrorBody(message, "ErrorInvalidRequest", true));
}
