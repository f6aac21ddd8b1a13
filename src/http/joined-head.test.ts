// Goal: an answer whose head was made beforehand is, byte for byte, what Node would have written.
import { createServer, type RequestListener, type Server, type ServerResponse } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { afterEach, expect, it } from "vitest";
import { joinHead } from "./joined-head.ts";

const common = ["Content-Type", "application/json", "X-Content-Type-Options", "nosniff"];
const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

async function openServer(answer: RequestListener): Promise<number> {
  const server = createServer({ keepAliveTimeout: 75_000 }, answer);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
}

/** What comes back until the connection ends, or rests. */
async function ask(port: number, text: string, restMs = 150): Promise<string> {
  const socket = connect(port, "127.0.0.1");
  let got = "";
  socket.setEncoding("latin1").on("data", (chunk: string) => (got += chunk));
  socket.write(text);
  await new Promise<void>((resolve) => {
    socket.once("end", resolve);
    socket.setTimeout(restMs, resolve);
  });
  socket.destroy();
  return got.replace(/Date: [^\r]*/g, "Date: now");
}

const body = Buffer.from('{"data":{"name":"Zoë €"}}').toString("latin1");
const own = ["Access-Control-Allow-Origin", "*", "X-Request-Id", "a-1"];

function answerJoined(res: ServerResponse, isJoined: boolean[] = []): void {
  const joined = joinHead(res, { common, own, length: body.length }, body);
  isJoined.push(joined);
  if (!joined) {
    res.writeHead(200, [...common, ...own, "Content-Length", String(body.length)]);
    res.end(body, "latin1");
  } else res.end();
}

async function compare(request: string, restMs?: number): Promise<boolean[]> {
  const isJoined: boolean[] = [];
  const ours = await openServer((req, res) => {
    req.resume().on("end", () => answerJoined(res, isJoined));
  });
  const nodes = await openServer((req, res) => {
    req.resume().on("end", () => {
      res.writeHead(200, [...common, ...own, "Content-Length", String(body.length)]);
      res.end(body, "latin1");
    });
  });
  const [got, expected] = await Promise.all([
    ask(ours, request, restMs),
    ask(nodes, request, restMs),
  ]);
  expect(got).toBe(expected);
  expect(got.startsWith("HTTP/1.1 200 OK\r\n")).toBe(true);
  return isJoined;
}

const post = (more = "", version = "1.1"): string =>
  `POST / HTTP/${version}\r\nHost: a\r\nContent-Length: 2\r\n${more}\r\n{}`;

it("is written as by Node, and the connection goes on", async () => {
  expect(await compare(post())).toEqual([true]);
  expect(await compare(post() + post() + post("X-A: b\r\n"))).toEqual([true, true, true]);
});

it("is left to Node where the connection ends, the client is old, or asks for the head alone", async () => {
  expect(await compare(post("Connection: close\r\n"))).toEqual([false]);
  expect(await compare(post("", "1.0"))).toEqual([false]);
  expect(await compare(post("Connection: keep-alive\r\n", "1.0"))).toEqual([false]);
  expect(await compare("HEAD / HTTP/1.1\r\nHost: a\r\n\r\n")).toEqual([false]);
});

it("what is set beside it is not lost, and nothing that would end a line is written", async () => {
  const port = await openServer((_req, res) => {
    res.setHeader("Cache-Control", "no-store");
    answerJoined(res);
  });
  expect(await ask(port, post())).not.toBe("");
  const results: boolean[] = [];
  const strange = await openServer((_req, res) => {
    for (const value of ["a\r\nSet-Cookie: b", "a\nb", "é", "\u0000"]) {
      const head = { common, own: ["X-Request-Id", value], length: 0 };
      results.push(joinHead(res, head, ""));
    }
    res.end();
  });
  await ask(strange, post());
  expect(results).toEqual([false, false, false, false]);
});

it("a finished answer is told as finished, and one whose client is gone does no harm", async () => {
  const events: string[] = [];
  const port = await openServer((req, res) => {
    res.on("finish", () => events.push("finish"));
    req.resume().on("end", () => answerJoined(res));
  });
  await ask(port, post());
  expect(events).toEqual(["finish"]);
});
