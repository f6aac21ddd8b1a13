/** The server that the walks through the reference ask: an SDL with every shape of it, and resolvers beside it. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { expect } from "vitest";
import { makeFolder, post, startServer, type TestServer, type Told } from "../e2e/server.ts";
import { testNamespace, testSecret } from "../support/tokens.ts";

export const authHeader = "X-Shelf-Auth";

export const sdl = `
interface Work { id: ID!  title: String! @search(by: [hash, trigram, exact])  pages: Int @search  inPrint: Boolean @search }
interface Rated { stars: Int @search }
type Novel implements Work & Rated { genre: String  writer: Writer }
type Manual implements Work { subject: String }
type Writer @withSubscription {
  id: ID!
  login: String! @id
  email: String @id
  name: String @search(by: [hash])
  works: [Novel] @hasInverse(field: writer)
  initials: String @lambda
  place: Int @lambda
  seen: String @lambda
}
type Note @auth(
  query: { rule: "query($USER: String!) { queryNote(filter: {by: {eq: $USER}}) { id } }" }
  add: { rule: "query($USER: String!) { queryNote(filter: {by: {eq: $USER}}) { id } }" }
) { id: ID!  by: String! @search(by: [hash])  text: String }
type Query {
  writersNamed(name: String!): [Writer] @lambda
  greeting(to: String): String @lambda
  event: String @lambda
  notesFor: [String] @lambda
  notesAs(token: String!): [String] @lambda
  mistake: String @lambda
}
type Mutation { rename(login: String!, name: String!): Writer @lambda }
# Dgraph.Authorization ${JSON.stringify({ VerificationKey: testSecret, Header: authHeader, Namespace: testNamespace, Algo: "HS256" })}
`;

const script = `
const initials = (name) => (name ?? "").split(" ").map((word) => word[0]).join("");
self.addGraphQLResolvers({
  "Writer.initials": ({ parent }) => initials(parent.name),
  "Writer.seen": (event) => JSON.stringify({ parent: Object.keys(event.parent).sort(), args: event.args }),
  "Query.greeting": async ({ args }) => "hello " + (args.to ?? "you"),
  "Query.event": ({ parent, parents, args, graphql, dql, authHeader }) => JSON.stringify({
    parent, parents, args, graphql: typeof graphql, query: typeof dql.query, mutate: typeof dql.mutate, authHeader }),
});
self.addGraphQLResolvers({
  "Query.writersNamed": async ({ args, dql }) => {
    const answer = await dql.query(
      "query q($n: string) { q(func: eq(Writer.name, $n)) { id: uid login: Writer.login name: Writer.name } }", { $n: args.name });
    return answer.data.q;
  },
  "Query.notesFor": async ({ graphql }) => (await graphql("{ queryNote { text } }")).data.queryNote.map((n) => n.text),
  "Query.notesAs": async ({ args, authHeader, graphql }) =>
    (await graphql("{ queryNote { text } }", {}, { key: authHeader.key, value: args.token })).data.queryNote.map((n) => n.text),
  "Query.mistake": async ({ graphql, dql }) => {
    const both = [await graphql("{ nothingHere }"), await dql.query("{ broken")];
    return both.map(({ errors }) => typeof errors[0].message).join();
  },
  "Mutation.rename": async ({ args, graphql, dql }) => {
    await dql.mutate('upsert { query { v as var(func: eq(Writer.login, "' + args.login + '")) } mutation { set { uid(v) <Writer.name> "' + args.name + '" . } } }');
    const answer = await graphql("query q($l: String!) { getWriter(login: $l) { id login name } }", { l: args.login });
    return answer.data.getWriter;
  },
});
self.addMultiParentGraphQLResolvers({
  "Writer.place": (event) => {
    if (event.args !== null || event.parent) throw new Error("no event of several parents");
    return event.parents.map((_, i) => i + 1);
  },
});
`;

export interface SeedContext {
  readonly server: TestServer;
  /** GraphQL as JSON: the answer without its extensions. */
  ask(query: string, more?: Asked): Promise<Answer>;
  send(path: string, body: string | object, headers?: Record<string, string>): Promise<Told>;
}

export interface Asked {
  readonly variables?: object;
  readonly operationName?: string;
  readonly headers?: Record<string, string>;
}

/** What reference/messages 2 allows. */
export interface Answer {
  readonly data?: unknown;
  readonly errors?: readonly { readonly message: string }[];
}

/** What a server is begun with that does not let in everyone. */
export interface SeedAccess {
  readonly dataDir?: string;
  /** What the schema is set with. */
  readonly headers?: (url: string) => Promise<Record<string, string>>;
}

export async function openSeedContext(
  flags: readonly string[] = [],
  { dataDir = makeFolder(), headers: makeHeaders }: SeedAccess = {},
): Promise<SeedContext> {
  const file = join(makeFolder(), "resolvers.js");
  writeFileSync(file, script);
  const server = await startServer({
    dataDir,
    flags: ["--lambda", file, ...flags],
  });
  const send: SeedContext["send"] = (path, body, headers) => post(server.url + path, body, headers);
  const own = (await makeHeaders?.(server.url)) ?? {};
  const done = await send("/admin/schema", sdl, { "content-type": "text/plain", ...own });
  expect(done.json).toMatchObject({ data: { code: "Success" } });
  return {
    server,
    send,
    async ask(query, { headers, ...more } = {}) {
      const told = await send("/graphql", { query, ...more }, headers);
      const { extensions: _, ...answer } = told.json as Answer & { extensions?: unknown };
      return answer;
    },
  };
}

/** Two writers, three novels, a manual. */
export async function fillShelf(context: SeedContext): Promise<void> {
  const answer = await context.ask(`mutation {
    addWriter(input: [
      { login: "ann", email: "ann@shelf", name: "Ann Lee", works: [
        { title: "Tides", pages: 210, inPrint: true, stars: 4, genre: "sea" },
        { title: "Tidal", pages: 90, inPrint: false, stars: 2 } ] }
      { login: "bo", name: "Bo Sand", works: [{ title: "Dunes", pages: 150, inPrint: true, stars: 5 }] }
    ]) { numUids }
    addManual(input: [{ title: "Sails", pages: 40, subject: "rigging" }]) { numUids }
  }`);
  expect(answer).toEqual({ data: { addWriter: { numUids: 5 }, addManual: { numUids: 1 } } });
}

/** Sends and receives bytes, which `fetch` would pack and unpack by itself. */
export async function sendPacked(
  url: string,
  body: string,
  headers: Record<string, string>,
): Promise<{ readonly encoding: string | null; readonly text: string }> {
  const { request } = await import("node:http");
  return await new Promise((resolve, reject) => {
    const req = request(url, { method: "POST", headers }, (res) => {
      const parts: Buffer[] = [];
      res.on("data", (part: Buffer) => parts.push(part));
      res.on("end", () => {
        const bytes = Buffer.concat(parts);
        const encoding = res.headers["content-encoding"] ?? null;
        resolve({ encoding, text: (encoding === "gzip" ? gunzipSync(bytes) : bytes).toString() });
      });
    });
    req.on("error", reject);
    req.end(headers["content-encoding"] === "gzip" ? gzipSync(body) : body);
  });
}
