/** What the server asks of others, and what it never does. */
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { loopbackBlocks, makeBlocks, publicPolicy } from "./policy.ts";
import { makeGetText, OutgoingFailure } from "./request.ts";

let server: Server;
let port: number;
let answer: (res: ServerResponse) => void;
let asked = 0;

beforeAll(async () => {
  server = createServer((_req, res) => {
    asked++;
    answer(res);
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  port = (server.address() as AddressInfo).port;
});

afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const local = makeGetText({ hosts: [], privateAddresses: makeBlocks(loopbackBlocks) });
const bounds = { bytesMax: 1000, timeoutMs: 10_000 };

async function reasonOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
    return "";
  } catch (error) {
    if (error instanceof OutgoingFailure) return error.message;
    throw error;
  }
}

test("an answer with its status and headers", async () => {
  answer = (res) => res.writeHead(203, { "cache-control": "max-age=5" }).end("hé");
  const got = await local(`http://127.0.0.1:${port}/x`, bounds);
  expect([got.status, got.text, got.headers["cache-control"]]).toEqual([203, "hé", "max-age=5"]);
});

test("nobody who is not public is asked, by address or by name", async () => {
  const open = makeGetText(publicPolicy);
  const before = asked;
  for (const host of [
    "127.0.0.1",
    "localhost",
    "[::1]",
    "[::ffff:127.0.0.1]",
    "0x7f.1",
    "2130706433",
  ]) {
    expect(await reasonOf(open(`http://${host}:${port}/`, bounds)), host).toContain(
      "is no public address, and not named in --outgoing private",
    );
  }
  expect(await reasonOf(open("file:///etc/hosts", bounds))).toBe(
    'unsupported protocol scheme "file"',
  );
  expect(await reasonOf(open("nonsense", bounds))).toBe("this is no URL");
  const other = makeGetText({
    hosts: ["keys.example"],
    privateAddresses: makeBlocks(loopbackBlocks),
  });
  expect(await reasonOf(other(`http://127.0.0.1:${port}/`, bounds))).toBe(
    `127.0.0.1:${port} is not among the hosts of --outgoing hosts`,
  );
  expect(asked).toBe(before);
});

test("no redirection is followed", async () => {
  answer = (res) => res.writeHead(302, { location: `http://127.0.0.1:${port}/secret` }).end();
  const before = asked;
  expect(await reasonOf(local(`http://127.0.0.1:${port}/`, bounds))).toBe(
    "status 302: redirections are not followed",
  );
  expect(asked).toBe(before + 1);
});

test("an answer without end is cut at its bound, one without hurry at its time", async () => {
  answer = (res) => {
    const timer = setInterval(() => res.write("x".repeat(500)), 1);
    res.once("close", () => clearInterval(timer));
  };
  expect(await reasonOf(local(`http://127.0.0.1:${port}/`, bounds))).toBe(
    "the answer has more than 1000 bytes",
  );
  answer = (res) => void res.write("x");
  expect(await reasonOf(local(`http://127.0.0.1:${port}/`, { ...bounds, timeoutMs: 50 }))).toBe(
    "context deadline exceeded",
  );
});

test("faults of the connection in words", async () => {
  expect(await reasonOf(local("http://127.0.0.1:1/", bounds))).toBe(
    "dial tcp 127.0.0.1:1: connect: connection refused",
  );
});
