/**
 * Lambda servers of scripts for tests, closed behind each (`useLambdaServers`); what they log, and an upstream for them
 * to ask.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import type { Logger } from "../../src/base/log.ts";
import { defaultLambdaLimits } from "../../src/lambda/limits.ts";
import { openLambdaServer } from "../../src/lambda/server.ts";
import type { LambdaServer, LambdaServerOptions } from "../../src/lambda/server.ts";

/** Of the scripts of a test file; it goes away with its tests. */
export let folder = "";
const open: (LambdaServer | Server)[] = [];
export const logged: unknown[] = [];
const log = (message: string, fields: unknown): unknown => logged.push([message, fields]);
const logger: Logger = { info: log, warn: log, error: log };

/** Called by each test file that uses them: this module may be loaded once for several. */
export function useLambdaServers(): void {
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "weft-lambda-"));
  });
  afterEach(async () => {
    for (const one of open.splice(0)) await one.close();
    logged.length = 0;
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
}

let scriptCount = 0;

export function write(text: string, extension = "js"): string {
  const file = join(folder, `script${++scriptCount}.${extension}`);
  writeFileSync(file, text);
  return file;
}

export async function start(
  script: string,
  options: Partial<LambdaServerOptions> = {},
): Promise<LambdaServer> {
  const server = await openLambdaServer({
    script,
    options: { shows: "own", tracesConsole: false },
    listen: { host: "127.0.0.1", port: 0 },
    databaseUrl: "http://127.0.0.1:1",
    token: undefined,
    hosts: [],
    limits: defaultLambdaLimits,
    clock: systemClock,
    logger,
    ...options,
  });
  open.push(server);
  return server;
}

export interface Reply {
  readonly status: number;
  readonly text: string;
}

export async function call(server: LambdaServer, body: object, headers = {}): Promise<Reply> {
  const url = `http://127.0.0.1:${server.address?.port ?? 0}/graphql-worker`;
  const answer = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
  return { status: answer.status, text: await answer.text() };
}

/** An upstream that notes what it is asked, and answers with what `reply` makes of it. */
interface Seen {
  readonly url: string | undefined;
  readonly headers: Record<string, unknown>;
  readonly body: string;
}

export async function listen(
  reply: (seen: Seen) => [number, object, Record<string, string>?],
): Promise<{
  readonly port: number;
  readonly seen: Seen[];
}> {
  const seen: Seen[] = [];
  const server = createServer((req, res) => {
    const parts: Buffer[] = [];
    req.on("data", (part: Buffer) => parts.push(part));
    req.on("end", () => {
      const one = { url: req.url, headers: req.headers, body: Buffer.concat(parts).toString() };
      seen.push(one);
      const [status, body, headers = {}] = reply(one);
      res.writeHead(status, { "content-type": "application/json", ...headers });
      res.end(JSON.stringify(body));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  server.unref();
  open.push(server);
  return { port: (server.address() as AddressInfo).port, seen };
}
