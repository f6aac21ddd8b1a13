// Goal: what clients send and do not read costs a bounded part of the memory, and who is refused is told why.
import { writeFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { cleanUp, makeFolder, post, rdf, startServer, type TestServer } from "./server.ts";

const mebibyte = 1024 * 1024;
const data = { "content-type": "application/json" };

let server: TestServer;

beforeAll(async () => {
  const limit = "body-bytes=32MB; text-bytes=1MB; body-window=1s; answer-wait=1s";
  server = await startServer({
    dataDir: makeFolder(),
    flags: ["--workers", "1", "--memory", "400MB", "--limit", limit],
  });
});
afterAll(cleanUp);

/** A connection that sends what it is told, and keeps what comes back until it is paused. */
class Raw {
  readonly socket: Socket;
  text = "";
  readonly whenClosed: Promise<void>;

  constructor(url: string, bytes: string) {
    const { port } = new URL(url);
    this.socket = connect(Number(port), "127.0.0.1", () => this.socket.write(bytes));
    this.socket.on("data", (chunk: Buffer) => (this.text += chunk.toString("latin1")));
    this.socket.on("error", () => {});
    this.whenClosed = new Promise((resolve) => this.socket.once("close", () => resolve()));
  }

  /** Resolves when something has come that matches. */
  async until(pattern: RegExp): Promise<string> {
    while (!pattern.test(this.text) && !this.socket.destroyed) {
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    return this.text;
  }
}

function headOf(path: string, length: number, type = "application/json", more = ""): string {
  return `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: ${type}\r\nContent-Length: ${length}\r\n${more}\r\n`;
}

const small = "{ q(func: uid(1)) { uid } }";

async function expectSmallReads(): Promise<void> {
  expect((await post(`${server.url}/query`, small)).json["data"]).toBeDefined();
}

describe("bodies", () => {
  test("beyond the memory there is wait shortly, then are told to come again; small ones go on", async () => {
    const promised = Array.from(
      { length: 4 },
      () => new Raw(server.url, headOf("/mutate", 20 * mebibyte)),
    );
    // Some bytes a second, so that they are not ended as slow ones.
    const timer = setInterval(() => {
      for (const { socket } of promised) socket.write(" ".repeat(4096));
    }, 100);
    await new Promise((resolve) => setTimeout(resolve, 100));
    const body = " ".repeat(20 * mebibyte);
    const refused = await post(`${server.url}/mutate`, body, data);
    expect(refused.status).toBe(503);
    expect(refused.headers.get("retry-after")).toBe("1");
    expect(refused.json["errors"]).toMatchObject([
      {
        message: expect.stringContaining("(--memory)") as unknown,
        extensions: { code: "ErrorInvalidRequest" },
      },
    ]);
    expect((await post(`${server.url}/graphql`, body, data)).status).toBe(503);
    await expectSmallReads();
    clearInterval(timer);
    for (const { socket } of promised) socket.destroy();
    await Promise.all(promised.map(({ whenClosed }) => whenClosed));
    const taken = await post(`${server.url}/mutate`, `{"set":[]}${body}`, data);
    expect(taken.status).toBe(200);
  });

  test("that become more than there is are refused before they are read into objects", async () => {
    const body = `{"set":[${"{},".repeat(mebibyte)}{}]}`;
    const refused = await post(`${server.url}/mutate?commitNow=true`, body, data);
    expect(refused.status).toBe(413);
    expect(refused.text).toContain("(--memory)");
    await expectSmallReads();
  });

  test("over the limit of their kind are refused, and the error names it", async () => {
    const text = await post(`${server.url}/query`, `${small} #${" ".repeat(mebibyte)}`);
    expect([text.status, text.text]).toEqual([
      413,
      expect.stringContaining("(--limit text-bytes)"),
    ]);
    const facts = await post(`${server.url}/mutate`, " ".repeat(33 * mebibyte), rdf);
    expect([facts.status, facts.text]).toEqual([
      413,
      expect.stringContaining("(--limit body-bytes)"),
    ]);
  });

  test("without a length are counted as they come", async () => {
    const chunk = `100000\r\n${" ".repeat(mebibyte)}\r\n`;
    const head = headOf("/mutate", 0).replace("Content-Length: 0", "Transfer-Encoding: chunked");
    const one = new Raw(server.url, head + chunk.repeat(34));
    expect(await one.until(/body-bytes/)).toContain("HTTP/1.1 413");
    one.socket.destroy();
    const right = new Raw(
      server.url,
      `${head.replace("/mutate", "/query").replace("application/json", "application/dql")}1b\r\n${small}\r\n0\r\n\r\n`,
    );
    expect(await right.until(/"data"/)).toContain("HTTP/1.1 200");
    right.socket.destroy();
  });

  test("that unpack to more than their limit are refused on the way", async () => {
    const body = gzipSync(Buffer.alloc(64 * mebibyte), { level: 9 });
    const answers = await Promise.all(
      Array.from({ length: 4 }, async () => {
        const headers = { ...data, "content-encoding": "gzip" };
        const answer = await fetch(`${server.url}/graphql`, { method: "POST", headers, body });
        return [answer.status, await answer.text()];
      }),
    );
    for (const [status, text] of answers) {
      // Those that came while others were unpacked may find no memory.
      expect([413, 503]).toContain(status);
      expect(text).toMatch(/--limit body-bytes|--memory/);
    }
    const headers = { "content-type": "application/dql", "content-encoding": "gzip" };
    const packed = await fetch(`${server.url}/query`, {
      method: "POST",
      headers,
      body: gzipSync(small),
    });
    expect([packed.status, await packed.text()]).toEqual([200, expect.stringContaining('"data"')]);
  });

  test("that come too slowly are ended", async () => {
    const one = new Raw(server.url, `${headOf("/mutate", mebibyte)}{`);
    const timer = setInterval(() => one.socket.write(" "), 200);
    const text = await one.until(/\}\]\}/);
    clearInterval(timer);
    expect(text).toContain("HTTP/1.1 408");
    expect(text).toContain("(--limit body-rate)");
    one.socket.destroy();
  });
});

test("answers that nobody reads are cut, and those that are read come whole", async () => {
  const text = "x".repeat(8 * mebibyte);
  await post(`${server.url}/mutate?commitNow=true`, { set: { uid: "0x1", large: text } });
  const query = "{ q(func: uid(1)) { large a: large b: large } }";
  const size = 3 * text.length;
  const resting = Array.from(
    { length: 3 },
    () => new Raw(server.url, headOf("/query", query.length, "application/dql") + query),
  );
  for (const { socket } of resting) socket.pause();
  expect((await post(`${server.url}/query`, query)).text.length).toBeGreaterThan(size);
  await expectSmallReads();
  // Longer than an answer may wait.
  await new Promise((resolve) => setTimeout(resolve, 2500));
  for (const { socket } of resting) socket.resume();
  await Promise.all(resting.map(({ whenClosed }) => whenClosed));
  for (const one of resting) expect(one.text.length).toBeLessThan(size);
  expect((await post(`${server.url}/query`, query)).text.length).toBeGreaterThan(size);
});

test("bodies are read after the sender is known", async () => {
  const folder = makeFolder();
  const secret = join(folder, "secret");
  writeFileSync(secret, "a secret of thirty-two bytes long");
  const guarded = await startServer({
    dataDir: makeFolder(),
    flags: ["--workers", "1", "--acl", `secret-file=${secret}`],
  });
  for (const path of ["/query", "/mutate", "/graphql", "/alter"]) {
    // The head alone: an answer comes only from one who does not wait for the body.
    const one = new Raw(guarded.url, headOf(path, 3 * mebibyte));
    const text = await one.until(/\}\]/);
    expect(text).toContain("HTTP/1.1 200");
    expect(text).toContain("Unauthenticated");
    one.socket.destroy();
  }
});
