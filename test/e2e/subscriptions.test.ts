// Goal: subscriptions as clients meet them: both sub-protocols and event streams, over real sockets, with two workers.
import { request } from "node:http";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { signToken, testNamespace, testSecret } from "../support/tokens.ts";
import { cleanUp, makeFolder, post, startServer, type TestServer } from "./server.ts";
import {
  connect,
  connectNewer,
  connectOlder,
  newer,
  older,
  type Subscriber,
} from "./subscriber.ts";

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
  type Boat @withSubscription { id: ID!  name: String! @id  crew: Int  log: String }
  type Note @withSubscription @auth(query: { rule: "query($USER: String!) { queryNote(filter: {by: {eq: $USER}}) { id } }" }) {
    id: ID!  by: String! @search(by: [hash])  text: String }
  # Dgraph.Authorization ${JSON.stringify(line)}\n`;

async function serve(one: TestServer, text = sdl): Promise<void> {
  const done = await post(`${one.url}/admin/schema`, text, { "content-type": "text/plain" });
  // Rules that leave operations open are warned of.
  expect(done.json).toMatchObject({ data: { code: "Success", message: "Done" } });
}

async function mutate(query: string, one = server): Promise<void> {
  const { json } = await post(`${one.url}/graphql`, { query: `mutation { ${query} { numUids } }` });
  expect(json["errors"]).toBeUndefined();
}

const addBoat = (name: string, one = server): Promise<void> =>
  mutate(`addBoat(input: [{name: "${name}", crew: 1}])`, one);
const setCrew = (name: string, crew: number, one = server): Promise<void> =>
  mutate(`updateBoat(input: {filter: {name: {eq: "${name}"}}, set: {crew: ${crew}}})`, one);
const boat = (name: string): { query: string } => ({
  query: `subscription { getBoat(name: "${name}") { name crew } }`,
});
const crewOf = (name: string, crew: number): object => ({ data: { getBoat: { name, crew } } });
const data = (id: string, payload: object): object => ({ id, type: "data", payload });
const next = (id: string, payload: object): object => ({ id, type: "next", payload });

beforeAll(async () => {
  const limits =
    "sockets=6; socket-subscriptions=2; socket-buffer=64KB; socket-message=4KB; socket-init=3s; keep-alive=2s";
  [server, narrow] = await Promise.all([
    startServer({ dataDir: makeFolder(), flags: ["--workers", "2"] }),
    startServer({ dataDir: makeFolder(), flags: ["--workers", "1", "--limit", limits] }),
  ]);
  await Promise.all([serve(server), serve(narrow)]);
}, 60_000);
afterAll(cleanUp);

describe("the older sub-protocol", () => {
  test("answers at once and after each change, until it is stopped", async () => {
    await addBoat("Alba");
    const one = await connectOlder(server.url);
    expect(await one.ask({ id: "1", type: "start", payload: boat("Alba") })).toEqual(
      data("1", crewOf("Alba", 1)),
    );
    await setCrew("Alba", 2);
    expect(await one.next()).toEqual(data("1", crewOf("Alba", 2)));
    expect(await one.ask({ id: "1", type: "stop" })).toEqual({ id: "1", type: "complete" });
    await setCrew("Alba", 3);
    expect(await one.ask({ type: "ka" })).toEqual({ type: "ka" });
    one.socket.close();
  });

  test("tells what is wrong, and goes on", async () => {
    const one = await connectOlder(server.url);
    const query = { query: "{ queryBoat { name } }" };
    expect(await one.ask({ id: "1", type: "start", payload: query })).toEqual({
      id: "1",
      type: "error",
      payload: { message: "given GraphQL operation is not a subscription" },
    });
    expect(await one.next()).toEqual({ id: "1", type: "complete" });
    expect(await one.ask({ type: "nonsense" })).toMatchObject({ type: "error" });
    expect(await one.ask({ type: "start", payload: query })).toMatchObject({
      type: "connection_error",
      payload: { message: "missing ID for start operation" },
    });
    expect(await one.ask({ type: "connection_terminate" })).toMatchObject({ code: 1006 });
  });

  test.each(["hello", "[]", '{"id": 5, "type": "start"}', `{"type": ${"[".repeat(50_000)}`])(
    "a message that is none ends it: %.20s",
    async (text) => {
      const one = await connect(server.url, older);
      expect(await one.ask(text)).toMatchObject({ code: 1006 });
    },
  );
});

describe("the newer sub-protocol", () => {
  test("answers at once and after each change, until it is completed", async () => {
    await addBoat("Brisa");
    const one = await connectNewer(server.url);
    expect(await one.ask({ id: "a", type: "subscribe", payload: boat("Brisa") })).toEqual(
      next("a", crewOf("Brisa", 1)),
    );
    await setCrew("Brisa", 2);
    expect(await one.next()).toEqual(next("a", crewOf("Brisa", 2)));
    one.send({ id: "a", type: "complete" });
    await setCrew("Brisa", 3);
    expect(await one.ask({ type: "ping", payload: { n: 1 } })).toEqual({
      type: "pong",
      payload: { n: 1 },
    });
    one.socket.close();
  });

  test("queries and mutations are answered once", async () => {
    const one = await connectNewer(server.url);
    const mutation = 'mutation { addBoat(input: [{name: "Cormorán"}]) { numUids } }';
    expect(await one.ask({ id: "m", type: "subscribe", payload: { query: mutation } })).toEqual(
      next("m", { data: { addBoat: { numUids: 1 } } }),
    );
    expect(await one.next()).toEqual({ id: "m", type: "complete" });
    const query = "query B($n: String!) { getBoat(name: $n) { name } }";
    const payload = { query, variables: { n: "Cormorán" }, operationName: "B" };
    expect(await one.ask({ id: "q", type: "subscribe", payload })).toEqual(
      next("q", { data: { getBoat: { name: "Cormorán" } } }),
    );
    expect(await one.next()).toEqual({ id: "q", type: "complete" });
    one.socket.close();
  });

  test("what cannot begin is an error with its place", async () => {
    const one = await connectNewer(server.url);
    const payload = { query: "subscription { queryBoat { colour } }" };
    expect(await one.ask({ id: "a", type: "subscribe", payload })).toEqual({
      id: "a",
      type: "error",
      payload: [
        {
          message: 'Cannot query field "colour" on type "Boat".',
          locations: [{ line: 1, column: 28 }],
        },
      ],
    });
    one.socket.close();
  });

  const subscribe = { id: "a", type: "subscribe", payload: boat("Alba") };
  test.each<[string, (object | string)[], number]>([
    ["no JSON", ["hello"], 4400],
    ["an unknown type", [{ type: "start" }], 4400],
    ["no id", [{ type: "connection_init" }, { type: "subscribe", payload: {} }], 4400],
    ["no request", [{ type: "connection_init" }, { ...subscribe, payload: "text" }], 4400],
    ["a subscription before the introduction", [subscribe], 4401],
    ["the same id twice", [{ type: "connection_init" }, subscribe, subscribe], 4409],
    ["two introductions", [{ type: "connection_init" }, { type: "connection_init" }], 4429],
    ["a message over the limit", [`"${"x".repeat(100_000)}"`], 1009],
  ])("%s closes it", async (_, messages, code) => {
    const one = await connect(server.url, newer);
    for (const message of messages) one.send(message);
    for (;;) {
      const heard = await one.next();
      if (!("code" in heard)) continue;
      expect(heard.code).toBe(code);
      return;
    }
  });
});

describe("two workers", () => {
  test("a commit through any of them is pushed by both", async () => {
    await addBoat("Delfín");
    const ones = await Promise.all(Array.from({ length: 6 }, () => connectNewer(server.url)));
    const subscribe = { id: "a", type: "subscribe", payload: boat("Delfín") };
    for (const one of ones)
      expect(await one.ask(subscribe)).toEqual(next("a", crewOf("Delfín", 1)));
    for (let crew = 2; crew < 6; crew++) {
      await setCrew("Delfín", crew);
      for (const one of ones) expect(await one.next()).toEqual(next("a", crewOf("Delfín", crew)));
    }
    for (const one of ones) one.socket.close();
  });
});

describe("rules", () => {
  const tokenOf = (user: string, exp?: number): string =>
    signToken({ [testNamespace]: { USER: user }, ...(exp === undefined ? {} : { exp }) });
  const payload = { query: "subscription { queryNote { text } }" };
  const notes = (...texts: string[]): object => ({
    data: { queryNote: texts.map((text) => ({ text })) },
  });

  test("everybody is told of his own", async () => {
    const ana = await connectNewer(server.url, { "X-Notes-Auth": tokenOf("ana") });
    const bob = await connect(server.url, older, { headers: { "x-notes-auth": tokenOf("bob") } });
    expect(await ana.ask({ id: "1", type: "subscribe", payload })).toEqual(next("1", notes()));
    expect(await bob.ask({ id: "1", type: "start", payload })).toEqual(data("1", notes()));
    await mutate('addNote(input: [{by: "ana", text: "fog"}])');
    expect(await ana.next()).toEqual(next("1", notes("fog")));
    await mutate('addNote(input: [{by: "bob", text: "gale"}])');
    expect(await bob.next()).toEqual(data("1", notes("gale")));
    ana.socket.close();
    bob.socket.close();
  });

  test("a token that ends takes the subscription with it", async () => {
    const exp = Math.floor(Date.now() / 1000) + 5;
    const ana = await connectOlder(server.url, { "X-Notes-Auth": tokenOf("eve", exp) });
    expect(await ana.ask({ id: "1", type: "start", payload })).toEqual(data("1", notes()));
    expect(await ana.next()).toEqual({ id: "1", type: "complete" });
    expect(await ana.ask({ id: "2", type: "start", payload })).toEqual({
      id: "2",
      type: "error",
      payload: { message: "unable to parse jwt token:token has invalid claims: token is expired" },
    });
    ana.socket.close();
  });
});

describe("event streams", () => {
  const events = { accept: "text/event-stream", "content-type": "application/json" };

  async function open(body: object, headers: Record<string, string> = events): Promise<Events> {
    const url = `${server.url}/graphql`;
    return new Events(await fetch(url, { method: "POST", headers, body: JSON.stringify(body) }));
  }

  test("answers at once and after each change", async () => {
    await addBoat("Estrella");
    const stream = await open(boat("Estrella"));
    expect(stream.type).toBe("text/event-stream; charset=utf-8");
    expect(await stream.next()).toEqual(["next", crewOf("Estrella", 1)]);
    await setCrew("Estrella", 2);
    expect(await stream.next()).toEqual(["next", crewOf("Estrella", 2)]);
    await stream.cancel();
  });

  test("what cannot begin is an answer; a query is one too", async () => {
    const refused = await open({ query: "subscription { queryBoat { colour } }" });
    expect(await refused.next()).toMatchObject(["next", { errors: [{ message: /colour/ }] }]);
    expect(await refused.next()).toEqual(["complete", undefined]);
    const query = encodeURIComponent('{ getBoat(name: "Estrella") { name } }');
    const asked = await fetch(`${server.url}/graphql?query=${query}`, {
      headers: { accept: "text/event-stream" },
    });
    const stream = new Events(asked);
    expect(await stream.next()).toEqual(["next", { data: { getBoat: { name: "Estrella" } } }]);
    expect(await stream.next()).toEqual(["complete", undefined]);
  });

  test("who takes JSON too has a query's answer as JSON", async () => {
    const both = { ...events, accept: "application/json, text/event-stream" };
    const { headers } = await post(`${server.url}/graphql`, { query: "{ __typename }" }, both);
    expect(headers.get("content-type")).toBe("application/json");
    const stream = await open(boat("Estrella"), both);
    expect(stream.type).toBe("text/event-stream; charset=utf-8");
    await stream.cancel();
  });
});

/** An event stream, event by event. */
class Events {
  readonly type: string | null;
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  #text = "";

  constructor(response: Response) {
    this.type = response.headers.get("content-type");
    this.#reader = response.body!.getReader() as ReadableStreamDefaultReader<Uint8Array>;
  }

  async next(): Promise<[string, unknown]> {
    for (;;) {
      const match = /^(?::\n\n)*event: (?<name>\w+)\ndata:(?<data>.*)\n\n/.exec(this.#text);
      if (match !== null) {
        this.#text = this.#text.slice(match[0].length);
        const text = match.groups!["data"]!.trim();
        if (text === "") return [match.groups!["name"]!, undefined];
        const { extensions: _, ...answer } = JSON.parse(text) as Record<string, unknown>;
        return [match.groups!["name"]!, answer];
      }
      const { value, done } = await this.#reader.read();
      if (done) throw new Error(`the stream ended behind ${this.#text}`);
      this.#text += new TextDecoder().decode(value);
    }
  }

  async cancel(): Promise<void> {
    await this.#reader.cancel();
  }
}

describe("upgrades that are none", () => {
  function ask(path: string, headers: Record<string, string>, body?: string): Promise<string> {
    return new Promise((resolve, reject) => {
      const method = body === undefined ? "GET" : "POST";
      const sent = request(`${server.url}${path}`, { method, headers }, (response) => {
        let text = `${response.statusCode} `;
        response.on("data", (chunk: Buffer) => (text += chunk.toString()));
        response.on("end", () => resolve(text));
      });
      sent.on("upgrade", () => reject(new Error("upgraded")));
      sent.on("error", reject);
      sent.end(body);
    });
  }
  const webSocket = {
    connection: "Upgrade",
    upgrade: "websocket",
    "sec-websocket-version": "13",
    "sec-websocket-key": "AAAAAAAAAAAAAAAAAAAAAA==",
  };

  test("without a sub-protocol it is a request like any other", async () => {
    expect(await ask("/graphql", webSocket)).toContain(
      '200 {"errors":[{"message":"no query string supplied in request"}]',
    );
    expect(await ask("/health", { ...webSocket, "sec-websocket-protocol": newer })).toMatch(
      /^200 /,
    );
  });

  test("an offer of another protocol is not taken up, and the body is read", async () => {
    const headers = {
      connection: "Upgrade, HTTP2-Settings",
      upgrade: "h2c",
      "content-type": "application/json",
    };
    const body = JSON.stringify({ query: "{ __typename }", unused: "x".repeat(200_000) });
    expect(await ask("/graphql", { ...headers, "http2-settings": "" }, body)).toMatch(
      /^200 .*"__typename":"Query"/,
    );
  });

  test("of both sub-protocols the older one is chosen", async () => {
    const one = await connect(server.url, [newer, older]);
    expect(one.socket.protocol).toBe(older);
    one.socket.close();
  });
});

describe("bounds", () => {
  test("operations on one socket, and words of one message", async () => {
    await addBoat("Alba", narrow);
    const one = await connectOlder(narrow.url);
    for (const id of ["1", "2"]) await one.ask({ id, type: "start", payload: boat("Alba") });
    expect(await one.ask({ id: "3", type: "start", payload: boat("Alba") })).toMatchObject({
      type: "error",
      payload: { message: "there are 2 operations on this connection already" },
    });
    expect(await one.next()).toEqual({ id: "3", type: "complete" });
    await one.ask({ id: "1", type: "stop" });
    expect(await one.ask({ id: "3", type: "start", payload: boat("Alba") })).toMatchObject({
      type: "data",
    });
    expect(await one.ask("x".repeat(5000))).toMatchObject({ code: 1009 });
  });

  test("who says nothing, and who does not answer any more, is left", async () => {
    const silent = await connect(narrow.url, newer);
    const dead = await connect(narrow.url, older, { autoPong: false });
    await dead.ask({ type: "connection_init", payload: {} });
    expect(await silent.next()).toMatchObject({ code: 4408 });
    expect(await dead.next()).toMatchObject({ code: 1006 });
  });

  test("sockets of a process, and streams with them", async () => {
    const open: Subscriber[] = [];
    await expect(
      (async () => {
        for (;;) open.push(await connectNewer(narrow.url));
      })(),
    ).rejects.toThrow("503");
    expect(open).toHaveLength(6);
    const ended = open.map((one) => one.next());
    for (const one of open) one.socket.close();
    await Promise.all(ended);
    const again = await connectNewer(narrow.url);
    again.socket.close();
    await again.next();
  });

  test("a reader who is behind is told the newest, not everything", async () => {
    await mutate('addBoat(input: [{name: "Lento", log: ""}])', server);
    const one = await connectNewer(server.url);
    const payload = { query: 'subscription { getBoat(name: "Lento") { crew log } }' };
    await one.ask({ id: "a", type: "subscribe", payload });
    one.socket.pause();
    const log = "x".repeat(400_000);
    for (let crew = 1; crew <= 60; crew++) {
      await mutate(
        `updateBoat(input: {filter: {name: {eq: "Lento"}}, set: {crew: ${crew}, log: "${log}"}})`,
      );
    }
    one.socket.resume();
    let count = 0;
    for (let crew = 0; crew !== 60; count++) {
      const { payload: told } = (await one.next()) as {
        payload: { data: { getBoat: { crew: number } } };
      };
      expect(told.data.getBoat.crew).toBeGreaterThan(crew);
      crew = told.data.getBoat.crew;
    }
    expect(count).toBeLessThan(60);
    one.socket.close();
  }, 60_000);
});

describe("ends", () => {
  test("another schema leaves what it does not change, and ends the rest so that clients ask again", async () => {
    const start = { id: "1", type: "start", payload: boat("Alba") };
    const [first, second] = await Promise.all([connectOlder(server.url), connectNewer(server.url)]);
    const told = await first.ask(start);
    await second.ask({ ...start, type: "subscribe" });
    const stream = await fetch(
      `${server.url}/graphql?${new URLSearchParams(boat("Alba")).toString()}`,
      { headers: { accept: "text/event-stream" } },
    );
    const events = stream.text();
    await serve(server);
    await serve(server, `${sdl}\ntype Other @withSubscription { id: ID! sails: Int }`);
    await setCrew("Alba", 71);
    expect(await first.next()).toEqual(data("1", crewOf("Alba", 71)));
    expect(await second.next()).toEqual(next("1", crewOf("Alba", 71)));

    await serve(server, sdl.replace("crew: Int", "crew: Int!"));
    for (const one of [first, second]) expect(await one.next()).toMatchObject({ code: 1012 });
    const text = await events;
    expect(text).toContain('"crew":71');
    expect(text).not.toContain("complete");
    const again = await connectOlder(server.url);
    expect(told).toMatchObject({ type: "data" });
    expect(await again.ask(start)).toEqual(data("1", crewOf("Alba", 71)));
    again.socket.close();
  });

  test("a server that ends takes leave in the way of each", async () => {
    const [first, second] = await Promise.all([connectOlder(server.url), connectNewer(server.url)]);
    await first.ask({ id: "1", type: "start", payload: boat("Alba") });
    await second.ask({ id: "1", type: "subscribe", payload: boat("Alba") });
    const code = server.stop();
    expect(await first.next()).toEqual({ id: "1", type: "complete" });
    expect(await first.next()).toMatchObject({ code: 1001 });
    expect(await second.next()).toMatchObject({ code: 1001 });
    expect(await code).toBe(0);
  });
});
