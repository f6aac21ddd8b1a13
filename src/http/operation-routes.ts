/** The operations of /admin that have paths of their own (reference/dql 1.8). */
import type { ServerResponse } from "node:http";
import { configure, setDraining, shutdownWords } from "../admin/interface.ts";
import { Fault } from "../model/fault.ts";
import { type Exchange, readBytes, readParameters } from "./exchange.ts";
import { makeErrorBody, refuseMethod, sendError, sendJson, sendText } from "./reply.ts";
import { checkSuperadmin } from "./sender.ts";

export async function answerDraining(exchange: Exchange): Promise<void> {
  const { context, req, res } = exchange;
  if (req.method !== "PUT" && req.method !== "POST") return refuseAsRecorded(res);
  const enable = readParameters(exchange).get("enable");
  if (enable !== "true" && enable !== "false") {
    throw new Fault("E_PARAMETER", "Found invalid value for the enable parameter");
  }
  await checkSuperadmin(exchange);
  const message = await setDraining(context.controls, enable === "true");
  sendJson(res, printSuccess(message), [], undefined);
}

export async function answerShutdown(exchange: Exchange): Promise<void> {
  const { context, req, res } = exchange;
  if (req.method !== "POST") return refuseMethod(res);
  await checkSuperadmin(exchange);
  sendJson(res, printSuccess(shutdownWords), [], undefined);
  context.controls.shutdown();
}

export async function answerCacheMb(exchange: Exchange): Promise<void> {
  const { context, req, res } = exchange;
  await checkSuperadmin(exchange);
  if (req.method === "GET") {
    sendText(res, 200, `${context.controls.switches.cacheMb}\n`);
    return;
  }
  if (req.method !== "PUT") return refuseAsRecorded(res);
  const text = (await readBytes(exchange, "text")).toString().trim();
  if (text === "" || !Number.isFinite(Number(text))) {
    sendText(res, 400, `"${text}" is no number\n`);
    return;
  }
  try {
    await configure(context.controls, { cacheMb: Number(text) });
    sendText(res, 200, "");
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    sendText(res, 400, `${error.message}\n`);
  }
}

/** Spaced as the reference writes it. */
function printSuccess(message: string): string {
  return `{"code": "Success","message": "${message}"}`;
}

/** Of the methods that the reference refuses, too. */
function refuseAsRecorded(res: ServerResponse): void {
  const body = makeErrorBody("Invalid method", "ErrorInvalidMethod", false);
  sendError(res, { status: 200, body, headers: [] });
}
