// Goal: behind TLS everything is as without it, over HTTP/1.1 and HTTP/2; who is not to be let in is not; certificates
// change without a connection lost; and what HTTP/2 lets a client do beside requests is bounded.
import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { type ClientHttp2Session, connect as connectHttp2 } from "node:http2";
import { Agent, request } from "node:https";
import { connect as connectPlain } from "node:net";
import { networkInterfaces } from "node:os";
import { join } from "node:path";
import { connect as connectTls, type TLSSocket } from "node:tls";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { WebSocket } from "ws";
import {
  cleanUp,
  makeFolder,
  roleOf,
  root,
  runWeft,
  startServer,
  type TestServer,
  waitUntil,
} from "./server.ts";

const file = (name: string): string => join(root, "test", "certificates", name);
const text = (name: string): string => readFileSync(file(name), "utf8");
const ca = text("authority.pem");

let server: TestServer;
let folder: string;
let port: number;

/** The server's own copies, which a test exchanges. */
const used = (name: string): string => join(folder, name);

beforeAll(async () => {
  folder = makeFolder();
  for (const kind of ["pem", "key"]) copyFileSync(file(`server.${kind}`), used(`own.${kind}`));
  const script = used("resolvers.js");
  writeFileSync(
    script,
    "self.addGraphQLResolvers({ 'Query.countNotes': async ({ graphql }) => { const { data } = await graphql('{ queryNote { text } }'); return data.queryNote.length; } });",
  );
  server = await startServer({
    dataDir: join(folder, "data"),
    host: "0.0.0.0",
    ca,
    flags: ["--workers", "2", "--anonymous", "on", "--lambda", script].concat([
      "--limit",
      "body-bytes=1MB",
      "--tls",
      `cert=${used("own.pem")}; key=${used("own.key")}`,
    ]),
  });
  port = Number(new URL(server.url).port);
  const schema =
    "type Note @withSubscription { text: String! @search(by: [exact]) } type Query { countNotes: Int @lambda }";
  const told = await ask("/admin/schema", { body: schema });
  expect(told.text).toContain("Success");
});
afterAll(cleanUp);

interface Told {
  readonly status: number;
  readonly text: string;
  readonly version: string;
}

interface Question {
  readonly method?: string;
  readonly body?: string;
  readonly headers?: Record<string, string>;
  readonly agent?: Agent;
  readonly host?: string;
}

const typeOf = (path: string): string =>
  path.startsWith("/mutate")
    ? "application/rdf"
    : path.startsWith("/graphql")
      ? "application/graphql"
      : "application/dql";

const agents: Agent[] = [];
afterAll(() => {
  for (const agent of agents) agent.destroy();
});

function makeAgent(options: object = {}): Agent {
  const agent = new Agent({ ca, keepAlive: true, maxSockets: 1, ...options });
  agents.push(agent);
  return agent;
}

/** Over HTTP/1.1. */
function ask(path: string, question: Question = {}): Promise<Told> {
  const { body, headers, agent, host } = question;
  return new Promise((resolve, reject) => {
    const asked = request(
      {
        host: host ?? "127.0.0.1",
        port,
        path,
        ca,
        ...(agent === undefined ? {} : { agent }),
        method: question.method ?? (body === undefined ? "GET" : "POST"),
        headers: { "content-type": typeOf(path), ...headers },
      },
      (answer) => {
        let told = "";
        answer.on("data", (chunk: Buffer) => (told += chunk.toString()));
        answer.on("end", () =>
          resolve({ status: answer.statusCode ?? 0, text: told, version: answer.httpVersion }),
        );
      },
    );
    asked.on("error", reject);
    asked.end(body);
  });
}

const sessions: ClientHttp2Session[] = [];
afterAll(() => {
  for (const session of sessions) session.destroy();
});

function openSession(options: object = {}): ClientHttp2Session {
  const session = connectHttp2(`https://127.0.0.1:${port}`, { ca, ...options });
  session.on("error", () => {});
  sessions.push(session);
  return session;
}

/** Over HTTP/2. */
function ask2(session: ClientHttp2Session, path: string, question: Question = {}): Promise<Told> {
  const { body, headers } = question;
  return new Promise((resolve, reject) => {
    const stream = session.request({
      ":method": question.method ?? (body === undefined ? "GET" : "POST"),
      ":path": path,
      "content-type": typeOf(path),
      ...headers,
    });
    let status = 0;
    let told = "";
    stream.on("response", (head) => (status = head[":status"] ?? 0));
    stream.on("data", (chunk: Buffer) => (told += chunk.toString()));
    stream.on("end", () => resolve({ status, text: told, version: "2.0" }));
    stream.on("error", reject);
    stream.end(body);
  });
}

/** One frame of HTTP/2, by hand. */
function frame(type: number, flags: number, stream: number, payload: Buffer): Buffer {
  const front = Buffer.alloc(9);
  front.writeUIntBE(payload.length, 0, 3);
  front.writeUInt8(type, 3);
  front.writeUInt8(flags, 4);
  front.writeUInt32BE(stream, 5);
  return Buffer.concat([front, payload]);
}

/** Begins a POST, whose body follows. */
function head(stream: number, path: string): Buffer {
  const fields = {
    ":method": "POST",
    ":scheme": "https",
    ":path": path,
    ":authority": "localhost",
    "content-type": typeOf(path),
  };
  const sized = (value: string): Buffer[] => [Buffer.from([value.length]), Buffer.from(value)];
  const block = Object.entries(fields).flatMap(([name, value]) => [
    Buffer.from([0]),
    ...sized(name),
    ...sized(value),
  ]);
  return frame(1, 4, stream, Buffer.concat(block));
}

const reset = (stream: number): Buffer => frame(3, 0, stream, Buffer.from([0, 0, 0, 8]));

/** A connection of HTTP/2 whose frames are written by hand. */
async function openRaw(): Promise<TLSSocket> {
  const socket = connectTls({ host: "127.0.0.1", port, ca, ALPNProtocols: ["h2"] });
  socket.on("error", () => {});
  await new Promise((resolve) => socket.once("secureConnect", resolve));
  socket.resume();
  socket.write("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
  socket.write(frame(4, 0, 0, Buffer.alloc(0)));
  return socket;
}

const write = (name: string): string =>
  `{ set {\n_:n <Note.text> "${name}" .\n_:n <dgraph.type> "Note" .\n} }`;
const find = (name: string): string => `{ q(func: eq(Note.text, "${name}")) { Note.text } }`;
const found = (name: string): string => `{"data":{"q":[{"Note.text":"${name}"}]}`;

describe("HTTP/1.1", () => {
  test("is answered as without TLS", async () => {
    const agent = makeAgent();
    const written = await ask("/mutate?commitNow=true", { agent, body: write("one") });
    expect(written).toMatchObject({ status: 200, version: "1.1" });
    expect((await ask("/query", { agent, body: find("one") })).text).toContain(found("one"));
    expect((await ask("/health", { agent })).status).toBe(200);
    expect((await ask("/nowhere", { agent })).status).toBe(404);
  });

  test("a transaction goes on at any process", async () => {
    const doors = [makeAgent(), makeAgent(), makeAgent(), makeAgent()];
    const begun = await ask("/mutate", { agent: doors[0]!, body: write("in a transaction") });
    const { txn } = (JSON.parse(begun.text) as { extensions: { txn: { start_ts: number } } })
      .extensions;
    for (const agent of doors) {
      const seen = await ask(`/query?startTs=${txn.start_ts}`, {
        agent,
        body: find("in a transaction"),
      });
      expect(seen.text).toContain(found("in a transaction"));
    }
  });

  test("what is not TLS is not answered", async () => {
    const answer = await new Promise<string>((resolve) => {
      let told = "";
      const socket = connectPlain(port, "127.0.0.1", () =>
        socket.write("GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"),
      );
      socket.on("data", (chunk: Buffer) => (told += chunk.toString("latin1")));
      socket.on("error", () => {});
      socket.on("close", () => resolve(told));
    });
    expect(answer).not.toContain("HTTP/1.1");
  });

  test("a WebSocket is opened", async () => {
    const socket = new WebSocket(`wss://127.0.0.1:${port}/graphql`, "graphql-transport-ws", { ca });
    const heard: string[] = [];
    socket.on("message", (data: Buffer) => heard.push(data.toString()));
    await new Promise((resolve) => socket.once("open", resolve));
    socket.send(JSON.stringify({ type: "connection_init" }));
    const query = '{ queryNote(filter: { text: { eq: "one" } }) { text } }';
    socket.send(JSON.stringify({ id: "1", type: "subscribe", payload: { query } }));
    await waitUntil(() => heard.length >= 2, 5_000);
    socket.terminate();
    expect(heard[1]).toContain('{"queryNote":[{"text":"one"}]}');
  });

  test("resolvers reach the database beside them", async () => {
    const told = await ask("/graphql", { body: "{ countNotes }" });
    expect(told.text).toMatch(/"countNotes":\s*1/);
  });
});

describe("HTTP/2", () => {
  test("is answered by the same routes", async () => {
    const session = openSession();
    const written = await ask2(session, "/mutate?commitNow=true", { body: write("two") });
    expect(written.status).toBe(200);
    expect((await ask2(session, "/query", { body: find("two") })).text).toContain(found("two"));
    const answer = await ask2(session, "/graphql", {
      body: '{ queryNote(filter: { text: { eq: "two" } }) { text } }',
    });
    expect(answer.text).toContain('{"queryNote":[{"text":"two"}]}');
    expect((await ask2(session, "/health")).text).toContain('"status":"healthy"');
    expect((await ask2(session, "/nowhere")).status).toBe(404);
    expect((await ask2(session, "/login", { body: "{" })).text).toContain("errors");
    expect((await ask2(session, "/query", { method: "GET" })).status).toBe(400);
  });

  test("many requests at once, and large ones", async () => {
    const session = openSession();
    const long = "x".repeat(400_000);
    const stored = await ask2(session, "/mutate?commitNow=true", {
      body: `{ set { _:n <long> "${long}" . } }`,
    });
    expect(stored.text.slice(0, 40)).toContain("Success");
    const asked = Array.from({ length: 500 }, () => ask2(session, "/query", { body: find("two") }));
    const large = ask2(session, "/query", { body: "{ q(func: has(long)) { long } }" });
    for (const answer of await Promise.all(asked)) expect(answer.text).toContain(found("two"));
    expect((await large).text.includes(long)).toBe(true);
  });

  test("a transaction goes on at any process", async () => {
    const doors = Array.from({ length: 4 }, () => openSession());
    const begun = await ask2(doors[0]!, "/mutate", { body: write("in another") });
    const { txn } = (JSON.parse(begun.text) as { extensions: { txn: { start_ts: number } } })
      .extensions;
    for (const door of doors) {
      const path = `/query?startTs=${txn.start_ts}`;
      expect((await ask2(door, path, { body: find("in another") })).text).toContain(
        found("in another"),
      );
    }
  });

  test("a body over the limit is refused, one that breaks off is not executed", async () => {
    const session = openSession();
    const body = write("x".repeat(1_100_000));
    const refused = await ask2(session, "/mutate?commitNow=true", { body }).catch(
      (error: unknown) => error as Told,
    );
    expect(refused.status).toBe(413);
    const raw = await openRaw();
    raw.write(head(1, "/mutate?commitNow=true"));
    raw.write(frame(0, 0, 1, Buffer.from(write("broken off"))));
    await ask2(session, "/query", { body: find("two") });
    raw.write(reset(1));
    raw.write(head(3, "/mutate?commitNow=true"));
    raw.write(frame(0, 0, 3, Buffer.from(write("broken off"))));
    await ask2(session, "/query", { body: find("two") });
    raw.destroy();
    await ask2(session, "/query", { body: find("two") });
    const after = await ask2(session, "/query", { body: find("broken off") });
    expect(after.text).toContain('{"data":{"q":[]}');
  });

  test("events are streamed", async () => {
    const session = openSession();
    const stream = session.request({
      ":method": "POST",
      ":path": "/graphql",
      accept: "text/event-stream",
      "content-type": "application/graphql",
    });
    let told = "";
    stream.on("data", (chunk: Buffer) => (told += chunk.toString()));
    stream.end('subscription { queryNote(filter: { text: { eq: "streamed" } }) { text } }');
    await waitUntil(() => told.includes('"queryNote":[]'), 5_000);
    await ask2(session, "/mutate?commitNow=true", { body: write("streamed") });
    await waitUntil(() => told.includes('"queryNote":[{"text":"streamed"}]'), 5_000);
    stream.close();
    expect(told).toContain("event: next");
  });

  /** Another address of this machine, where it has one. */
  const others = Object.values(networkInterfaces())
    .flatMap((list) => list ?? [])
    .filter(({ internal, family }) => !internal && family === "IPv4")
    .slice(0, 1);

  for (const { address } of others) {
    test("no client names its own address", async () => {
      const session = connectHttp2(`https://${address}:${port}`, { ca, rejectUnauthorized: false });
      session.on("error", () => {});
      sessions.push(session);
      const told = await ask2(session, "/alter", {
        body: '{"drop_all":true}',
        headers: { "x-weft-remote-address": "127.0.0.1" },
      });
      expect(told.text).toContain(address);
      expect(told.text).toContain("errors");
    });
  }

  test("who opens streams and resets them at once is cut off, and nobody else is", async () => {
    const other = openSession();
    const raw = await openRaw();
    const closed = new Promise((resolve) => raw.once("close", resolve));
    for (let id = 1; id < 1_000; id += 2) raw.write(Buffer.concat([head(id, "/query"), reset(id)]));
    await closed;
    expect((await ask2(other, "/query", { body: find("two") })).text).toContain(found("two"));
  });

  test.each([
    ["pings", frame(6, 0, 0, Buffer.alloc(8))],
    ["settings", frame(4, 0, 0, Buffer.from("00030000ffff", "hex"))],
  ])("%s without end keep nobody waiting", async (_what, one) => {
    const socket = await openRaw();
    // What comes back is not read.
    socket.pause();
    const many = Buffer.concat(Array.from({ length: 10_000 }, () => one));
    for (let i = 0; i < 20; i++) socket.write(many);
    const session = openSession();
    for (let i = 0; i < 20; i++) {
      const asked = ask2(session, "/query", { body: find("two") });
      expect((await asked).text).toContain(found("two"));
    }
    socket.destroy();
  });

  test("a head over the limit is refused", async () => {
    const session = openSession();
    const headers = { "x-large": "x".repeat(60_000) };
    const outcome = await ask2(session, "/health", { headers }).then(
      ({ status }) => status,
      () => 0,
    );
    expect([0, 431]).toContain(outcome);
    expect((await ask2(openSession(), "/health")).status).toBe(200);
  });
});

test("commands reach the server with its authority", async () => {
  const facts = used("more.rdf");
  writeFileSync(facts, '_:a <Note.text> "loaded" .\n');
  const to = ["--to", `https://127.0.0.1:${port}`];
  const loaded = await runWeft(["live", "--files", facts, ...to, "--ca", file("authority.pem")]);
  expect([loaded.code, loaded.stderr]).toEqual([0, ""]);
  expect((await ask("/query", { body: find("loaded") })).text).toContain(found("loaded"));
  const query = used("query.dql");
  writeFileSync(query, find("loaded"));
  const explained = await runWeft(["explain", query, ...to, "--ca", file("authority.pem")]);
  expect([explained.code, explained.stderr]).toEqual([0, ""]);
  const unknown = await runWeft(["explain", query, ...to]);
  expect(unknown.code).toBe(1);
  expect(unknown.stderr).toContain("UNABLE_TO_VERIFY_LEAF_SIGNATURE");
  const known = await runWeft(["key", "list", ...to], {
    NODE_EXTRA_CA_CERTS: file("authority.pem"),
  });
  expect([known.code, known.stderr]).toEqual([0, ""]);
});

test("the start says where it serves", () => {
  expect(server.output()).toContain(`https://0.0.0.0:${port}`);
  expect(server.output()).not.toContain("http://");
});

async function serialOf(options: object = {}): Promise<string> {
  const socket = connectTls({ host: "127.0.0.1", port, ca, ...options });
  await new Promise((resolve, reject) =>
    socket.once("secureConnect", resolve).once("error", reject),
  );
  const serial = socket.getPeerCertificate().serialNumber;
  socket.destroy();
  return serial;
}

test("new certificates are taken without losing a connection", async () => {
  const kept = openSession();
  const agent = makeAgent();
  await ask2(kept, "/health");
  await ask("/health", { agent });
  const before = await serialOf();
  // Half of a new pair changes nothing.
  copyFileSync(file("renewed.pem"), used("own.pem"));
  await waitUntil(() => server.output().includes("cannot be used"), 5_000);
  expect(await serialOf()).toBe(before);
  copyFileSync(file("renewed.key"), used("own.key"));
  await waitUntil(async () => (await serialOf()) !== before, 5_000);
  expect((await ask2(kept, "/query", { body: find("two") })).text).toContain(found("two"));
  expect((await ask("/query", { agent, body: find("two") })).text).toContain(found("two"));
  const serials = new Set(await Promise.all([serialOf(), serialOf(), serialOf(), serialOf()]));
  expect(serials.size).toBe(1);
  // A process that starts later has them, too.
  const victim = server.childPids().find((pid) => roleOf(pid) === "worker") ?? 0;
  process.kill(victim, "SIGKILL");
  await waitUntil(() => !server.childPids().includes(victim), 5_000);
  expect(await serialOf()).not.toBe(before);
  await server.stop();
});

describe("clients' certificates", () => {
  const shown = (name: string) => ({ cert: text(`${name}.pem`), key: text(`${name}.key`) });

  async function open(settings: string): Promise<void> {
    server = await startServer({
      dataDir: makeFolder(),
      ca,
      client: shown("client"),
      flags: ["--workers", "1", "--tls", settings],
    });
    port = Number(new URL(server.url).port);
  }

  const outcome = (options: object): Promise<number | string> =>
    ask("/health", { agent: makeAgent({ keepAlive: false, ...options }) }).then(
      ({ status }) => status,
      () => "refused",
    );

  const modes: [string, string, none: number | string, foreign: number | string][] = [
    ["requireandverify", "client-ca", "refused", "refused"],
    ["verifyifgiven", "client-ca", 200, "refused"],
    ["REQUIREANY", "ca-cert", "refused", 200],
  ];
  test.each(modes)("%s", async (mode, caKey, none, foreign) => {
    const pair = `server-cert=${file("server.pem")}; server-key=${file("server.key")}`;
    await open(`${pair}; ${caKey}=${file("authority.pem")}; client_auth_type=${mode}`);
    expect(await outcome({})).toBe(none);
    expect(await outcome(shown("foreign"))).toBe(foreign);
    expect(await outcome(shown("client"))).toBe(200);
    // A ticket that was given to one who may come in is of no use to another authority's client.
    expect(await outcome({ ...shown("client"), maxVersion: "TLSv1.2" })).toBe(200);
    const commands = ["key", "list", "--to", server.url, "--ca", file("authority.pem")];
    const own = ["--cert", file("client.pem"), "--cert-key", file("client.key")];
    expect((await runWeft([...commands, ...own])).code).toBe(0);
    await server.stop();
  });
});
