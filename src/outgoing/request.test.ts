/** What the server asks of others, and what it never does. */
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { loopbackBlocks, makeBlocks, publicPolicy } from "./policy.ts";
import { makeAsk, makeGetText, OutgoingFailure } from "./request.ts";

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

const ask = makeAsk({ hosts: [], privateAddresses: makeBlocks(loopbackBlocks) });
const request = (path: string, more = {}): Parameters<typeof ask>[0] => ({
  url: `http://127.0.0.1:${port}${path}`,
  method: "POST",
  headers: {},
  body: "",
  ...more,
});

test("connections that are kept are judged, too: names that lead to this machine, and addresses in other forms", async () => {
  const open = makeAsk(publicPolicy);
  const before = asked;
  for (const host of ["localhost", "127.1", "0x7f000001", "2130706433", "[::ffff:127.0.0.1]"]) {
    const url = `http://${host}:${port}/`;
    expect(await reasonOf(open(request("", { url }), bounds))).toMatch(/no public address/);
  }
  expect(asked).toBe(before);
});

test("one connection for requests after each other", async () => {
  const ports = new Set<number | undefined>();
  answer = (res) => {
    ports.add(res.socket?.remotePort);
    res.end("x");
  };
  for (let i = 0; i < 3; i++) expect((await ask(request("/"), bounds)).text).toBe("x");
  expect(ports.size).toBe(1);
});

test("an answer that comes byte by byte ends with the time, and says so", async () => {
  answer = (res) => {
    const timer = setInterval(() => res.write("x"), 5);
    res.once("close", () => clearInterval(timer));
  };
  const limits = { bytesMax: 1000, timeoutMs: 60, timeSetting: "--outgoing time" };
  const reason = await reasonOf(ask(request("/"), limits));
  expect(reason).toBe("context deadline exceeded (--outgoing time)");
});

test("another protocol is no answer, and no wait without end", async () => {
  answer = (res) => {
    res.socket?.end(
      "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n",
    );
  };
  expect(await reasonOf(ask(request("/"), bounds))).toBe("EOF");
});

test("the path goes as it is written, and headers that may not be are told without their value", async () => {
  let url = "";
  answer = (res) => {
    url = res.req.url ?? "";
    res.end("x");
  };
  await ask(request("/a%2Fb/%2e%2e/c?x=1#y"), bounds);
  expect(url).toBe("/a%2Fb/%2e%2e/c?x=1");
  const reason = await reasonOf(ask(request("/", { headers: { "x-a": "secret\nx" } }), bounds));
  expect(reason).toBe("a header has a character that headers may not have");
});
