// Goal: a project is developed as a newcomer would: files are saved, the server follows or says why it does not, and
// nobody who asks it meanwhile notices.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  cleanUp,
  makeFolder,
  post,
  runWeft,
  sleep,
  startDev,
  type DevServer,
  type Told,
  waitUntil,
  weft,
} from "./server.ts";

const schema = `type Task @withSubscription {
  id: ID!
  title: String! @id
  label: String @lambda
}
type Query { total: Int @lambda }
`;
const resolvers = `import { shout } from "./shout.ts";

self.addGraphQLResolvers({
  "Task.label": ({ parent }) => shout(parent.title),
  "Query.total": () => 1,
});
`;
const shout = "export const shout = (text: string): string => text.toUpperCase();\n";
const fixtures = `mutation {
  addTask(input: [{ title: "water" }, { title: "feed" }], upsert: true) { numUids }
}
`;

let folder: string;
let dev: DevServer;

function write(name: string, text: string): void {
  mkdirSync(join(folder, name, ".."), { recursive: true });
  writeFileSync(join(folder, name), text);
}

const read = (name: string): string => readFileSync(join(folder, name), "utf8");
const ask = (query: string, headers = {}): Promise<Told> =>
  post(`${dev.url}/graphql`, { query }, headers);
const dataOf = async (query: string): Promise<unknown> => (await ask(query)).json["data"];

/** Writes a file, and waits until the terminal says `said`; what it has said since. */
async function save(name: string, text: string, said: string): Promise<string> {
  const before = dev.output().length;
  write(name, text);
  await dev.says(said, before);
  return dev.output().slice(before);
}

beforeAll(async () => {
  folder = makeFolder();
  write("schema.graphql", schema);
  write("resolvers.ts", resolvers);
  write("shout.ts", shout);
  write("fixtures.graphql", fixtures);
  dev = await startDev(folder);
});
afterAll(cleanUp);

describe("weft dev", () => {
  test("a start: schema, resolvers, fixtures, types, and an example that works", async () => {
    expect(dev.output()).toContain("resolvers.ts: 2 resolvers");
    expect(dev.output()).toContain(`GraphQL         ${dev.url}/graphql`);
    expect(await dataOf("{ queryTask(order: { asc: title }) { title label } total }")).toEqual({
      queryTask: [
        { title: "feed", label: "FEED" },
        { title: "water", label: "WATER" },
      ],
      total: 1,
    });
    expect(read("weft/resolvers.d.ts")).toContain('"Task.label"');
    expect(read("weft/schema.d.ts")).toContain('"Task.title"');
    const query = /-d '(?<query>\{ queryTask .*\})'/.exec(dev.output())?.groups?.["query"];
    expect(await dataOf(query ?? "")).toMatchObject({ queryTask: [{}, {}] });
  });

  test("no request is lost, and no subscription, while schema and resolvers are exchanged", async () => {
    const seen: string[] = [];
    const listening = new AbortController();
    const events = await fetch(`${dev.url}/graphql`, {
      method: "POST",
      headers: { accept: "text/event-stream", "content-type": "application/graphql" },
      body: "subscription { queryTask(order: { asc: title }) { title } }",
      signal: listening.signal,
    });
    const reader = events.body?.getReader();
    const listen = async (): Promise<void> => {
      for (;;) {
        const part = await reader?.read().catch(() => undefined);
        if (part?.value === undefined) return;
        seen.push(new TextDecoder().decode(part.value));
      }
    };
    const listened = listen();
    let isOver = false;
    const answers = new Map<string, number>();
    const hammer = async (): Promise<void> => {
      while (!isOver) {
        const { status, text } = await ask("{ queryTask { label } total }");
        const { data, errors } = JSON.parse(text) as { data: unknown; errors?: unknown };
        const key = JSON.stringify([status, errors, data]);
        answers.set(key, (answers.get(key) ?? 0) + 1);
      }
    };
    const hammering = Promise.all([hammer(), hammer(), hammer(), hammer()]);
    for (let round = 1; round <= 3; round++) {
      const field = `  note${round}: String\n  label`;
      await save("schema.graphql", schema.replace("  label", field), "schema.graphql is set");
      await save("shout.ts", shout.replace("text.", `"${round}" + text.`), "2 resolvers");
    }
    isOver = true;
    await hammering;
    const told = [...answers.keys()].map((key) => JSON.parse(key) as unknown[]);
    expect(told.filter(([status, errors]) => status !== 200 || errors !== null)).toEqual([]);
    // Each answer is of one text as a whole.
    const texts = new Set(
      told.map(([, , data]) =>
        (data as { queryTask: { label: string }[] }).queryTask.map(({ label }) => label).join(),
      ),
    );
    for (const text of texts) expect(text).toMatch(/^(?<round>[123]?)WATER,\k<round>FEED$/);
    expect(await dataOf("{ queryTask { label } }")).toEqual({
      queryTask: [{ label: "3WATER" }, { label: "3FEED" }],
    });
    await ask('mutation { addTask(input: [{ title: "weed" }]) { numUids } }');
    await waitUntil(async () => seen.join("").includes("weed"), 10_000);
    listening.abort();
    await listened;
    await ask('mutation { deleteTask(filter: { title: { eq: "weed" } }) { numUids } }');
    await save("schema.graphql", schema, "schema.graphql is set");
    await save("shout.ts", shout, "2 resolvers");
  });

  test("a schema that is wrong is told with its places, and the old one is served", async () => {
    const told = await save(
      "schema.graphql",
      schema.replace("label: String", "label: Strin"),
      "the schema of before is served",
    );
    expect(told).toContain(
      [
        "schema.graphql:4:10: error: Undefined type Strin.",
        "  4 |   label: Strin @lambda",
        "    |          ^",
      ].join("\n"),
    );
    expect(await dataOf("{ queryTask { label } }")).toMatchObject({ queryTask: [{}, {}] });
    expect(await save("schema.graphql", schema, "is what is served")).not.toContain("error");
  });

  test("a script that is wrong is told with its place in the file that it stands in", async () => {
    const told = await save("shout.ts", `${shout}const a: = 1;\n`, "those of before run");
    expect(told).toContain(
      'shout.ts:2:10: error: Unexpected "="\n  2 | const a: = 1;\n    |          ^',
    );
    const thrown = await save(
      "shout.ts",
      `${shout}throw new Error("at once");\n`,
      "those of before run",
    );
    expect(thrown).toContain("shout.ts:2:7: error: the script cannot be loaded: Error: at once");
    expect(await dataOf("{ total }")).toEqual({ total: 1 });
    await save("shout.ts", shout, "2 resolvers");
  });

  test("names of resolvers that the schema does not have are told", async () => {
    const told = await save(
      "resolvers.ts",
      resolvers.replace("Task.label", "Task.lable"),
      "no @lambda there",
    );
    expect(told).toContain("warning: Task.label has @lambda, and resolvers.ts no resolver for it");
    expect(told).toContain("resolvers.ts has a resolver Task.lable");
    const { json } = await ask("{ queryTask { label } }");
    expect(json["errors"]).toMatchObject([{ message: 'there is no resolver "Task.label"' }]);
    await save("resolvers.ts", resolvers, "2 resolvers");
  });

  test("resolvers that are told of mutations are the schema's, too", async () => {
    const watched = schema.replace(
      "@withSubscription",
      "@withSubscription @lambdaOnMutate(add: true)",
    );
    const asked = await save("schema.graphql", watched, "has no resolver for it");
    expect(asked).toContain("warning: @lambdaOnMutate asks for Task.add, and resolvers.ts has");
    const hook =
      'self.addWebHookResolvers({ "Task.add": ({ event }) => console.log(event.operation) });\n';
    const told = await save("resolvers.ts", resolvers + hook, "3 resolvers");
    expect(told).not.toContain("warning");
    const before = dev.output().length;
    await ask('mutation { addTask(input: [{ title: "hooked" }]) { numUids } }');
    await dev.says("add", before);
    await ask('mutation { deleteTask(filter: { title: { eq: "hooked" } }) { numUids } }');
    const idle = await save("schema.graphql", schema, "there\n");
    expect(idle).toContain(
      "a resolver Task.add, and the schema no @lambda or @lambdaOnMutate there",
    );
    await save("resolvers.ts", resolvers, "2 resolvers");
  });

  test("a console and an error of a resolver, with lines of the files", async () => {
    await save(
      "resolvers.ts",
      resolvers.replace(
        "() => 1",
        '() => {\n    console.log("asked");\n    return shout(7 as never).length;\n  }',
      ),
      "2 resolvers",
    );
    const before = dev.output().length;
    await ask("{ total }");
    await dev.says("at Query.total", before);
    const said = dev.output().slice(before);
    expect(said).toContain("resolvers.ts:6  asked\n");
    expect(said).toContain(
      "shout.ts:1:53: Query.total: TypeError: text.toUpperCase is not a function\n  1 | export const",
    );
    expect(said).toContain("at Query.total (resolvers.ts:7:12)");
    await save("resolvers.ts", resolvers, "2 resolvers");
  });

  test("a schema that stored data does not fit is refused, with the command to go on", async () => {
    const next = schema.replace("  label", "  days: Int!\n  label");
    const told = await save("schema.graphql", next, "the schema of before is served");
    expect(told).toContain("breaks      Task.days  Int! needs a value that stored nodes lack");
    const command = /weft (?<words>schema apply .*)\n/.exec(told)?.groups?.["words"] ?? "";
    expect(command).toBe(
      `schema apply schema.graphql --backfill "Task.days=VALUE" --to ${dev.url}`,
    );
    const words = command.replace('"Task.days=VALUE"', "Task.days=3").split(" ");
    const before = dev.output().length;
    const { code } = await runWeft(
      words.map((word) => (word === "schema.graphql" ? join(folder, word) : word)),
    );
    expect(code).toBe(0);
    await dev.says("a schema was set from outside", before);
    await dev.says("types: weft/schema.d.ts", before);
    expect(read("weft/schema.d.ts")).toContain("days");
    expect(await dataOf("{ queryTask { days } }")).toEqual({
      queryTask: [{ days: 3 }, { days: 3 }],
    });
  });

  test("fixtures are loaded again when they change; what is wrong in them is told", async () => {
    const more = fixtures
      .replace('{ title: "feed" }', '{ title: "feed", days: 1 }, { title: "weed", days: 2 }')
      .replace('"water" }', '"water", days: 1 }');
    await save("fixtures.graphql", more, "fixtures.graphql is loaded");
    expect(await dataOf("{ aggregateTask { count } }")).toEqual({ aggregateTask: { count: 3 } });
    const told = await save("fixtures.graphql", more.replace("title:", "titel:"), "error:");
    expect(told).toMatch(/fixtures\.graphql:2:\d+: error: .*titel/);
    rmSync(join(folder, "fixtures.graphql"));
  });

  describe("migrations", () => {
    const file = (name: string): string => `migrations/0001-first/${name}`;
    const next = (): string => read("schema.graphql").replace("  label", "  nick: String\n  label");

    test("a wrong one is told with its place, and nothing is applied", async () => {
      const wrong = await save(file("schema.graphql"), "type Task { id: IDD }\n", "error:");
      expect(wrong).toContain(
        "migrations/0001-first/schema.graphql:1:17: error: Undefined type IDD.",
      );
      expect(wrong).not.toContain("is applied");
    });

    test("one that is right is applied when it is saved", async () => {
      const said = await save(file("schema.graphql"), next(), "the schema of the migration");
      expect(said).toMatch(/safe +Task\.nick +new: String/);
      expect(said).toContain("weft: 0001-first is applied");
      expect(said).toContain("types: weft/schema.d.ts");
      expect(said).toContain("the schema of the migration is served, and not schema.graphql");
      expect(await dataOf("{ queryTask { nick } }")).toEqual({
        queryTask: [{ nick: null }, { nick: null }, { nick: null }],
      });
    });

    test("a step that is added is done, with all that were done before", async () => {
      const block = `upsert { query { t as var(func: type(Task), first: 10) @filter(not has(Task.nick)) left(func: uid(t)) { count(uid) } }
        mutation @if(gt(len(t), 0)) { set { uid(t) <Task.nick> "none" . } } }`;
      await save(file("after.dql"), block, "0001-first is applied");
      expect(await dataOf("{ queryTask { nick } }")).toEqual({
        queryTask: [{ nick: "none" }, { nick: "none" }, { nick: "none" }],
      });
    });

    test("what would lose stored data is told, with the ways to go on, and not done", async () => {
      const said = await save(file("schema.graphql"), read("schema.graphql"), "--migrate all");
      expect(said).toMatch(/removes +Task\.nick/);
      expect(said).toContain("0001-first would lose stored data, as is told above: not applied");
      expect(said).toContain(`weft schema up --dir migrations --force Task.nick --to ${dev.url}`);
      expect(await dataOf("{ aggregateTask(filter: { has: nick }) { count } }")).toEqual({
        aggregateTask: { count: 3 },
      });
      const deleting = await save(
        file("before.dql"),
        "{ delete { <0x1> <Task.nick> * . } }",
        "--migrate all",
      );
      expect(deleting).toContain("0001-first deletes what is stored: not applied");
    });

    test("a step that finds no end ends when its text changes", async () => {
      rmSync(join(folder, file("before.dql")));
      await save(file("schema.graphql"), next(), "0001-first is applied");
      const endless = "{ q(func: type(Task)) { uid } }";
      write(file("after.dql"), endless);
      await sleep(600);
      const said = await save(file("after.dql"), `${endless}\n# not that`, "was changed meanwhile");
      expect(said).not.toContain("is applied");
      const before = dev.output().length;
      rmSync(join(folder, file("after.dql")));
      await dev.says("0001-first is applied", before);
    });

    test("one that was applied and is gone, or is no longer the last, is told", async () => {
      await save(
        "migrations/0002-second/after.dql",
        '{ set { _:note <dev.note> "second" . } }',
        "0002-second is applied",
      );
      const odd = await save(file("force"), "Task.nick\n", "--reset");
      expect(odd).toContain(
        "migrations: error: 0001-first was changed, and 0002-second was applied after it",
      );
      const before = dev.output().length;
      rmSync(join(folder, "migrations", "0001-first"), { recursive: true });
      await dev.says("0001-first is applied, and not there", before);
      rmSync(join(folder, "migrations"), { recursive: true });
    });
  });

  test("Ctrl-C ends it; the next start has the data, and --reset has not", async () => {
    const ended = Date.now();
    expect(await dev.stop("SIGINT")).toBe(0);
    expect(Date.now() - ended).toBeLessThan(5_000);
    dev = await startDev(folder);
    expect(await dataOf("{ aggregateTask { count } }")).toEqual({ aggregateTask: { count: 3 } });
    expect(await dev.stop("SIGTERM")).toBe(0);
    write("fixtures.json", '{ "dgraph.type": "Task", "Task.title": "one", "Task.days": 1 }');
    dev = await startDev(folder, ["--reset"]);
    expect(await dataOf("{ queryTask { title } }")).toEqual({ queryTask: [{ title: "one" }] });
    const other = await runWeft(["dev", folder, "--reset", "--data", makeFolder(), "--no-grpc"]);
    expect(other.stderr).toContain("was not made by weft dev");
  });
});

describe("what is explained", () => {
  const ruled = `type Note @auth(
  query: { rule: "query($USER: String!) { queryNote(filter: { owner: { eq: $USER } }) { id } }" }
  add: { rule: "{ $ROLE: { eq: \\"ADMIN\\" } }" }
  update: { rule: "query($USER: String!) { queryNote(filter: { owner: { eq: $USER } }) { id } }" }
  delete: { rule: "{ $ROLE: { eq: \\"ADMIN\\" } }" }
) {
  id: ID!
  owner: String! @search(by: [hash])
  kind: Kind
}
enum Kind { LOUD QUIET }
# Dgraph.Authorization {"VerificationKey":"a key for tests alone, long enough","Header":"X-Auth","Namespace":"https://x","Algo":"HS256"}
`;

  test("which rule refuses, of which type, for which operation, and what the token lacks", async () => {
    folder = makeFolder();
    write("schema.graphql", ruled);
    dev = await startDev(folder, ["--log", "level=info; slow=0ms"]);
    for (const round of [1, 2]) {
      const before = dev.output().length;
      expect(await dataOf("{ queryNote { owner } }"), `round ${round}`).toEqual({ queryNote: [] });
      await dev.says(
        "@auth: query of Note is refused: the rule asks for USER, and the request has no token",
        before,
      );
      expect(dev.output().slice(before)).toContain('line 2 of the schema: { rule: "query($USER');
      await dev.says("slow: graphql", before);
    }
    const before = dev.output().length;
    const { json } = await ask('mutation { addNote(input: [{ owner: "ann" }]) { numUids } }');
    expect(json["errors"]).toMatchObject([
      { message: "mutation failed because authorization failed" },
    ]);
    await dev.says("@auth: add of Note is refused: the rule asks for ROLE", before);
    expect(dev.output().slice(before)).toContain("line 3 of the schema");
  });

  test("fixtures are sent as the user that they name", async () => {
    const note = 'mutation { addNote(input: [{ owner: "ann" }]) { numUids } }\n';
    await save(
      "fixtures.graphql",
      `# Notes.\n\n# Weft.Token ROLE=ADMIN USER=ann\n${note}`,
      "is loaded",
    );
    await save("fixtures.graphql", `# Weft.Token {"ROLE":"ADMIN"}\n${note}`, "is loaded");
    const [, token] =
      (
        await runWeft(["token", "ROLE=ADMIN", "--schema", join(folder, "schema.graphql")])
      ).stdout.match(/^(\S+)\n$/) ?? [];
    await save("fixtures.graphql", `# Weft.Header X-Auth: ${token}\n${note}`, "is loaded");
    await save("fixtures.graphql", `# Weft.Token USER=ann\n${note}`, "authorization failed");
    const wrong = await save("fixtures.graphql", `#\n# Weft.User ann\n${note}`, "error:");
    expect(wrong).toContain(
      "fixtures.graphql: error: line 2: # Weft.User ann: the head of a fixture has # Weft.Token",
    );
  });

  test("why nodes are not ordered by a field that they have", async () => {
    const before = dev.output().length;
    const { json } = await ask("{ queryNote(order: { asc: kind }) { owner } }");
    expect(json["errors"]).toMatchObject([{ message: "Expected type NoteOrderable, found kind." }]);
    await dev.says("Note.kind is of the enum Kind; nodes are ordered by", before);
  });
});

describe("a start", () => {
  test("with a schema and a script that are wrong: both are told, and taken when they are mended", async () => {
    folder = makeFolder();
    write("schema.graphql", schema.replace("ID!", "IDD!"));
    write("src/resolvers.js", "self.addGraphQLResolvers({");
    write("fixtures.rdf", '_:a <dgraph.type> "Task" .\n_:a <Task.title> "one" .\n');
    dev = await startDev(folder);
    expect(dev.output()).toContain("schema.graphql:2:7: error: Undefined type IDD.");
    expect(dev.output()).toContain(
      "src/resolvers.js:1:27: error: Expected identifier but found end of file",
    );
    expect(dev.output()).toContain("There is no schema yet: what is wrong is told above");
    await save("schema.graphql", schema, "fixtures.rdf is loaded");
    await save(
      "src/resolvers.js",
      resolvers.replace(/import.*/, "const shout = String;"),
      "2 resolvers",
    );
    expect(await dataOf("{ queryTask { title label } }")).toEqual({
      queryTask: [{ title: "one", label: "one" }],
    });
    await dev.stop("SIGINT");
  });

  test("`--migrate all` applies what loses stored data, `off` nothing", async () => {
    folder = makeFolder();
    const first = "type Task { id: ID! title: String! days: Int }";
    write("migrations/0001-first/schema.graphql", first);
    write(
      "fixtures.rdf",
      '_:a <dgraph.type> "Task" .\n_:a <Task.title> "one" .\n_:a <Task.days> "1" .\n',
    );
    dev = await startDev(folder, ["--migrate", "all"]);
    expect(dev.output()).toContain("0001-first is applied");
    const second = "migrations/0002-second/schema.graphql";
    const told = await save(second, first.replace(" days: Int", ""), "0002-second is applied");
    expect(told).toMatch(/removes +Task\.days/);
    expect(told).toContain("it can be applied, 1 of 1 by --force");
    await dev.stop("SIGINT");
    dev = await startDev(folder, ["--migrate", "off"]);
    const left = await save(second, first, "When it is as it should be");
    expect(left).toContain("0002-second: not applied yet");
    await dev.stop("SIGINT");
  });

  test("in an empty folder, and its end with the process that started it", async () => {
    folder = makeFolder();
    const parent = `require("node:child_process").spawn(process.execPath, [${JSON.stringify(weft)}, ...process.argv.slice(1)], { stdio: "inherit" })`;
    dev = await startDev(folder, [], [process.execPath, "-e", parent]);
    expect(dev.output()).toContain("There is no schema yet");
    expect(dev.output()).toContain("schema.graphql is not there: write one");
    expect((await fetch(`${dev.url}/health`)).status).toBe(200);
    await dev.stop("SIGKILL");
    await dev.says("the parent process has ended: ending");
    await waitUntil(
      async () =>
        !(await fetch(`${dev.url}/health`).then(
          () => true,
          () => false,
        )),
      10_000,
    );
  });

  test("what it does not serve is refused in one line", async () => {
    const refused = async (...flags: string[]): Promise<string> =>
      (await runWeft(["dev", makeFolder(), ...flags])).stderr;
    expect(await refused("--lambda-url", "http://127.0.0.1:1/x")).toBe(
      "weft: weft dev runs resolvers itself: --lambda-url is for weft serve\n",
    );
    expect(await refused("--acl", "secret-file=x")).toBe(
      "weft: --acl is for weft serve: weft dev serves without\n",
    );
    const none = await runWeft(["dev", join(makeFolder(), "nowhere")]);
    expect(none.stderr).toMatch(/nowhere is no folder: weft init .* makes a project there\n$/);
  });
});
