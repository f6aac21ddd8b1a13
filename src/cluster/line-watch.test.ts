// Goal: what was handed to a process of another machine ends when that machine is not heard any more, and goes on for as
// long as it is.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { openLine } from "../../test/nemesis/line.ts";
import { systemClock } from "../base/clock.ts";
import { silentLogger } from "../base/log.ts";
import { sendFrame } from "./peer-connection.ts";
import { openPeerServer } from "./peer-server.ts";
import { peerKind } from "./peer-words.ts";
import { ProcessDoors } from "./process-doors.ts";

const folder = mkdtempSync(join(tmpdir(), "weft-lines-"));
const ends: (() => unknown)[] = [() => rmSync(folder, { recursive: true, force: true })];
afterAll(async () => {
  for (const end of ends.toReversed()) await end();
});

const pem = (name: string): Buffer =>
  readFileSync(join(import.meta.dirname, "..", "..", "test", "certificates", name));
const tls = {
  ca: pem("cluster-authority.pem"),
  cert: pem("cluster-node.pem"),
  key: pem("cluster-node.key"),
};
const storeId = "ab".repeat(16);
const slot = 7;

test("a process that takes long is waited for; one whose machine is silent is not", async () => {
  const server = await openPeerServer({
    bind: { host: "127.0.0.1", port: 0 },
    tls,
    storeId,
    logger: silentLogger,
    take(hello, socket) {
      if (hello.purpose !== "process" || hello.slot !== slot) throw new Error("not here");
      sendFrame(socket, peerKind.welcome);
      // It answers what says so, and nothing else.
      socket.on("data", (piece: Buffer) => {
        if (piece.toString().includes("answer")) socket.write("answered");
      });
      socket.resume();
    },
  });
  ends.push(() => server.close());
  const line = await openLine(server.port);
  ends.push(() => line.close());
  const pathOf = (of: number, isGrpc: boolean): string => join(folder, `${of}${isGrpc ? "g" : ""}`);
  const doors = new ProcessDoors({
    pathOf,
    self: { storeId, node: "a", address: "127.0.0.1:1" },
    tls: () => tls,
    logger: silentLogger,
    clock: systemClock,
    quietMs: 150,
  });
  ends.push(() => doors.close());
  const address = `127.0.0.1:${line.port}`;
  const facts = { leads: false, applied: 0, formats: [], isAway: false, problem: undefined };
  doors.update([{ node: "b", address, slots: [slot], ...facts }]);

  const heard: string[] = [];
  let isEnded = false;
  let socket: Socket | undefined;
  await expect
    .poll(async () => {
      socket = connect(pathOf(slot, false));
      return await new Promise((resolve) => {
        socket?.once("connect", () => resolve(true));
        socket?.once("error", () => resolve(false));
      });
    })
    .toBe(true);
  socket?.on("data", (piece: Buffer) => heard.push(piece.toString()));
  socket?.once("close", () => (isEnded = true));
  socket?.write("takes long");
  // It is asked several times whether it is there.
  await new Promise((resolve) => setTimeout(resolve, 1000));
  expect(isEnded).toBe(false);
  socket?.write("answer");
  await expect.poll(() => heard).toEqual(["answered"]);

  line.hush("back");
  await new Promise((resolve) => setTimeout(resolve, 400));
  // Nothing waits for anything.
  expect(isEnded).toBe(false);
  socket?.write("answer");
  await expect.poll(() => isEnded, { timeout: 10_000 }).toBe(true);
  expect(heard).toEqual(["answered"]);
  line.heal();
}, 30_000);
