/** Goal: who asks another process's transaction to commit is never told that it did not, where it may have. */
import { createServer, request, type Server } from "node:http";
import { mkdtempSync, rmSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { silentLogger } from "../base/log.ts";
import type { Exchange } from "./exchange.ts";
import { handOver } from "./forward.ts";

const folder = mkdtempSync(join(tmpdir(), "weft-forward-"));
const ownerPath = join(folder, "owner.sock");
let owner: Server;
let endpoint: Server;
let socketPath = ownerPath;

beforeAll(async () => {
  // It takes the whole request, and dies.
  owner = createServer((req) => req.resume().once("end", () => req.socket.destroy()));
  await new Promise<void>((done) => owner.listen(ownerPath, done));
  endpoint = createServer((req, res) => {
    const [path = "", search = ""] = (req.url ?? "").split("?");
    const context = { logger: silentLogger };
    const exchange = { req, res, path, search, context, watched: { id: "1" } };
    void handOver(exchange as unknown as Exchange, socketPath);
  });
  await new Promise<void>((done) => endpoint.listen(0, "127.0.0.1", done));
});

afterAll(() => {
  owner.close();
  endpoint.close();
  rmSync(folder, { recursive: true, force: true });
});

function ask(path: string): Promise<string> {
  const { port } = endpoint.address() as AddressInfo;
  return new Promise((resolve, reject) => {
    const asked = request({ port, path, method: "POST" }, (answer) => {
      let text = "";
      answer.on("data", (piece: Buffer) => (text += piece.toString()));
      answer.on("end", () => resolve(text));
    });
    asked.once("error", reject);
    asked.end("{}");
  });
}

test("a commit whose process dies over it has an unknown outcome", async () => {
  for (const path of ["/commit?startTs=5", "/mutate?startTs=5&commitNow=true"]) {
    const text = await ask(path);
    expect(text).toContain("the outcome of the transaction is unknown");
    expect(text).not.toContain("Aborted");
  }
});

test("what commits nothing is aborted with its transaction", async () => {
  for (const path of ["/query?startTs=5", "/mutate?startTs=5", "/commit?startTs=5&abort=true"]) {
    expect(await ask(path)).toContain("Transaction has been aborted");
  }
});

test("a process that is not reached has committed nothing", async () => {
  socketPath = join(folder, "nobody.sock");
  expect(await ask("/commit?startTs=5")).toContain("Transaction has been aborted");
});
