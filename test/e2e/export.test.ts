// Goal: weft export and /admin export write what loaders read, as of one commit, beside a server that goes on.
import { existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  cleanUp,
  makeFolder,
  post,
  rdf,
  runWeft,
  startServer,
  waitUntil,
  type TestServer,
} from "./server.ts";

let server: TestServer;

beforeAll(async () => {
  server = await startServer({ dataDir: makeFolder() });
  await post(
    `${server.url}/alter`,
    "ex.name: string @index(exact) @lang .\nex.friend: [uid] @reverse @count .\nex.pin: password .\n" +
      "ex.a: int .\nex.b: int .",
  );
  await post(`${server.url}/admin/schema`, "type Film { id: ID!  title: String! @id }");
  const facts = [
    '<0x10> <ex.name> "Anna \\"A\\"" (since=2020-01-01T00:00:00Z) .',
    '<0x10> <ex.name> "Änne"@de .',
    '<0x10> <ex.pin> "secret1" .',
    '<0x10> <ex.friend> <0x11> (weight=0.5, note="old") .',
    '<0x11> <Film.title> "Heat" .',
    '<0x11> <dgraph.type> "Film" .',
  ];
  await post(`${server.url}/mutate?commitNow=true`, `{ set { ${facts.join("\n")} } }`, rdf);
});
afterAll(cleanUp);

const readPacked = (dir: string, name: string): string =>
  gunzipSync(readFileSync(join(dir, name))).toString();

async function exportTo(...args: string[]): Promise<string> {
  const dir = join(makeFolder(), "out");
  const ended = await runWeft(["export", "--data", server.dataDir, "--to", dir, ...args]);
  expect([ended.code, ended.stderr]).toEqual([0, ""]);
  return dir;
}

describe("weft export", () => {
  test("RDF with languages, facets, password hashes, and both schemas, in the reference's form", async () => {
    const dir = await exportTo();
    expect(readdirSync(dir).sort()).toEqual(["g01.gql_schema.gz", "g01.rdf.gz", "g01.schema.gz"]);
    const lines = readPacked(dir, "g01.rdf.gz").trim().split("\n");
    const hash = /"(\$2[^"]+)"/.exec(lines.find((line) => line.includes("ex.pin")) ?? "")?.[1];
    expect(lines.sort()).toEqual([
      '<0x10> <ex.friend> <0x11> <0x0> (note="old", weight=0.5) .',
      '<0x10> <ex.name> "Anna \\"A\\""^^<xs:string> <0x0> (since=2020-01-01T00:00:00Z) .',
      '<0x10> <ex.name> "Änne"@de <0x0> .',
      `<0x10> <ex.pin> "${hash}"^^<xs:password> <0x0> .`,
      '<0x11> <Film.title> "Heat"^^<xs:string> <0x0> .',
      '<0x11> <dgraph.type> "Film"^^<xs:string> <0x0> .',
    ]);
    const schema = readPacked(dir, "g01.schema.gz");
    expect(schema).toContain("[0x0] <ex.name>: string @index(exact) @lang .\n");
    expect(schema).toContain("[0x0] <ex.friend>: [uid] @reverse @count .\n");
    expect(schema).toContain("[0x0] type <Film> {\n  <Film.title>\n}\n");
    expect(JSON.parse(readPacked(dir, "g01.gql_schema.gz"))).toEqual([
      { namespace: 0, schema: "type Film { id: ID!  title: String! @id }" },
    ]);
  });

  test("JSON, and beside it what JSON cannot say", async () => {
    const dir = await exportTo("--format", "json");
    const facts = JSON.parse(readPacked(dir, "g01.json.gz")) as object[];
    expect(facts).toContainEqual({
      uid: "0x10",
      namespace: "0x0",
      "ex.friend": [{ uid: "0x11", "ex.friend|note": "old", "ex.friend|weight": 0.5 }],
    });
    expect(facts).toContainEqual({ uid: "0x10", namespace: "0x0", "ex.name@de": "Änne" });
    expect(readPacked(dir, "g01.rdf.gz")).toMatch(/^<0x10> <ex\.pin> "\$2[^\n]+\n$/);
  });

  test("plain text to stdout, data or schemas; the store need not be served", async () => {
    const to = (...args: string[]): ReturnType<typeof runWeft> =>
      runWeft(["export", "--data", server.dataDir, "--to", "-", ...args]);
    const data = await to();
    expect(data.stdout).toBe(readPacked(await exportTo(), "g01.rdf.gz"));
    expect((await to("--only", "schema")).stdout).toContain("<ex.pin>: password .");
    expect((await to("--only", "graphql")).stdout).toContain("type Film");
    const none = await to("--namespace", "9");
    expect([none.code, none.stderr]).toEqual([1, "weft: there is no namespace 9\n"]);
    const odd = await to("--namespace", "x");
    expect(odd.stderr).toBe('weft: --namespace: "x" is no number of a namespace\n');
    await server.stop();
    expect((await to()).stdout).toBe(data.stdout);
    const { dataDir } = server;
    server = await startServer({ dataDir });
  });

  test("one commit, whatever is written meanwhile", async () => {
    const write = (n: number): Promise<unknown> => {
      const facts = Array.from(
        { length: 40 },
        (_, i) => `<0x${(i + 100).toString(16)}> <ex.${n % 2 ? "a" : "b"}> "${n}" .`,
      );
      return post(`${server.url}/mutate?commitNow=true`, `{ set { ${facts.join("\n")} } }`, rdf);
    };
    for (let n = 0; n < 2; n++) await write(n);
    const going = { on: true };
    const writing = (async () => {
      for (let n = 2; going.on; n++) await write(n);
    })();
    const texts = await Promise.all([exportTo(), exportTo()]);
    going.on = false;
    await writing;
    for (const dir of texts) {
      const text = readPacked(dir, "g01.rdf.gz");
      for (const name of ["a", "b"]) {
        const values = new Set(
          [...text.matchAll(new RegExp(`<ex\\.${name}> "(\\d+)"`, "g"))].map((match) => match[1]),
        );
        expect(values.size).toBe(1);
      }
    }
  });
});

describe("/admin", () => {
  const admin = async (query: string): Promise<Record<string, never>> =>
    (await post(`${server.url}/admin`, { query })).json as never;
  const start = (input: string): Promise<Record<string, never>> =>
    admin(`mutation { export(input: {${input}}) { response { code message } taskId } }`);

  test.each(["rdf", "json"])("export as %s, and its task", async (format) => {
    const answer = (await start(`format: "${format}", destination: "daily"`)) as unknown as {
      data: { export: { response: object; taskId: string } };
    };
    const { taskId, response } = answer.data.export;
    expect(response).toEqual({ code: "Success", message: `Export queued with ID ${taskId}` });
    let status: unknown;
    await waitUntil(async () => {
      const told = (await admin(
        `{ task(input: {id: "${taskId}"}) { kind status lastUpdated } }`,
      )) as unknown as { data: { task: { kind: string; status: string } } };
      expect(told.data.task.kind).toBe("Export");
      ({ status } = told.data.task);
      return status !== "Running";
    }, 20_000);
    expect(status).toBe("Success");
    const parent = join(server.dataDir, "export", "daily");
    const folders = readdirSync(parent).filter((name) => {
      return existsSync(join(parent, name, `g01.${format}.gz`));
    });
    expect(folders[0]).toMatch(/^dgraph\.r\d+\.u\d{4}\.\d{4}$/);
    expect(readPacked(join(parent, folders[0]!), `g01.${format}.gz`)).toContain("Heat");
  });

  test("what cannot be is refused", async () => {
    const messageOf = async (input: string): Promise<unknown> =>
      ((await start(input)) as unknown as { errors: { message: string }[] }).errors[0]?.message;
    expect(await messageOf('format: "csv"')).toContain("invalid export format: csv");
    expect(await messageOf('destination: "../../elsewhere"')).toContain("(--export)");
    expect(await messageOf('destination: "file:///etc/elsewhere"')).toContain("(--export)");
    expect(await messageOf('destination: "ftp://host/folder"')).toContain("not available yet");
    expect(await messageOf('destination: "s3://host/bucket"')).toContain("needs accessKey");
    const missing = await admin('{ task(input: {id: "0x1"}) { status } }');
    expect(JSON.stringify(missing)).toContain("is not available");
  });

  test("a task that fails says so", async () => {
    const answer = (await start("namespace: 77")) as unknown as {
      data: { export: { taskId: string } };
    };
    const { taskId } = answer.data.export;
    await waitUntil(async () => {
      const told = await admin(`{ task(input: {id: "${taskId}"}) { status } }`);
      return JSON.stringify(told).includes("Failed");
    }, 20_000);
    expect(server.output()).toContain("there is no namespace 77");
  });
});

describe("with users and groups", () => {
  const secret = (): readonly string[] => {
    const file = join(makeFolder(), "secret");
    writeFileSync(file, "a secret of at least thirty-two bytes, for tests");
    return ["--acl", `secret-file=${file}`];
  };
  const login = async (url: string, user: string, password: string): Promise<string> => {
    const answer = await post(`${url}/login`, { userid: user, password });
    return String(answer.json["data"]?.["accessJWT"]);
  };

  test("users of an export log in with their passwords, and meet what the new server has made", async () => {
    const first = await startServer({ dataDir: makeFolder(), flags: secret() });
    const headers = { "x-dgraph-accesstoken": await login(first.url, "groot", "password") };
    const query =
      'mutation { addGroup(input: [{name: "readers"}]) { group { name } } ' +
      'addUser(input: [{name: "anna", password: "annas-secret", groups: [{name: "readers"}]}]) { user { name } } }';
    const made = await post(`${first.url}/admin`, { query }, headers);
    expect(made.json["errors"]).toBeUndefined();
    const dir = join(makeFolder(), "out");
    await runWeft(["export", "--data", first.dataDir, "--to", dir]);
    const second = await startServer({ dataDir: makeFolder(), flags: secret() });
    const creds = "user=groot; password=password";
    const files = join(dir, "g01.rdf.gz");
    const ended = await runWeft(["live", "--to", second.url, "--files", files], {
      WEFT_CREDS: creds,
    });
    expect([ended.code, ended.stderr]).toEqual([0, ""]);
    expect(await login(second.url, "anna", "annas-secret")).toMatch(/^ey/);
    const groot = { "x-dgraph-accesstoken": await login(second.url, "groot", "password") };
    const users = await post(
      `${second.url}/admin`,
      { query: "{ queryUser { name groups { name } } }" },
      groot,
    );
    expect(users.json["data"]).toEqual({
      queryUser: expect.arrayContaining([
        { name: "groot", groups: [{ name: "guardians" }] },
        { name: "anna", groups: [{ name: "readers" }] },
      ]) as unknown,
    });
    expect(users.json["data"]?.["queryUser"]).toHaveLength(2);
  });
});
