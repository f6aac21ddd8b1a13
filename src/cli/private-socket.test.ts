import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { openPrivateSockets } from "./private-socket.ts";

const folders: string[] = [];
const servers: Server[] = [];

afterEach(() => {
  for (const server of servers.splice(0)) server.close();
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

function listen(path: string): Promise<void> {
  return new Promise((resolve) => {
    servers.push(createServer().listen(path, resolve));
  });
}

/** By a process that is killed then. */
function leave(path: string): void {
  const code = `require("node:net").createServer().listen(${JSON.stringify(path)}, () => process.kill(process.pid, "SIGKILL"))`;
  spawnSync(process.execPath, ["-e", code]);
}

test.each([
  ["in a directory with a short name", "data"],
  ["in one whose name is longer than a socket's may be", "d".repeat(120)],
])("what processes that are gone have left is removed, %s", async (_how, name) => {
  const folder = mkdtempSync(join(tmpdir(), "weft-sockets-"));
  folders.push(folder);
  const dir = join(folder, name);
  mkdirSync(dir);
  const sockets = openPrivateSockets(dir);
  await listen(sockets.pathOf(1));
  for (const path of [sockets.pathOf(2), sockets.grpcPathOf(2)]) {
    leave(path.replace("/proc/self/", `/proc/${process.pid}/`));
  }
  writeFileSync(join(dir, "data.mdb"), "");
  expect(readdirSync(dir)).toEqual(["data.mdb", "slot-1.sock", "slot-2.grpc", "slot-2.sock"]);
  await sockets.clearLeft();
  expect(readdirSync(dir)).toEqual(["data.mdb", "slot-1.sock"]);
});
