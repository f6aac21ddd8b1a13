// Goal: a line can be cut, or silent, for the connections of one client alone, which is found by who has the other end.
import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { must } from "../../src/base/assert.ts";
import { sleep } from "../e2e/server.ts";
import { openLine, type Line } from "./line.ts";
import { ownsPort } from "./socket-owner.ts";

const echo = createServer((socket) => void socket.on("error", () => {}).pipe(socket));
let line: Line;

beforeAll(async () => {
  await new Promise<void>((resolve) => echo.listen(0, "127.0.0.1", resolve));
  line = await openLine((echo.address() as AddressInfo).port);
});
afterAll(async () => {
  await line.close();
  await new Promise((resolve) => echo.close(resolve));
});

async function dial(): Promise<Socket> {
  const socket = connect(line.port, "127.0.0.1");
  socket.on("error", () => {});
  await once(socket, "connect");
  return socket;
}

async function isAnswered(socket: Socket): Promise<boolean> {
  const heard = once(socket, "data").then(() => true);
  socket.write("x");
  return Promise.race([heard, sleep(300).then(() => false)]);
}

const portOf = (socket: Socket): number => must(socket.localPort, "it is connected");

test("one client of two is parted from, and back when the line is healed", async () => {
  const [one, other] = [await dial(), await dial()];
  expect([await isAnswered(one), await isAnswered(other)]).toEqual([true, true]);
  line.part((port) => port === portOf(one), true);
  expect([await isAnswered(one), await isAnswered(other)]).toEqual([false, true]);
  line.heal();
  expect(await isAnswered(one)).toBe(true);
  const closed = once(one, "close");
  line.part((port) => port === portOf(one), false);
  await closed;
  expect(await isAnswered(other)).toBe(true);
  line.heal();
  other.destroy();
});

test.runIf(process.platform === "linux")("a port is told to be this process's", async () => {
  const socket = await dial();
  expect(ownsPort([process.pid], portOf(socket))).toBe(true);
  expect(ownsPort([process.ppid], portOf(socket))).toBe(false);
  socket.destroy();
});
