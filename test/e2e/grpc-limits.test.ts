/** What stands between the port for gRPC and those who call it: sizes, rates, deadlines, records, and the end. */
import { connect, type ClientHttp2Session, type IncomingHttpHeaders } from "node:http2";
import { createServer } from "node:net";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { credentials, Metadata } from "@grpc/grpc-js";
import * as dgraph from "dgraph-js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findFreePort } from "../support/free-port.ts";
import {
  cleanUp,
  get,
  makeFolder,
  post,
  rdf,
  runWeft,
  sleep,
  startServer,
  type TestServer,
  waitUntil,
} from "./server.ts";

afterAll(cleanUp);

const kibibyte = 1024;
const mebibyte = kibibyte * kibibyte;

interface Ended {
  readonly status: string | undefined;
  readonly words: string;
  readonly data: Buffer;
  readonly headers: IncomingHttpHeaders;
}

interface Sent {
  readonly method: string;
  readonly body: Buffer;
  readonly headers?: Record<string, string>;
  /** Leaves the message open. */
  readonly isOpen?: boolean;
}

/** A call written by hand: what no client library would send. */
function call(
  session: ClientHttp2Session,
  { method, body, headers, isOpen }: Sent,
): Promise<Ended> {
  return new Promise((resolve) => {
    const stream = session.request({
      ":method": "POST",
      ":path": `/api.Dgraph/${method}`,
      "content-type": "application/grpc",
      te: "trailers",
      ...headers,
    });
    const chunks: Buffer[] = [];
    let told: IncomingHttpHeaders = {};
    stream.on("response", (head) => (told = { ...told, ...head }));
    stream.on("trailers", (head) => (told = { ...told, ...head }));
    stream.on("data", (chunk: Buffer) => chunks.push(chunk));
    stream.on("error", () => {});
    stream.on("close", () => {
      const words = decodeURIComponent(String(told["grpc-message"] ?? ""));
      const status = told["grpc-status"];
      const one = Array.isArray(status) ? status[0] : status;
      resolve({ status: one, words, data: Buffer.concat(chunks), headers: told });
    });
    if (isOpen === true) stream.write(body);
    else stream.end(body);
  });
}

/** A message behind its five bytes. */
function framed(message: Uint8Array, isPacked = false, length = message.length): Buffer {
  const prefix = Buffer.alloc(5);
  prefix[0] = isPacked ? 1 : 0;
  prefix.writeUInt32BE(length, 1);
  return Buffer.concat([prefix, message]);
}

function requestOf(query: string): dgraph.Request {
  const request = new dgraph.Request();
  request.setQuery(query);
  return request;
}

const names = "{ q(func: has(name)) { name } }";
const slow =
  "{ path as shortest(from: 0x1, to: 0xffff, numpaths: 100000) { knows } p(func: uid(path)) { uid } }";

describe("with bounds", () => {
  let server: TestServer;
  let target = "";
  let stub: dgraph.DgraphClientStub;
  let session: ClientHttp2Session;

  beforeAll(async () => {
    target = `127.0.0.1:${await findFreePort()}`;
    const bounds =
      "body-bytes=2MB; text-bytes=1MB; body-window=1s; query-path=1000000000; query-memory=0; grpc-connections=3";
    const log = "level=info; slow=500ms; access=on";
    const flags = ["--grpc", target, "--workers", "1", "--limit", bounds, "--log", log];
    server = await startServer({ dataDir: makeFolder(), flags });
    await post(`${server.url}/alter`, "name: string @index(term) .\nknows: [uid] .");
    const facts = ['<1> <name> "Ada" .'];
    for (let a = 1; a <= 40; a++) {
      for (let b = 1; b <= 40; b++) if (a !== b) facts.push(`<${a}> <knows> <${b}> .`);
    }
    await post(`${server.url}/mutate?commitNow=true`, `{ set { ${facts.join("\n")} } }`, rdf);
    stub = new dgraph.DgraphClientStub(target, credentials.createInsecure());
    session = connect(`http://${target}`);
  });
  afterAll(() => {
    stub.close();
    session.destroy();
  });

  const isLogged = (...words: string[]): boolean =>
    server
      .output()
      .split("\n")
      .some((line) => words.every((word) => line.includes(word)));

  it("reads no message over its bound, and says which setting that is", async () => {
    const large = framed(Buffer.alloc(10), false, 3 * mebibyte);
    const told = await call(session, { method: "Query", body: large, isOpen: true });
    expect([told.status, told.words]).toEqual([
      "8",
      `The message is over the limit of ${2 * mebibyte} bytes (--limit body-bytes)`,
    ]);
    const schema = framed(Buffer.alloc(10), false, mebibyte + 1);
    const altered = await call(session, { method: "Alter", body: schema, isOpen: true });
    expect(altered.words).toContain("(--limit text-bytes)");
    const login = framed(Buffer.alloc(10), false, 65 * kibibyte);
    const named = await call(session, { method: "Login", body: login, isOpen: true });
    expect([named.status, named.words]).toEqual(["8", expect.stringContaining("65536 bytes")]);
  });

  it("unpacks what was packed, up to the same bound", async () => {
    const message = requestOf(names).serializeBinary();
    const headers = { "grpc-encoding": "gzip" };
    const body = framed(gzipSync(message), true);
    const told = await call(session, { method: "Query", body, headers });
    expect([told.status, told.data.toString()]).toEqual(["0", expect.stringContaining("Ada")]);
    const bomb = framed(gzipSync(Buffer.alloc(8 * mebibyte)), true);
    const refused = await call(session, { method: "Query", body: bomb, headers });
    expect([refused.status, refused.words]).toEqual([
      "8",
      expect.stringContaining("--limit body-bytes"),
    ]);
    const odd = await call(session, { method: "Query", body, headers: { "grpc-encoding": "br" } });
    expect(odd.status).toBe("12");
    expect(odd.headers["grpc-accept-encoding"]).toBe("identity,deflate,gzip");
  });

  it("ends messages that come too slowly, and answers what is no message", async () => {
    const begun = framed(Buffer.alloc(10), false, mebibyte);
    const told = await call(session, { method: "Query", body: begun, isOpen: true });
    expect([told.status, told.words]).toEqual([
      "4",
      expect.stringContaining("(--limit body-rate)"),
    ]);
    const broken = await call(session, {
      method: "Query",
      body: framed(Buffer.from([0x0a, 0x7f])),
    });
    expect(broken.status).toBe("13");
    expect((await call(session, { method: "Query", body: Buffer.alloc(0) })).status).toBe("13");
    const two = Buffer.concat([framed(Buffer.alloc(0)), framed(Buffer.alloc(0))]);
    expect((await call(session, { method: "CheckVersion", body: two })).status).toBe("12");
    const unknown = await call(session, { method: "Nonsense", body: framed(Buffer.alloc(0)) });
    expect([unknown.status, unknown.words]).toEqual([
      "12",
      "unknown method Nonsense for service api.Dgraph",
    ]);
    const odd = { "grpc-timeout": "soon" };
    const late = await call(session, { method: "Query", body: begun, headers: odd, isOpen: true });
    expect([late.status, late.words]).toEqual(["13", 'malformed grpc-timeout: "soon"']);
    const page = { "content-type": "application/json" };
    const other = await call(session, { method: "Query", body: begun, headers: page });
    expect(other.headers[":status"]).toBe(415);
  });

  it("gives a call the time that its client gives it, and no more", async () => {
    const startMs = performance.now();
    const metadata = new Metadata();
    await expect(
      stub.query(requestOf(slow), metadata, { deadline: Date.now() + 300 }),
    ).rejects.toMatchObject({ code: 4 });
    expect(performance.now() - startMs).toBeLessThan(10_000);
    // The run ends with it, and says so to the log.
    await waitUntil(() => isLogged("slow request", "grpc/Query"), 10_000);
  });

  it("shows calls that run, and ends them", async () => {
    const metadata = new Metadata();
    metadata.set("x-weft-tag", "walks");
    metadata.set("x-request-id", "walk-1");
    const asked = stub.query(requestOf(slow), metadata);
    const ended = asked.then(
      () => undefined,
      (error: unknown) => error,
    );
    const top = async (): Promise<string> =>
      (await runWeft(["top", "--to", server.url, "--json"])).stdout;
    let shown = "";
    await waitUntil(async () => (shown = await top()).includes("walk-1"), 10_000);
    expect(shown).toContain("grpc/Query");
    expect((await runWeft(["kill", "--to", server.url, "walk-1"])).code).toBe(0);
    expect(await ended).toMatchObject({
      code: 1,
      details: "the request was ended by an administrator",
    });
  });

  it("ends the run of a call that was called off", async () => {
    const metadata = { "x-request-id": "gone-1" };
    const stream = session.request({
      ":method": "POST",
      ":path": "/api.Dgraph/Query",
      "content-type": "application/grpc",
      ...metadata,
    });
    stream.on("error", () => {});
    stream.end(framed(requestOf(slow).serializeBinary()));
    await waitUntil(
      async () => (await runWeft(["top", "--to", server.url, "--json"])).stdout.includes("gone-1"),
      10_000,
    );
    stream.close(8);
    await waitUntil(() => isLogged("access", "gone-1"), 10_000);
    const { stdout } = await runWeft(["top", "--to", server.url, "--json"]);
    expect(stdout).not.toContain("gone-1");
  });

  it("counts calls beside requests, by this server's names and by the reference's", async () => {
    const mutation = new dgraph.Mutation();
    mutation.setSetNquads('_:a <name> "Eve" .');
    const request = new dgraph.Request();
    request.setMutationsList([mutation]);
    request.setCommitNow(true);
    const before = (await get(`${server.url}/metrics`)).text;
    const count = (text: string, operation: string): number =>
      Number(
        new RegExp(
          `^weft_requests_total\\{operation="${operation}",outcome="ok"\\} (\\d+)$`,
          "m",
        ).exec(text)?.[1] ?? 0,
      );
    await stub.query(request);
    await stub.query(requestOf(names));
    const after = (await get(`${server.url}/metrics`)).text;
    expect(count(after, "grpc/Mutate") - count(before, "grpc/Mutate")).toBe(1);
    expect(count(after, "grpc/Query") - count(before, "grpc/Query")).toBe(1);
    expect(after).toMatch(/^weft_grpc_connections [1-9]/m);
    const reference = (await get(`${server.url}/debug/prometheus_metrics`)).text;
    const series = reference
      .split("\n")
      .filter((line) => line.startsWith("dgraph_num_queries_total{"));
    const labels = series.map((line) => line.replace(/ \d+$/, ""));
    expect(new Set(labels).size).toBe(labels.length);
    expect(reference).toMatch(
      /dgraph_num_queries_total\{method="Server.Mutate",status="ok"\} [1-9]/,
    );
  });

  it("names each call, in its answer and in the log", async () => {
    const body = framed(requestOf(names).serializeBinary());
    const headers = { "x-request-id": "named-7" };
    const told = await call(session, { method: "Query", body, headers });
    expect(told.headers["x-request-id"]).toBe("named-7");
    await waitUntil(() => isLogged("access", "named-7"), 5000);
    const own = await call(session, { method: "CheckVersion", body: framed(Buffer.alloc(0)) });
    expect(own.headers["x-request-id"]).toMatch(/^\w+-\w+-\w+$/);
  });

  it("takes so many connections, and tells the next one why not", async () => {
    const more = [connect(`http://${target}`), connect(`http://${target}`)];
    for (const one of more) one.on("error", () => {});
    await Promise.all(more.map((one) => new Promise((done) => one.once("remoteSettings", done))));
    // Whoever came third fills it: two clients are connected before.
    const words = await new Promise<string>((resolve) => {
      for (const one of more) {
        one.once("goaway", (_code, _last, data) => resolve(String(data)));
      }
    });
    expect(words).toBe("this process has 3 connections already (--limit grpc-connections)");
    for (const one of more) one.destroy();
  });

  it("answers what is under way when the server ends", async () => {
    const mutation = new dgraph.Mutation();
    mutation.setSetNquads('_:z <name> "Zoe" .');
    const client = new dgraph.DgraphClient(stub);
    const txn = client.newTxn();
    await txn.mutate(mutation);
    const asked = stub.query(requestOf(slow), new Metadata(), { deadline: Date.now() + 1500 });
    const ended = asked.catch((error: unknown) => (error as { code: number }).code);
    await sleep(200);
    expect(await server.stop()).toBe(0);
    expect(await ended).toBe(4);
  });
});

describe("with users, records and rates", () => {
  let server: TestServer;
  let stub: dgraph.DgraphClientStub;
  let session: ClientHttp2Session;
  let audit = "";

  beforeAll(async () => {
    const folder = makeFolder();
    const secret = join(folder, "secret");
    writeFileSync(secret, "0123456789abcdef0123456789abcdef");
    audit = join(folder, "audit.log");
    const target = `127.0.0.1:${await findFreePort()}`;
    const acl = `secret-file=${secret}; login-attempts=3`;
    const flags = [
      "--grpc",
      target,
      "--workers",
      "1",
      "--acl",
      acl,
      "--audit",
      audit,
      "--memory",
      "500MB",
    ];
    server = await startServer({
      dataDir: join(folder, "data"),
      flags: [...flags, "--rate", "user=40/m; burst=60s"],
    });
    stub = new dgraph.DgraphClientStub(target, credentials.createInsecure());
    session = connect(`http://${target}`);
  });
  afterAll(() => {
    stub.close();
    session.destroy();
  });

  const lines = (): Readonly<Record<string, unknown>>[] =>
    readFileSync(audit, "utf8")
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line) as Record<string, unknown>);

  it("reads nothing large of who is not known", async () => {
    const body = framed(Buffer.alloc(10), false, mebibyte);
    const told = await call(session, { method: "Query", body, isOpen: true });
    expect([told.status, told.words]).toEqual(["16", "no accessJwt available"]);
  });

  it("makes room for what a message becomes before it reads it", async () => {
    const login = await post(`${server.url}/login`, { userid: "groot", password: "password" });
    const headers = { accessjwt: String(login.json["data"]?.["accessJWT"]) };
    // Two bytes each become an object.
    const mutations = Buffer.alloc(2 * mebibyte, Buffer.from([0x62, 0x00]));
    const told = await call(session, { method: "Query", body: framed(mutations), headers });
    expect([told.status, told.words]).toEqual(["8", expect.stringContaining("--memory")]);
  });

  it("writes down logins, writes and alters, and locks out who guesses", async () => {
    await stub.login("groot", "password");
    const operation = new dgraph.Operation();
    operation.setSchema("name: string .");
    const client = new dgraph.DgraphClient(stub);
    await client.alter(operation);
    const mutation = new dgraph.Mutation();
    mutation.setSetNquads('_:a <name> "Ada" .');
    mutation.setCommitNow(true);
    await client.newTxn().mutate(mutation);
    const found = (route: string): Readonly<Record<string, unknown>> | undefined =>
      lines().find((line) => line["route"] === `/api.Dgraph/${route}`);
    await waitUntil(() => found("Query") !== undefined, 5000);
    const who = { method: "gRPC", user: "groot", namespace: 0, address: "127.0.0.1", status: 0 };
    expect(found("Alter")).toMatchObject({ ...who, kind: "alter", outcome: "ok" });
    expect(found("Query")).toMatchObject({ ...who, kind: "mutation", outcome: "ok" });
    expect(found("Login")).toMatchObject({ kind: "login", login: { user: "groot", namespace: 0 } });
    const guess = (): Promise<unknown> =>
      stub.login("nobody", "wrong").catch((error: { code: number }) => error.code);
    const codes: unknown[] = [];
    for (let i = 0; i < 5; i++) codes.push(await guess());
    expect(codes.at(-1)).toBe(8);
  });

  it("refuses who calls too often, and says for how long", async () => {
    await stub.login("groot", "password");
    const client = new dgraph.DgraphClient(stub);
    const ask = (): Promise<unknown> => client.newTxn({ readOnly: true }).query(names);
    let refused: { code: number; metadata: Metadata } | undefined;
    for (let i = 0; i < 60 && refused === undefined; i++) {
      await ask().catch((error: typeof refused) => (refused = error));
    }
    expect(refused?.code).toBe(8);
    expect(Number(refused?.metadata.get("retry-after")[0])).toBeGreaterThan(0);
  });
});

describe("by itself", () => {
  it("is served a thousand above the port for HTTP, and done without where that is taken", async () => {
    const port = await findFreePort();
    const start = async (flags: readonly string[]): Promise<TestServer> => {
      const server = await startServer({
        dataDir: makeFolder(),
        port,
        flags: ["--workers", "1", ...flags],
      });
      await waitUntil(() => server.output().includes("gRPC"), 10_000);
      return server;
    };
    const blocker = createServer();
    await new Promise<void>((done, fail) => {
      blocker.once("error", fail);
      blocker.listen(port + 1000, "127.0.0.1", done);
    });
    const without = await start(["--grpc", "on"]);
    await waitUntil(() => without.output().includes("Health"), 10_000);
    expect(without.output()).toContain(
      `gRPC            not served: port ${port + 1000} is in use (127.0.0.1:${port + 1000})`,
    );
    await without.stop();
    await new Promise((done) => blocker.close(done));
    const config = join(makeFolder(), "weft.json");
    writeFileSync(config, "{}");
    const flags = [
      "serve",
      "--data",
      makeFolder(),
      "--http",
      `127.0.0.1:${port}`,
      "--config",
      config,
    ];
    const printed = await runWeft(["config", "check", ...flags.slice(1)]);
    expect(printed.code).toBe(0);
    const server = await start(["--grpc", ""]);
    const stub = new dgraph.DgraphClientStub(
      `127.0.0.1:${port + 1000}`,
      credentials.createInsecure(),
    );
    expect((await stub.checkVersion(new dgraph.Check())).getTag()).not.toBe("");
    stub.close();
    await server.stop();
  });
});
