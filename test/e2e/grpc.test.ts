/** gRPC as its clients see it: dgraph-js from npm against a real server, plain and over TLS. */
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { credentials, Metadata } from "@grpc/grpc-js";
import * as dgraph from "dgraph-js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findFreePort } from "../support/free-port.ts";
import { cleanUp, makeFolder, startServer, type TestServer } from "./server.ts";

afterAll(cleanUp);

interface Served {
  readonly server: TestServer;
  readonly target: string;
}

async function serve(flags: readonly string[] = [], ca?: string): Promise<Served> {
  const target = `127.0.0.1:${await findFreePort()}`;
  const all = ["--grpc", target, ...flags];
  const options = { dataDir: makeFolder(), flags: all };
  const server = await startServer(ca === undefined ? options : { ...options, ca });
  return { server, target };
}

function alteration(fields: {
  schema?: string;
  dropAll?: boolean;
  dropAttr?: string;
}): dgraph.Operation {
  const operation = new dgraph.Operation();
  if (fields.schema !== undefined) operation.setSchema(fields.schema);
  if (fields.dropAll === true) operation.setDropAll(true);
  if (fields.dropAttr !== undefined) operation.setDropAttr(fields.dropAttr);
  return operation;
}

function facts(text: string, commitNow = false): dgraph.Mutation {
  const mutation = new dgraph.Mutation();
  mutation.setSetNquads(text);
  mutation.setCommitNow(commitNow);
  return mutation;
}

/** What every client of the protocol does, whatever it came through. */
function describeClient(
  clientOf: () => dgraph.DgraphClient,
  stubOf: () => dgraph.DgraphClientStub,
): void {
  it("tells its version", async () => {
    const version = await stubOf().checkVersion(new dgraph.Check());
    // Clients compare it with the reference's versions before they make newer calls.
    expect(version.getTag()).toMatch(/^v25\.\d+\.\d+\+weft\./);
  });

  it("alters, mutates, queries with variables, and answers with triples", async () => {
    const client = clientOf();
    await client.alter(alteration({ schema: "name: string @index(exact) .\nage: int ." }));
    const mutation = new dgraph.Mutation();
    mutation.setSetJson({ uid: "_:ann", name: "Ann", age: 41 });
    mutation.setCommitNow(true);
    const made = await client.newTxn().mutate(mutation);
    const uid = made.getUidsMap().get("ann");
    expect(uid).toMatch(/^0x[0-9a-f]+$/);
    const text = "query q($n: string) { q(func: eq(name, $n)) { uid name age } }";
    const txn = client.newTxn({ readOnly: true, bestEffort: true });
    const answer = await txn.queryWithVars(text, { $n: "Ann" });
    expect(answer.getJson()).toEqual({ q: [{ uid, name: "Ann", age: 41 }] });
    expect(answer.getMetrics()?.getNumUidsMap().get("_total")).toBeGreaterThan(0);
    const triples = await client.newTxn({ readOnly: true }).queryRDFWithVars(text, { $n: "Ann" });
    expect(Buffer.from(triples.getRdf_asU8()).toString()).toContain(`<${uid}> <name> "Ann" .`);
  });

  it("runs upserts with conditions and variables", async () => {
    const client = clientOf();
    const upsert = async (): Promise<dgraph.Response> => {
      const mutation = facts(`uid(v) <name> "Bob" .`);
      mutation.setCond("@if(eq(len(v), 0))");
      const request = new dgraph.Request();
      request.setQuery("query q($n: string) { q(func: eq(name, $n)) { v as uid } }");
      request.getVarsMap().set("$n", "Bob");
      request.setMutationsList([mutation]);
      request.setCommitNow(true);
      return await client.newTxn().doRequest(request);
    };
    const first = await upsert();
    expect(first.getJson()).toEqual({ q: [] });
    const second = await upsert();
    expect((second.getJson() as { q: unknown[] }).q).toHaveLength(1);
  });

  it("keeps transactions apart, and aborts the one that has lost", async () => {
    const client = clientOf();
    const seed = await client.newTxn().mutate(facts(`_:c <name> "Carl" .`, true));
    const uid = seed.getUidsMap().get("c") ?? "";
    const one = client.newTxn();
    const two = client.newTxn();
    await one.query("{ q(func: has(name)) { uid } }");
    await two.query("{ q(func: has(name)) { uid } }");
    await one.mutate(facts(`<${uid}> <name> "Carl the first" .`));
    await two.mutate(facts(`<${uid}> <name> "Carl the second" .`));
    const inside = await one.query(`{ q(func: uid(${uid})) { name } }`);
    expect(inside.getJson()).toEqual({ q: [{ name: "Carl the first" }] });
    await one.commit();
    await expect(two.commit()).rejects.toBe(dgraph.ERR_ABORTED);
    const gone = client.newTxn();
    await gone.mutate(facts(`<${uid}> <name> "nobody" .`));
    await gone.discard();
    const after = await client.newTxn().query(`{ q(func: uid(${uid})) { name } }`);
    expect(after.getJson()).toEqual({ q: [{ name: "Carl the first" }] });
  });

  it("finds the process of a transaction from every connection", async () => {
    const client = clientOf();
    const seed = await client.newTxn().mutate(facts(`_:d <name> "Dora" .`, true));
    const uid = seed.getUidsMap().get("d") ?? "";
    const read = async (): Promise<void> => {
      const txn = client.newTxn();
      const made = await txn.mutate(facts(`_:e <name> "inside" .`));
      const inner = made.getUidsMap().get("e") ?? "";
      const seen = await txn.query(`{ q(func: uid(${uid}, ${inner})) { name } }`);
      expect((seen.getJson() as { q: unknown[] }).q).toHaveLength(2);
      await txn.commit();
    };
    for (let i = 0; i < 6; i++) await read();
  });

  it("says what is wrong with a query, with the code of its kind", async () => {
    const asked = clientOf().newTxn().query("{ q(func: nonsense(name)) { uid } }");
    await expect(asked).rejects.toMatchObject({ code: 2 });
    const found = clientOf().newTxn().query('{ q(func: anyofterms(name, "Ann")) { uid } }');
    await expect(found).rejects.toMatchObject({
      code: 2,
      details: ": Attribute name is not indexed with type term",
    });
    const sworn = new dgraph.Request();
    sworn.setMutationsList([facts(`_:x <name> "nobody" .`)]);
    sworn.setReadOnly(true);
    await expect(stubOf().query(sworn)).rejects.toThrow("no mutations allowed in a read-only");
    const eager = new dgraph.Request();
    eager.setQuery("{ q(func: has(name)) { uid } }");
    eager.setBestEffort(true);
    await expect(stubOf().query(eager)).rejects.toThrow("A best effort query must be read-only.");
    await expect(clientOf().newTxn().query("")).rejects.toThrow(/empty request/);
  });
}

describe("plain", () => {
  let served: Served;
  let client: dgraph.DgraphClient;
  const stubs: dgraph.DgraphClientStub[] = [];

  beforeAll(async () => {
    served = await serve(["--workers", "3"]);
    for (let i = 0; i < 3; i++) {
      // Each with a connection of its own: they are dealt to different processes.
      const options = { "grpc.use_local_subchannel_pool": 1 };
      stubs.push(new dgraph.DgraphClientStub(served.target, credentials.createInsecure(), options));
    }
    client = new dgraph.DgraphClient(...stubs);
  });
  afterAll(() => {
    for (const stub of stubs) stub.close();
  });

  describeClient(
    () => client,
    () => stubs[0]!,
  );

  it("drops what it is asked to drop", async () => {
    await client.alter(alteration({ dropAttr: "age" }));
    await client.alter(alteration({ dropAll: true }));
    const left = await client.newTxn().query("{ q(func: has(name)) { uid } }");
    expect(left.getJson()).toEqual({ q: [] });
  });

  it("ends in order while a client is connected", async () => {
    expect(await served.server.stop()).toBe(0);
  });
});

describe("over TLS", () => {
  let served: Served;
  let stub: dgraph.DgraphClientStub;

  beforeAll(async () => {
    const folder = makeFolder();
    const [cert, key] = [join(folder, "cert.pem"), join(folder, "key.pem")];
    const subject = [
      "-subj",
      "/CN=localhost",
      "-addext",
      "subjectAltName=IP:127.0.0.1,DNS:localhost",
    ];
    const made = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"];
    execFileSync("openssl", [...made, "-keyout", key, "-out", cert, ...subject], {
      stdio: "ignore",
    });
    const ca = readFileSync(cert, "utf8");
    served = await serve(["--tls", `cert=${cert}; key=${key}`], ca);
    stub = new dgraph.DgraphClientStub(served.target, credentials.createSsl(Buffer.from(ca)));
  });
  afterAll(() => stub.close());

  describeClient(
    () => new dgraph.DgraphClient(stub),
    () => stub,
  );
});

describe("with logins", () => {
  it("asks for a login, and lets in who has one", async () => {
    const folder = makeFolder();
    const secret = join(folder, "secret");
    writeFileSync(secret, "0123456789abcdef0123456789abcdef");
    const { target } = await serve(["--acl", `secret-file=${secret}`]);
    const stub = new dgraph.DgraphClientStub(target, credentials.createInsecure());
    const client = new dgraph.DgraphClient(stub);
    const question = "{ q(func: has(dgraph.xid)) { dgraph.xid } }";
    const asked = new dgraph.Request();
    asked.setQuery(question);
    await expect(stub.query(asked)).rejects.toMatchObject({
      code: 16,
      details: "no accessJwt available",
    });
    await expect(stub.login("groot", "wrong")).rejects.toThrow(/invalid username or password/);
    await stub.login("groot", "password");
    const answer = await client.newTxn().query(question);
    expect((answer.getJson() as { q: unknown[] }).q.length).toBeGreaterThan(0);
    const txn = client.newTxn();
    await txn.mutate(facts(`_:a <name> "Ann" .`));
    await txn.commit();
    stub.close();
  });

  it("keeps who has logged in through a drop of everything", async () => {
    const folder = makeFolder();
    const secret = join(folder, "secret");
    writeFileSync(secret, "0123456789abcdef0123456789abcdef");
    const { target } = await serve(["--acl", `secret-file=${secret}`]);
    const stub = new dgraph.DgraphClientStub(target, credentials.createInsecure());
    const client = new dgraph.DgraphClient(stub);
    await stub.login("groot", "password");
    await client.alter(alteration({ dropAll: true }));
    // What a client does when its access token has ended.
    const renewed = await stub.retryLogin();
    expect(renewed.getAccessJwt()).not.toBe("");
    await client.alter(alteration({ schema: "name: string ." }));
    // Dgraph4j sends its token twice with the first call of a connection.
    const twice = new Metadata();
    twice.add("accessjwt", renewed.getAccessJwt());
    twice.add("accessjwt", renewed.getAccessJwt());
    const plain = new dgraph.DgraphClientStub(target, credentials.createInsecure());
    const asked = new dgraph.Request();
    asked.setQuery("{ q(func: has(name)) { uid } }");
    const answer = await plain.query(asked, twice);
    expect(Buffer.from(answer.getJson_asU8()).toString()).toBe('{"q":[]}');
    plain.close();
    stub.close();
  });

  it("asks for a key where nobody is anonymous", async () => {
    const { target } = await serve(["--anonymous", "off"]);
    const stub = new dgraph.DgraphClientStub(target, credentials.createInsecure());
    const asked = new dgraph.Request();
    asked.setQuery("{ q(func: has(name)) { uid } }");
    await expect(stub.query(asked)).rejects.toMatchObject({ code: 16 });
    stub.close();
  });
});
