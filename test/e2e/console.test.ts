// Goal: browsers that look at / and /graphql are sent the console, with headers that keep it to itself; everybody else
// is answered as ever; and it can be switched off.
import { Buffer } from "node:buffer";
import { gunzipSync } from "node:zlib";
import { request } from "node:http";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { cleanUp, get, makeFolder, startServer, type TestServer } from "./server.ts";

const browser = { accept: "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8" };

let server: TestServer;

beforeAll(async () => {
  server = await startServer({ dataDir: makeFolder(), flags: ["--workers", "1"] });
});
afterAll(cleanUp);

interface Sent {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly bytes: Buffer;
}

/** The path goes out as it is written: nothing is resolved before. */
function send(path: string, headers: Record<string, string> = {}, method = "GET"): Promise<Sent> {
  const { hostname, port } = new URL(server.url);
  return new Promise((resolve, reject) => {
    const asked = request({ hostname, port, path, method, headers }, (answer) => {
      const parts: Buffer[] = [];
      answer.on("data", (part: Buffer) => parts.push(part));
      answer.on("end", () =>
        resolve({
          status: answer.statusCode ?? 0,
          headers: answer.headers,
          bytes: Buffer.concat(parts),
        }),
      );
    });
    asked.on("error", reject);
    asked.end();
  });
}

describe("who is sent the console", () => {
  test.each(["/", "/?a=1", "/graphql", "/graphql?", "/graphql?tab=2"])(
    "a browser at %s",
    async (path) => {
      const { status, headers, bytes } = await send(path, browser);
      expect(status).toBe(200);
      expect(headers["content-type"]).toBe("text/html; charset=utf-8");
      expect(bytes.toString()).toContain("<title>Weft console</title>");
    },
  );

  test.each([
    {},
    { accept: "*/*" },
    { accept: "application/json" },
    { accept: "text/html;q=0, */*" },
    { accept: "text/htmlx" },
  ])("not a client that accepts %j", async (headers) => {
    const root = await send("/", headers);
    expect(root.bytes.toString()).toMatch(/^Weft is running\. /);
    expect(root.headers["vary"]).toContain("Accept");
    const graphql = await send("/graphql", headers);
    expect(graphql.bytes.toString()).toContain("no query string supplied in request");
  });

  test("not one that sends a document, or posts", async () => {
    const query = encodeURIComponent("{ __typename }");
    expect((await send(`/graphql?query=${query}`, browser)).headers["content-type"]).toBe(
      "application/json",
    );
    expect((await send("/graphql", browser, "POST")).headers["content-type"]).toBe(
      "application/json",
    );
    expect((await send("/graphql/", browser)).status).toBe(404);
    expect((await send("/query", browser)).headers["content-type"]).toBe("application/json");
  });

  test("a HEAD is told what a GET would be sent", async () => {
    const { headers, bytes } = await send("/", browser, "HEAD");
    expect(headers["content-type"]).toBe("text/html; charset=utf-8");
    expect(bytes.length).toBe(0);
  });
});

test("the page may load what this server sends, and nothing else; nobody may put it into theirs", async () => {
  const { headers, bytes } = await send("/", browser);
  const policy = String(headers["content-security-policy"]);
  const { host } = new URL(server.url);
  expect(policy.split("; ")).toEqual([
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "font-src 'self'",
    `connect-src 'self' ws://${host} wss://${host}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ]);
  expect(headers).toMatchObject({
    "x-frame-options": "DENY",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-cache",
  });
  expect(headers["access-control-allow-origin"]).toBeUndefined();
  expect(bytes.toString()).not.toMatch(/<script>|<style|\son\w+=|https?:/);
});

test("a Host that is no name is not written into the policy", async () => {
  const { headers } = await send("/", { ...browser, host: "a;script-src *" });
  expect(headers["content-security-policy"]).not.toContain("*");
});

describe("its files", () => {
  const names = async (): Promise<string[]> => {
    const { bytes } = await send("/", browser);
    return [...bytes.toString().matchAll(/"(ui\/console\/[^"]+)"/g)].map(([, name]) => `/${name}`);
  };

  test("may be kept for ever: their names change with them", async () => {
    const found = await names();
    expect(found.map((name) => name.replace(/-\w+\./, "."))).toEqual([
      "/ui/console/console.css",
      "/ui/console/console.js",
    ]);
    for (const name of found) {
      const plain = await send(name);
      expect(plain.headers["cache-control"]).toBe("public, max-age=31536000, immutable");
      const packed = await send(name, { "accept-encoding": "gzip, br" });
      expect(packed.headers["content-encoding"]).toBe("gzip");
      expect(gunzipSync(packed.bytes)).toEqual(plain.bytes);
    }
  });

  test("are not sent again to who has them", async () => {
    const [name = ""] = await names();
    for (const path of [name, "/"]) {
      const first = await send(path, browser);
      const again = await send(path, {
        ...browser,
        "if-none-match": String(first.headers["etag"]),
      });
      expect([again.status, again.bytes.length]).toEqual([304, 0]);
    }
  });

  test.each([
    "/ui/console/",
    "/ui/console/index.html",
    "/ui/console/../main.js",
    "/ui/console/..%2fmain.js",
    "/ui/console/%2e%2e%2f%2e%2e%2fpackage.json",
    "/ui/console/..%5c..%5cpackage.json",
    "/ui/console/constructor",
    "/ui/console/a%00.js",
  ])("there is no %s", async (path) => expect((await send(path)).status).toBe(404));
});

test("who looks at it is counted apart from requests of data", async () => {
  const count = async (operation: string): Promise<number> => {
    const { text } = await get(`${server.url}/metrics`);
    const begin = `weft_requests_total{operation="${operation}",outcome="ok"} `;
    const line = text.split("\n").find((one) => one.startsWith(begin));
    return Number(line?.slice(begin.length) ?? 0);
  };
  const [shown, asked] = [await count("console"), await count("graphql")];
  await send("/graphql", browser);
  await expect.poll(() => count("console")).toBe(shown + 1);
  expect(await count("graphql")).toBe(asked);
});

test("it is open where data is not, and holds none", async () => {
  const guarded = await startServer({
    dataDir: makeFolder(),
    flags: ["--workers", "1", "--anonymous", "off"],
  });
  expect((await get(`${guarded.url}/`, browser)).text).toContain("Weft console");
  expect((await get(`${guarded.url}/graphql`, browser)).text).toContain("Weft console");
  expect((await get(`${guarded.url}/graphql`)).json).toMatchObject({
    errors: [{ extensions: { code: "ErrorUnauthorized" } }],
  });
  await guarded.stop();
});

test("`--ui off`: browsers are answered as everybody is", async () => {
  const plain = await startServer({
    dataDir: makeFolder(),
    flags: ["--workers", "1", "--ui", "off"],
  });
  expect((await get(`${plain.url}/`, browser)).text).toMatch(/^Weft is running/);
  expect((await get(`${plain.url}/graphql`, browser)).json).toHaveProperty("errors");
  expect((await get(`${plain.url}/ui/console/index.html`, browser)).text).toBe(
    "404 page not found\n",
  );
  await plain.stop();
});
