// Goal: one event stream for many operations, with the package graphql-sse and request by request, over two workers.
import { request as ask, type IncomingMessage } from "node:http";
import { join } from "node:path";
import { createClient, type Client } from "graphql-sse";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { signToken, testNamespace, testSecret } from "../support/tokens.ts";
import { cleanUp, makeFolder, post, roleOf, runWeft, startServer, waitUntil } from "./server.ts";
import type { TestServer } from "./server.ts";

let server: TestServer;
/** With bounds that a test can reach. */
let narrow: TestServer;

const line = {
  Header: "X-Notes-Auth",
  Namespace: testNamespace,
  Algo: "HS256",
  VerificationKey: testSecret,
};
const sdl = `
  type Boat @withSubscription { id: ID!  name: String! @id  crew: Int }
  type Note @withSubscription @auth(query: { rule: "query($USER: String!) { queryNote(filter: {by: {eq: $USER}}) { id } }" }) {
    id: ID!  by: String! @search(by: [hash])  text: String }
  # Dgraph.Authorization ${JSON.stringify(line)}\n`;

beforeAll(async () => {
  const limits =
    "sockets=4; reserved-streams=2; socket-subscriptions=2; socket-init=2s; keep-alive=1s";
  [server, narrow] = await Promise.all([
    startServer({ dataDir: makeFolder(), flags: ["--workers", "2"] }),
    startServer({ dataDir: makeFolder(), flags: ["--workers", "1", "--limit", limits] }),
  ]);
  for (const one of [server, narrow]) {
    const done = await post(`${one.url}/admin/schema`, sdl, { "content-type": "text/plain" });
    expect(done.json).toMatchObject({ data: { code: "Success" } });
  }
}, 60_000);
afterAll(cleanUp);

async function mutate(query: string, one = server): Promise<void> {
  const { json } = await post(`${one.url}/graphql`, { query: `mutation { ${query} { numUids } }` });
  expect(json["errors"]).toBeUndefined();
}

const setCrew = (name: string, crew: number, one = server): Promise<void> =>
  mutate(`addBoat(input: [{name: "${name}", crew: ${crew}}], upsert: true)`, one);

/** Without extensions. */
interface Told {
  readonly data?: unknown;
  readonly errors?: unknown;
}

/** What a client is told of an operation, one after the other. */
class Listener {
  readonly told: Told[] = [];
  end: unknown = undefined;
  readonly stop: () => void;

  constructor(client: Client<true>, query: string, variables?: Record<string, unknown>) {
    this.stop = client.subscribe(
      { query, ...(variables && { variables }) },
      {
        next: ({ data, errors }) => this.told.push(errors ? { data, errors } : { data }),
        error: (error) => (this.end = error),
        complete: () => (this.end ??= "complete"),
      },
    );
  }

  async has(count: number): Promise<Told[]> {
    await waitUntil(() => this.told.length >= count || this.end instanceof Error, 10_000);
    return this.told;
  }

  async ended(): Promise<unknown> {
    await waitUntil(() => this.end !== undefined, 10_000);
    return this.end;
  }
}

const crewOf = "subscription ($name: String!) { getBoat(name: $name) { crew } }";

describe("the package graphql-sse", () => {
  function open(headers: Record<string, string> = {}): Client<true> {
    return createClient({ url: `${server.url}/graphql`, singleConnection: true, headers, retryAttempts: 0 }); // prettier-ignore
  }

  test("subscriptions, a query and a mutation go over one stream", async () => {
    await setCrew("Alba", 1);
    const client = open();
    const first = new Listener(client, crewOf, { name: "Alba" });
    expect(await first.has(1)).toEqual([{ data: { getBoat: { crew: 1 } } }]);
    const second = new Listener(client, "subscription { aggregateBoat { count } }");
    expect(await second.has(1)).toEqual([{ data: { aggregateBoat: { count: 1 } } }]);
    const added = new Listener(client, 'mutation { addBoat(input: [{name: "Brisa"}]) { boat { name } } }'); // prettier-ignore
    expect(await added.ended()).toBe("complete");
    expect(added.told).toEqual([{ data: { addBoat: { boat: [{ name: "Brisa" }] } } }]);
    expect(await second.has(2)).toEqual([
      { data: { aggregateBoat: { count: 1 } } },
      { data: { aggregateBoat: { count: 2 } } },
    ]);
    first.stop();
    await setCrew("Alba", 2);
    const seen = new Listener(client, '{ getBoat(name: "Alba") { crew } }');
    expect(await seen.ended()).toBe("complete");
    expect(seen.told).toEqual([{ data: { getBoat: { crew: 2 } } }]);
    expect(first.told).toHaveLength(1);
    client.dispose();
  });

  test("what is wrong with an operation is the answer to its request", async () => {
    const client = open();
    const wrong = new Listener(client, "{ queryBoat { nam } }");
    const error = (await wrong.ended()) as { response: Response };
    expect(error.response.status).toBe(400);
    client.dispose();
  });

  test("an operation has the rights of its token", async () => {
    await mutate('addNote(input: [{by: "ann", text: "hers"}, {by: "bob", text: "his"}])');
    const client = open({ "X-Notes-Auth": signToken({ USER: "ann" }) });
    const notes = new Listener(client, "subscription { queryNote { text } }");
    expect(await notes.has(1)).toEqual([{ data: { queryNote: [{ text: "hers" }] } }]);
    client.dispose();
  });

  test("a changed schema ends the stream, and the library asks again", async () => {
    const client = createClient({ url: `${narrow.url}/graphql`, singleConnection: true, retry: async () => {} }); // prettier-ignore
    await setCrew("Cala", 1, narrow);
    const crew = new Listener(client, crewOf, { name: "Cala" });
    await crew.has(1);
    const type = { "content-type": "text/plain" };
    await post(`${narrow.url}/admin/schema`, sdl.replace("crew: Int", "crew: Int!"), type);
    const told = { data: { getBoat: { crew: 1 } } };
    expect(await crew.has(2)).toEqual([told, told]);
    client.dispose();
    await post(`${narrow.url}/admin/schema`, sdl, type);
  });
});

interface Answer {
  readonly status: number;
  readonly body: string;
  readonly headers: IncomingMessage["headers"];
}

interface Asked {
  readonly token?: string;
  readonly body?: object | string;
  readonly headers?: Record<string, string>;
  readonly search?: string;
}

/** A connection of its own for each request: the workers take turns. */
function send(one: TestServer, method: string, asked: Asked = {}): Promise<IncomingMessage> {
  const { token, body, headers, search = "" } = asked;
  return new Promise((resolve, reject) => {
    const options = {
      method,
      agent: false,
      headers: {
        ...(token !== undefined && { "X-GraphQL-Event-Stream-Token": token }),
        ...(body !== undefined && { "content-type": "application/json" }),
        ...headers,
      },
    };
    const out = ask(`${one.url}/graphql${search}`, options, resolve);
    out.once("error", reject);
    out.end(typeof body === "object" ? JSON.stringify(body) : body);
  });
}

async function tell(one: TestServer, method: string, asked: Asked = {}): Promise<Answer> {
  const answer = await send(one, method, asked);
  let body = "";
  for await (const chunk of answer) body += String(chunk);
  return { status: answer.statusCode ?? 0, body, headers: answer.headers };
}

async function reserve(one: TestServer, headers: Record<string, string> = {}): Promise<string> {
  const { status, body } = await tell(one, "PUT", { headers });
  expect(status).toBe(201);
  return body;
}

/** The stream of a token, as it comes. */
class OpenStream {
  text = "";
  isEnded = false;
  readonly #answer: IncomingMessage;

  constructor(answer: IncomingMessage) {
    this.#answer = answer;
    answer.on("data", (chunk: Buffer) => (this.text += chunk.toString()));
    answer.on("close", () => (this.isEnded = true));
    answer.on("error", () => {});
  }

  static async of(one: TestServer, asked: Asked): Promise<OpenStream> {
    const headers = { accept: "text/event-stream", ...asked.headers };
    const answer = await send(one, "GET", { ...asked, headers });
    expect(answer.statusCode).toBe(200);
    expect(answer.headers["content-type"]).toBe("text/event-stream; charset=utf-8");
    return new OpenStream(answer);
  }

  shows(text: string): Promise<void> {
    return waitUntil(() => this.text.includes(text), 10_000);
  }

  async ends(): Promise<void> {
    await waitUntil(() => this.isEnded, 10_000);
  }

  close(): void {
    this.#answer.destroy();
  }
}

const operation = (id: string, query: string): object => ({
  query,
  extensions: { operationId: id },
});

describe("request by request", () => {
  test("a token is a secret of the server's, shown in a header or in the address", async () => {
    const token = await reserve(server);
    expect(token).toMatch(/^\d+-[\w-]{32}$/);
    const stream = await OpenStream.of(server, { search: `?token=${token}` });
    const run = await tell(server, "POST", { token, body: operation("a", "{ __typename }") });
    expect([run.status, run.body]).toEqual([202, ""]);
    await stream.shows('event: complete\ndata: {"id":"a"}\n\n');
    expect(stream.text).toMatch(
      /^:\n\nevent: next\ndata: \{"id":"a","payload":\{"data":\{"__typename":"Query"\}.*\}\}\n\nevent: complete\n/,
    );
    stream.close();
  });

  test("answers wait for a reservation to be opened", async () => {
    const token = await reserve(server);
    const runs = ["a", "b"].map((id) =>
      tell(server, "POST", { token, body: operation(id, "{ __typename }") }),
    );
    expect((await Promise.all(runs)).map(({ status }) => status)).toEqual([202, 202]);
    const stream = await OpenStream.of(server, { token });
    await stream.shows('event: complete\ndata: {"id":"a"}');
    await stream.shows('event: complete\ndata: {"id":"b"}');
    stream.close();
  });

  test("one connection for a token, and none after it", async () => {
    const token = await reserve(server);
    const stream = await OpenStream.of(server, { token });
    const again = await tell(server, "GET", { token, headers: { accept: "text/event-stream" } });
    expect([again.status, again.body]).toEqual([409, '{"errors":[{"message":"The event stream is open already"}]}']); // prettier-ignore
    stream.close();
    const run = (): Promise<Answer> =>
      tell(server, "POST", { token, body: operation("a", "{ __typename }") });
    await waitUntil(async () => (await run()).status === 404, 10_000);
    const late = await tell(server, "GET", { token, headers: { accept: "text/event-stream" } });
    expect(late.status).toBe(404);
  });

  test.each(["", "0-", "nonsense", `0-${"a".repeat(32)}`, `127-${"a".repeat(32)}`])(
    "nobody guesses a token: %j",
    async (token) => {
      const message = "There is no event stream with this token";
      const body = operation("a", "{ __typename }");
      for (const method of ["POST", "DELETE"]) {
        const told = await tell(server, method, { token, ...(method === "POST" && { body }) });
        expect([method, told.status, JSON.parse(told.body)]).toEqual([
          method,
          404,
          { errors: [{ message }] },
        ]);
      }
    },
  );

  test("an operation is stopped by its id, and its id is free again", async () => {
    await setCrew("Dena", 1);
    const token = await reserve(server);
    const stream = await OpenStream.of(server, { token });
    const body = operation("crew", 'subscription { getBoat(name: "Dena") { crew } }');
    const run = (): Promise<Answer> => tell(server, "POST", { token, body });
    expect((await run()).status).toBe(202);
    await stream.shows('"crew":1');
    expect((await run()).status).toBe(409);
    expect((await tell(server, "DELETE", { token })).status).toBe(400);
    const stopped = await tell(server, "DELETE", { token, search: "?operationId=crew" });
    expect([stopped.status, stopped.body]).toEqual([200, ""]);
    await setCrew("Dena", 2);
    expect((await run()).status).toBe(202);
    await stream.shows('"crew":2');
    expect(stream.text.match(/event: next/g)).toHaveLength(2);
    expect(stream.text).not.toContain("complete");
    stream.close();
  });

  test.each<[string, object | string, number, string]>([
    ["no id", { query: "{ __typename }" }, 400, "The member operationId of extensions is missing"],
    ["a number", { query: "{ __typename }", extensions: { operationId: 5 } }, 400, "operationId"],
    ["a long id", operation("x".repeat(257), "{ __typename }"), 400, "256 characters"],
    ["no document", operation("a", ""), 400, "no query string supplied"],
    ["no JSON", "{", 400, "Not a valid GraphQL request body"],
    ["a list", "[]", 400, "Not a valid GraphQL request body"],
    ["an unknown field", operation("a", "{ nothing }"), 400, "Cannot query field"],
  ])("a request that is none: %s", async (_, body, status, words) => {
    const token = await reserve(server);
    const stream = await OpenStream.of(server, { token });
    const told = await tell(server, "POST", { token, body });
    expect([told.status, told.body]).toEqual([status, expect.stringContaining(words)]);
    const after = await tell(server, "POST", { token, body: operation("a", "{ __typename }") });
    expect(after.status).toBe(202);
    await stream.shows('{"id":"a"}');
    stream.close();
  });

  test("a page of another origin is not told that it may, and opens nothing", async () => {
    const origin = "http://elsewhere.example";
    const foreign = { origin, "access-control-request-method": "PUT" };
    const refused = await tell(server, "OPTIONS", { headers: foreign });
    expect(refused.headers["access-control-allow-origin"]).toBeUndefined();
    const token = await reserve(server, { origin });
    const events = { origin, accept: "text/event-stream" };
    const told = await tell(server, "GET", { token, headers: events });
    expect([told.status, told.headers["access-control-allow-origin"]]).toEqual([403, undefined]);
    const own = "http://localhost:3000";
    const asked = {
      origin: own,
      "access-control-request-method": "DELETE",
      "access-control-request-headers": "x-graphql-event-stream-token",
    };
    const { headers } = await tell(server, "OPTIONS", { headers: asked });
    expect(headers["access-control-allow-origin"]).toBe(own);
    expect(headers["access-control-allow-methods"]).toBe("POST, PUT, DELETE, OPTIONS");
    expect(headers["access-control-allow-headers"]).toContain("X-GraphQL-Event-Stream-Token");
  });
});

describe("bounds", () => {
  test("reservations that nobody opens are few, and go by themselves", async () => {
    const tokens = await Promise.all([reserve(narrow), reserve(narrow)]);
    const third = await tell(narrow, "PUT");
    expect([third.status, third.body]).toEqual([503, expect.stringContaining("(--limit reserved-streams)")]); // prettier-ignore
    const stream = await OpenStream.of(narrow, { token: tokens[0] ?? "" });
    await reserve(narrow);
    await waitUntil(async () => (await tell(narrow, "PUT")).status === 201, 10_000);
    const headers = { accept: "text/event-stream" };
    expect((await tell(narrow, "GET", { token: tokens[1] ?? "", headers })).status).toBe(404);
    await stream.shows(":\n\n:\n\n");
    stream.close();
  });

  test("operations of one stream", async () => {
    const token = await reserveInTime();
    const run = (id: string): Promise<Answer> =>
      tell(narrow, "POST", { token, body: operation(id, "subscription { queryBoat { name } }") });
    expect((await run("a")).status).toBe(202);
    expect((await run("b")).status).toBe(202);
    const third = await run("c");
    expect(third.status).toBe(429);
    expect(third.body).toContain("(--limit socket-subscriptions)");
  });

  /** Earlier reservations go by themselves. */
  async function reserveInTime(): Promise<string> {
    let made: Answer | undefined;
    await waitUntil(async () => (made = await tell(narrow, "PUT")).status === 201, 10_000);
    return made?.body ?? "";
  }
});

describe("owners", () => {
  let guarded: TestServer;
  const keys: string[] = [];

  beforeAll(async () => {
    const dataDir = join(makeFolder(), "data");
    const make = ["key", "create", "--data", dataDir, "--name"];
    const admin = (await runWeft([...make, "me", "--kind", "admin"])).stdout.trim();
    for (const name of ["ann", "bob"]) {
      keys.push((await runWeft([...make, name, "--kind", "client"])).stdout.trim());
    }
    guarded = await startServer({ dataDir, flags: ["--workers", "2", "--anonymous", "off"] });
    const done = await post(`${guarded.url}/admin/schema`, sdl, {
      "content-type": "text/plain",
      "x-auth-token": admin,
    });
    expect(done.text).toContain("Success");
  });

  const shown = (i: number): Record<string, string> => ({ "x-auth-token": keys[i] ?? "" });

  test("another key finds no stream; without one nothing is answered", async () => {
    const token = await reserve(guarded, shown(0));
    const body = operation("a", "{ __typename }");
    const events = { accept: "text/event-stream" };
    const told = await Promise.all([
      tell(guarded, "GET", { token, headers: { ...events, ...shown(1) } }),
      tell(guarded, "POST", { token, body, headers: shown(1) }),
      tell(guarded, "DELETE", { token, search: "?operationId=a", headers: shown(1) }),
    ]);
    expect(told.map(({ status }) => status)).toEqual([404, 404, 404]);
    for (const method of ["GET", "POST", "PUT", "DELETE"]) {
      const refused = await tell(guarded, method, { token, headers: events });
      expect([method, refused.body]).toEqual([method, expect.stringContaining("X-Auth-Token")]);
    }
    const stream = await OpenStream.of(guarded, { token, headers: shown(0) });
    expect((await tell(guarded, "POST", { token, body, headers: shown(0) })).status).toBe(202);
    await stream.shows('event: complete\ndata: {"id":"a"}');
    stream.close();
  });
});

test("a process that dies takes its streams with it; the server answers that they are gone", async () => {
  const one = await startServer({ dataDir: makeFolder(), flags: ["--workers", "2"] });
  await post(`${one.url}/admin/schema`, sdl, { "content-type": "text/plain" });
  const token = await reserve(one);
  const stream = await OpenStream.of(one, { token });
  for (const pid of one.childPids()) if (roleOf(pid) === "worker") process.kill(pid, "SIGKILL");
  await stream.ends();
  const body = operation("a", "{ __typename }");
  let told: Answer | undefined;
  await waitUntil(async () => {
    told = await tell(one, "POST", { token, body }).catch(() => undefined);
    return told !== undefined && told.status !== 503;
  }, 20_000);
  expect(told?.status).toBe(404);
  await one.stop();
}, 60_000);

test("a server that ends ends its streams, open and reserved", async () => {
  const one = await startServer({ dataDir: makeFolder(), flags: ["--workers", "1"] });
  const token = await reserve(one);
  await reserve(one);
  const stream = await OpenStream.of(one, { token });
  const code = one.stop();
  await stream.ends();
  expect(await code).toBe(0);
});
