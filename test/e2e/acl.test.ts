/** Users, groups and rules over HTTP, on two workers, as a client of the reference would use them. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { cleanUp, makeFolder, runWeft, startServer, type TestServer } from "./server.ts";

let server: TestServer;
let folder: string;
let groot: string;

interface Answer {
  readonly data?: Record<string, unknown>;
  readonly errors?: readonly { readonly message: string }[];
  readonly extensions?: { readonly txn: { readonly start_ts: number; readonly hash?: string } };
}

async function send(path: string, type: string, body: string, token = ""): Promise<Answer> {
  // One connection for each request: they come to the workers by turns.
  const headers = { "content-type": type, "x-dgraph-accesstoken": token, connection: "close" };
  const response = await fetch(server.url + path, { method: "POST", headers, body });
  return (await response.json()) as Answer;
}

const admin = (query: string, token = groot): Promise<Answer> =>
  send("/admin", "application/json", JSON.stringify({ query }), token);
const dql = (text: string, token: string): Promise<Answer> =>
  send("/query", "application/dql", text, token);
const rdf = (text: string, token: string): Promise<Answer> =>
  send("/mutate?commitNow=true", "application/rdf", text, token);
const alter = (text: string, token: string): Promise<Answer> =>
  send("/alter", "application/dql", text, token);
const message = ({ errors }: Answer): string => errors?.[0]?.message ?? "";

async function login(user: string, password: string): Promise<string> {
  const body = JSON.stringify({ userid: user, password });
  const answer = await send("/login", "application/json", body);
  return String(answer.data?.["accessJWT"]);
}

beforeAll(async () => {
  folder = makeFolder();
  writeFileSync(join(folder, "secret"), "a secret that is long enough for this test");
  const flags = ["--no-sample", "--workers", "2", "--acl", `secret-file=${join(folder, "secret")}`];
  server = await startServer({ dataDir: join(folder, "data"), flags });
  groot = await login("groot", "password");
  await alter(
    "name: string @index(exact) .\nsecret: string @index(exact) .\nfriend: [uid] @reverse .\ntype P {\n name\n secret\n friend\n}",
    groot,
  );
  await rdf(
    '{ set { <0x1> <name> "Ann" .\n<0x1> <secret> "plum" .\n<0x1> <dgraph.type> "P" .\n<0x1> <friend> <0x2> .\n<0x2> <name> "Bob" .\n<0x2> <dgraph.type> "P" . } }',
    groot,
  );
  await admin(
    'mutation { addGroup(input: [{ name: "staff", rules: [{ predicate: "name", permission: 7 }, { predicate: "friend", permission: 4 }, { predicate: "dgraph.type", permission: 4 }] }]) { group { name } } }',
  );
  await admin(
    'mutation { addUser(input: [{ name: "ann", password: "ann-ann-ann", groups: [{ name: "staff" }] }]) { user { name } } }',
  );
}, 60_000);

afterAll(cleanUp);

test("a login takes a password's time, whether there is such a user, or such a namespace, or not", async () => {
  const millisecondsOf = async (userid: string, namespace: number): Promise<number> => {
    const began = performance.now();
    const body = JSON.stringify({ userid, password: "not the one", namespace });
    expect(message(await send("/login", "application/json", body))).toContain(
      "invalid username or password",
    );
    return performance.now() - began;
  };
  // A hash takes 40 ms and more; finding that there is nobody takes one.
  expect(await millisecondsOf("nobody", 0)).toBeGreaterThan(20);
  expect(await millisecondsOf("groot", 4711)).toBeGreaterThan(20);
});

describe("users, groups and rules", () => {
  test("a root over the values of an unreadable variable is not there either", async () => {
    const ann = await login("ann", "ann-ann-ann");
    const answer = await dql(
      '{ a(func: has(name), orderasc: name) { name s as secret } b(func: eq(val(s), "plum")) { uid } }',
      ann,
    );
    expect(answer.data).toEqual({ a: [{ name: "Ann" }, { name: "Bob" }] });
  });

  test("a reserved predicate is told by its name in any case", async () => {
    const refused = "predicate dgraph.XID is pre-defined and is not allowed to be modified";
    expect(message(await alter("dgraph.XID: int .", groot))).toBe(refused);
    const same = "dgraph.XID: string @index(exact) @upsert @unique .";
    expect(message(await alter(same, groot))).toBe(refused);
    expect(message(await alter(same.toLowerCase(), groot))).toBe("");
  });

  test("no tablet moves: there is one group", async () => {
    const move = (group: string): Promise<Answer> =>
      admin(
        `mutation { moveTablet(input: { tablet: "name", groupId: ${group} }) { response { code } } }`,
      );
    expect(message(await move("7"))).toContain("group: [7] is not a known group");
    expect(message(await move("1"))).toContain("No tablet found for: name");
  });

  test("the rights of a rule are 0 to 7, also where a guardian writes them as a fact", async () => {
    const rule = (permission: string): Promise<Answer> =>
      rdf(`{ set { _:r <dgraph.rule.permission> ${permission} . } }`, groot);
    const refused = "Value for this predicate should be between 0 and 7";
    expect(message(await rule('"9"'))).toContain(
      `Can't set <dgraph.rule.permission> to 9, ${refused}`,
    );
    expect(message(await rule('"-1"'))).toContain(refused);
    expect(message(await rule('"7"'))).toBe("");
  });

  test("what may not be read is not there: fields, conditions, orders, roots, expand", async () => {
    const ann = await login("ann", "ann-ann-ann");
    const fields = await dql(
      "{ q(func: has(name), orderasc: secret) { name secret count(secret) friend { secret } ~friend { name } } }",
      ann,
    );
    expect(fields.data).toEqual({ q: [{ name: "Ann" }, { name: "Bob" }] });
    const root = await dql(
      '{ q(func: eq(secret, "plum")) { name } r(func: uid(0x1)) { uid } }',
      ann,
    );
    expect(root.data).toEqual({ r: [{ uid: "0x1" }] });
    const filter = '{ q(func: has(name)) @filter(eq(secret, "plum")) { name } }';
    expect((await dql(filter, ann)).data).toEqual({ q: [] });
    const expanded = await dql("{ q(func: uid(0x1)) { expand(P) { expand(_all_) } } }", ann);
    expect(expanded.data).toEqual({ q: [{ name: "Ann", friend: [{ name: "Bob" }] }] });
    const variable = "{ var(func: has(name)) { s as secret } q(func: uid(s)) { name } }";
    expect((await dql(variable, ann)).data).toEqual({ q: [] });
    expect((await dql("schema(pred: [name, secret]) { type }", ann)).data).toEqual({
      schema: [{ predicate: "name", type: "string" }],
    });
    expect((await dql(filter, groot)).data).toEqual({ q: [{ name: "Ann" }] });
  });

  test("what may not be written or changed is refused", async () => {
    const ann = await login("ann", "ann-ann-ann");
    const denied = "rpc error: code = PermissionDenied desc = ";
    expect(message(await rdf('{ set { <0x1> <secret> "x" . } }', ann))).toBe(
      `${denied}unauthorized to mutate following predicates: secret \n`,
    );
    expect((await rdf('{ set { <0x1> <name> "Anna" . } }', ann)).errors).toBeUndefined();
    expect(message(await alter("secret: string .", ann))).toBe(
      `${denied}unauthorized to alter following predicates: secret \n`,
    );
    expect((await alter("name: string @index(exact, term) .", ann)).errors).toBeUndefined();
    expect(message(await alter("type P {\n name\n}", ann))).toContain(
      "following predicates: secret",
    );
    expect(message(await alter('{"drop_all": true}', ann))).toContain(
      "Drop all can only be called by the guardian of the galaxy.",
    );
    expect(message(await alter('{"drop_op": "DATA"}', ann))).toContain("Only guardians");
  });

  test("a change of a rule holds in every worker with its answer", async () => {
    const ann = await login("ann", "ann-ann-ann");
    for (const permission of [4, 0, 4, 0]) {
      await admin(
        `mutation { updateGroup(input: { filter: { name: { eq: "staff" } }, set: { rules: [{ predicate: "secret", permission: ${permission} }] } }) { group { name } } }`,
      );
      const wanted = permission === 4 ? [{ secret: "plum" }] : [];
      for (let i = 0; i < 4; i++) {
        const answer = await dql("{ q(func: uid(0x1)) { secret } }", ann);
        expect(answer.data).toEqual({ q: wanted });
      }
    }
  });

  test("tokens: refreshed, of the wrong kind, none", async () => {
    const body = JSON.stringify({ userid: "ann", password: "ann-ann-ann" });
    const pair = (await send("/login", "application/json", body)).data ?? {};
    const refresh = (token: unknown): Promise<Answer> =>
      send("/login", "application/json", JSON.stringify({ refresh_token: token }));
    const again = await refresh(pair["refreshJWT"]);
    expect(again.data).toHaveProperty("accessJWT");
    const refused = "invalid username or password";
    expect(message(await refresh(pair["accessJWT"]))).toBe(refused);
    expect(message(await refresh("nonsense"))).toBe(refused);
    const wrong = JSON.stringify({ userid: "ann", password: "another" });
    expect(message(await send("/login", "application/json", wrong))).toBe(refused);
    const read = await dql("{ q(func: has(name)) { name } }", String(pair["refreshJWT"]));
    expect(message(read)).toBe(
      "rpc error: code = Unauthenticated desc = unable to parse jwt token: token has invalid claims: a refresh token is no access token",
    );
    expect(message(await dql("{ q(func: has(name)) { name } }", ""))).toBe(
      "rpc error: code = Unauthenticated desc = no accessJwt available",
    );
    const headers = { "x-service-accesstoken": groot, "content-type": "application/dql" };
    const response = await fetch(`${server.url}/query`, {
      method: "POST",
      headers,
      body: "{ q(func: uid(0x2)) { name } }",
    });
    expect(((await response.json()) as Answer).data).toEqual({ q: [{ name: "Bob" }] });
  });

  test("a new password ends refresh tokens, a deleted user every token", async () => {
    await admin(
      'mutation { addUser(input: [{ name: "rita", password: "rita-rita", groups: [{ name: "staff" }] }]) { user { name } } }',
    );
    const pairOf = async (password: string): Promise<Record<string, unknown>> => {
      const body = JSON.stringify({ userid: "rita", password });
      return (await send("/login", "application/json", body)).data ?? {};
    };
    const refresh = (token: unknown): Promise<Answer> =>
      send("/login", "application/json", JSON.stringify({ refresh_token: token }));
    const read = (token: unknown): Promise<Answer> =>
      dql("{ q(func: uid(0x1)) { name } }", String(token));
    const first = await pairOf("rita-rita");
    const second = (await refresh(first["refreshJWT"])).data ?? {};
    await admin(
      'mutation { updateUser(input: { filter: { name: { eq: "rita" } }, set: { password: "another-one" } }) { user { name } } }',
    );
    for (const { refreshJWT } of [first, second] as { refreshJWT: string }[]) {
      for (let i = 0; i < 3; i++) {
        expect(message(await refresh(refreshJWT))).toBe("invalid username or password");
      }
    }
    const third = await pairOf("another-one");
    expect((await refresh(third["refreshJWT"])).data).toHaveProperty("accessJWT");
    expect((await read(third["accessJWT"])).errors).toBeUndefined();
    await admin('mutation { deleteUser(filter: { name: { eq: "rita" } }) { msg } }');
    // In each process.
    for (let i = 0; i < 4; i++) {
      expect(message(await read(third["accessJWT"]))).toContain('"rita" does not exist any more');
    }
    expect(message(await refresh(third["refreshJWT"]))).toBe("invalid username or password");
  });

  test("a guardian revokes every token of a user", async () => {
    const body = JSON.stringify({ userid: "ann", password: "ann-ann-ann" });
    const pair = (await send("/login", "application/json", body)).data ?? {};
    const read = (token: unknown): Promise<Answer> =>
      dql("{ q(func: uid(0x1)) { name } }", String(token));
    expect((await read(pair["accessJWT"])).errors).toBeUndefined();
    const revoke = 'mutation { revokeTokens(input: { userId: "ann", namespace: 0 }) { message } }';
    expect(message(await admin(revoke, await login("ann", "ann-ann-ann")))).toContain(
      "Only guardians are allowed access",
    );
    expect((await admin(revoke)).errors).toBeUndefined();
    for (let i = 0; i < 4; i++) {
      expect(message(await read(pair["accessJWT"]))).toContain("the token was revoked");
    }
    const refreshed = JSON.stringify({ refresh_token: pair["refreshJWT"] });
    expect(message(await send("/login", "application/json", refreshed))).toBe(
      "invalid username or password",
    );
    expect((await read(await login("ann", "ann-ann-ann"))).errors).toBeUndefined();
    const nobody = revoke.replace("ann", "nobody");
    expect(message(await admin(nobody))).toContain('there is no user "nobody"');
  });

  test("a start time goes with its hash", async () => {
    const begun = await send(
      "/mutate",
      "application/rdf",
      '{ set { <0x9> <name> "Zoe" . } }',
      groot,
    );
    const { start_ts: ts, hash = "" } = begun.extensions!.txn;
    const query = "{ q(func: uid(0x9)) { name } }";
    const mismatch = "hash mismatch the claimed startTs|namespace";
    const ask = (path: string): Promise<Answer> => send(path, "application/dql", query, groot);
    expect(message(await ask(`/query?startTs=${ts}`))).toBe(mismatch);
    expect((await ask(`/query?startTs=${ts}&hash=${hash}`)).data).toEqual({ q: [{ name: "Zoe" }] });
    const commit = (extra: string): Promise<Answer> =>
      send(`/commit?startTs=${ts}${extra}`, "application/json", "{}", groot);
    expect(message(await commit(""))).toBe(mismatch);
    expect(message(await commit(`&hash=${hash}`))).toBe("");
  });

  test("rules of @auth over what the user may not read let nobody in, a negated one too", async () => {
    const sdl = `type Note @auth(query: { not: { rule: "query { queryNote(filter: { hidden: true }) { id } }" } }) {
  id: ID!
  text: String!
  hidden: Boolean @search
}`;
    await send("/admin/schema", "text/plain", sdl, groot);
    const gql = (query: string, token: string): Promise<Answer> =>
      send("/graphql", "application/json", JSON.stringify({ query }), token);
    await gql(
      'mutation { addNote(input: [{ text: "one", hidden: true }, { text: "two", hidden: false }]) { numUids } }',
      groot,
    );
    await admin(
      'mutation { updateGroup(input: { filter: { name: { eq: "staff" } }, set: { rules: [{ predicate: "Note.text", permission: 4 }] } }) { group { name } } }',
    );
    const ann = await login("ann", "ann-ann-ann");
    expect((await gql("{ queryNote { text } }", groot)).data).toEqual({
      queryNote: [{ text: "two" }],
    });
    expect((await gql("{ queryNote { text } }", ann)).data).toEqual({ queryNote: [] });
  });

  test("everybody may log in again after everything was dropped", async () => {
    expect((await alter('{"drop_op": "DATA"}', groot)).errors).toBeUndefined();
    expect(await login("groot", "password")).not.toBe("undefined");
    expect(await login("ann", "ann-ann-ann")).toBe("undefined");
  });
});

describe("logins that fail", () => {
  test("wait longer and longer, and keep nobody else waiting", async () => {
    const attempt = (password: string): Promise<Response> =>
      fetch(`${server.url}/login`, {
        method: "POST",
        headers: { "content-type": "application/json", connection: "close" },
        body: JSON.stringify({ userid: "groot", password }),
      });
    await login("groot", "password");
    const guesses = Array.from({ length: 60 }, (_, i) => attempt(`guess ${i}`));
    expect((await rdf('{ set { <0x1> <name> "Ann" . } }', groot)).errors).toBeUndefined();
    const answers = await Promise.all(guesses);
    const refused = answers.filter(({ status }) => status === 429);
    expect(answers.length - refused.length).toBeLessThanOrEqual(10);
    expect(Number(refused[0]?.headers.get("retry-after"))).toBeGreaterThan(0);
    const told = (await refused[0]!.json()) as Answer;
    expect(message(told)).toMatch(/^too many logins have failed: try again in \d+ s$/);
  });
});

describe("the start", () => {
  const serve = (acl: string, http = "127.0.0.1:0"): ReturnType<typeof runWeft> =>
    runWeft([
      "serve",
      "--data",
      join(folder, "other"),
      "--no-sample",
      "--http",
      http,
      "--acl",
      acl,
    ]);

  test("one line for what is wrong with the secret", async () => {
    writeFileSync(join(folder, "short"), "short");
    const short = await serve(`secret-file=${join(folder, "short")}`);
    expect(short.code).toBe(2);
    expect(short.stderr).toMatch(/^weft: .*has 5 bytes; HS256 needs at least 32\n$/);
    const missing = await serve("secret-file=/nowhere/secret");
    expect(missing.stderr).toMatch(/^weft: --acl secret-file: \/nowhere\/secret cannot be read\n$/);
    expect((await serve("access-ttl=1h")).stderr).toContain("says nothing without secret-file");
  });

  test("not with the password that everybody knows, where others reach it", async () => {
    const ended = await serve(`secret-file=${join(folder, "secret")}`, "0.0.0.0:0");
    expect(ended.code).toBe(1);
    expect(ended.stderr).toContain("password that everybody knows");
  }, 30_000);
});

describe("nodes that the server keeps itself", () => {
  test("users, groups and rules are not taken away by whoever may write types", async () => {
    await admin(
      'mutation { addGroup(input: [{ name: "writers", rules: [{ predicate: "dgraph.all", permission: 7 }] }]) { group { name } } }',
    );
    await admin(
      'mutation { addUser(input: [{ name: "wim", password: "wim-wim-wim", groups: [{ name: "writers" }] }, { name: "victim", password: "victim-victim", groups: [{ name: "writers" }] }]) { user { name } } }',
    );
    const wim = await login("wim", "wim-wim-wim");
    const found = await dql('{ q(func: eq(dgraph.xid, "victim")) { uid } }', groot);
    const [node] = found.data!["q"] as readonly { uid: string }[];
    const uid = node!.uid;
    const denied = "unauthorized to mutate following predicates: dgraph.type";
    const attempts = [
      `{ delete { <${uid}> <dgraph.type> * . } }`,
      `{ delete { <${uid}> <dgraph.type> "dgraph.type.User" . } }`,
      `{ delete { <${uid}> * * . } }`,
      `upsert { query { v as var(func: type(dgraph.type.User)) } mutation { delete { uid(v) * * . } } }`,
      `upsert { query { v as var(func: type(dgraph.type.Group)) } mutation { delete { uid(v) <dgraph.type> * . } } }`,
      '{ set { _:mine <dgraph.type> "dgraph.type.User" . } }',
    ];
    for (const attempt of attempts) expect(message(await rdf(attempt, wim))).toContain(denied);
    // In a transaction of several requests as well.
    const open = await send("/mutate", "application/rdf", attempts[0]!, wim);
    expect(message(open)).toContain(denied);
    const own = `{ set { <${uid}> <dgraph.type> "P" . } }`;
    expect((await rdf(own, wim)).errors).toBeUndefined();
    const taken = `{ delete { <${uid}> <dgraph.type> "P" . } }`;
    expect((await rdf(taken, wim)).errors).toBeUndefined();
    expect(await login("victim", "victim-victim")).toMatch(/^ey/);
    expect((await admin('{ getUser(name: "victim") { name } }')).data).toEqual({
      getUser: { name: "victim" },
    });
  });

  test("the text of the GraphQL schema, which may hold a secret, is for guardians", async () => {
    const sdl =
      'type Leaf { id: ID! name: String }\n# Dgraph.Authorization {"Header":"X-A","Namespace":"n","Algo":"HS256","VerificationKey":"a-shared-secret-of-the-application"}';
    const stored = await send("/admin/schema", "application/graphql", sdl, groot);
    expect(stored.errors).toBeUndefined();
    const all = "{ q(func: has(dgraph.graphql.schema)) { expand(_all_) } }";
    expect(JSON.stringify(await dql(all, groot))).toContain("a-shared-secret");
    const wim = await login("wim", "wim-wim-wim");
    const roundabout = [
      all,
      "{ q(func: type(dgraph.graphql)) { dgraph.graphql.schema s: dgraph.graphql.schema } }",
      "{ v as var(func: has(dgraph.graphql.xid)) { s as dgraph.graphql.schema } q(func: uid(v)) { val(s) min(val(s)) } }",
      "{ q(func: has(dgraph.graphql.xid)) @filter(regexp(dgraph.graphql.schema, /shared/)) { dgraph.graphql.xid } }",
      "{ q(func: has(dgraph.graphql.xid)) @groupby(dgraph.graphql.schema) { count(uid) } }",
      "{ q(func: has(dgraph.graphql.xid), orderasc: dgraph.graphql.schema) { dgraph.graphql.schema@* } }",
      "{ q(func: has(dgraph.graphql.xid)) @recurse(depth: 2) { dgraph.graphql.schema } }",
    ];
    for (const text of roundabout) {
      const answer = await dql(text, wim);
      expect(JSON.stringify(answer)).not.toContain("shared-secret");
      expect(JSON.stringify(answer.data ?? {})).not.toContain('"dgraph.graphql.xid":"');
    }
  });
});
