/** `weft schema plan`, `apply`, and migrations, from the command line. */
import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { cleanUp, makeFolder, post, root, startServer, weft, type TestServer } from "./server.ts";

let server: TestServer;
const json = { "content-type": "application/json" };

beforeAll(async () => {
  server = await startServer({ dataDir: makeFolder(), flags: ["--workers", "2", "--no-sample"] });
});
afterAll(cleanUp);

interface Told {
  readonly status: number | null;
  readonly text: string;
}

function runIn(cwd: string, line: string): Told {
  const path = join(cwd, "bin");
  mkdirSync(path, { recursive: true });
  spawnSync("ln", ["-sf", weft, join(path, "weft")]);
  const env = { ...process.env, PATH: `${path}:${process.env["PATH"]}`, WEFT_TO: server.url };
  const { status, stdout } = spawnSync("sh", ["-c", `${line} 2>&1`], { cwd, env });
  return { status, text: stdout.toString() };
}

async function dropAll(): Promise<void> {
  await post(`${server.url}/alter`, '{"drop_all": true}');
}

async function count(field: string): Promise<number> {
  const query = `{ q(func: has(${field})) { count(uid) } }`;
  const { json: answer } = await post(`${server.url}/query`, query, {
    "content-type": "application/dql",
  });
  return answer["data"]!["q"]![0]!["count"] as unknown as number;
}

/** How long it took and when is another each time. */
const withoutTimes = (text: string): string =>
  text
    .replaceAll(/ in [\d.]+ s \([\d,]+\/s\)/g, "")
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "DATE");

test("docs/schema-changes.md: its commands print what it says", async () => {
  const page = join(root, "docs", "schema-changes.md");
  const text = readFileSync(page, "utf8");
  const cwd = makeFolder();
  const drawn = await replace(text, async (language, name, body) => {
    if (language === "json") {
      await post(`${server.url}/mutate?commitNow=true`, body, json);
    } else if (language === "console") {
      const lines = body.split("\n").filter((line) => line.startsWith("$ "));
      return lines.map((line) => `${line}\n${runIn(cwd, line.slice(2)).text}`).join("");
    } else if (name !== "") {
      mkdirSync(dirname(join(cwd, name)), { recursive: true });
      writeFileSync(join(cwd, name), body);
      if (name === "first.graphql") await post(`${server.url}/admin/schema`, body);
    }
    return undefined;
  });
  if (process.env["WEFT_DRAW"] !== undefined) writeFileSync(page, drawn);
  expect(withoutTimes(drawn)).toBe(withoutTimes(text));
  await dropAll();
}, 60_000);

/** Blocks one after another, each with what `draw` makes of it. */
async function replace(
  text: string,
  draw: (language: string, name: string, body: string) => Promise<string | undefined>,
): Promise<string> {
  let drawn = "";
  let from = 0;
  for (const block of text.matchAll(/```(\w+) ?(\S*)\n([^`]+)```/g)) {
    const [whole, language = "", name = "", body = ""] = block;
    const next = await draw(language, name, body);
    const head = `\`\`\`${language}${name === "" ? "" : ` ${name}`}\n`;
    drawn += text.slice(from, block.index) + (next === undefined ? whole : `${head}${next}\`\`\``);
    from = block.index + whole.length;
  }
  return drawn + text.slice(from);
}

test("a plan for machines has an exit code: 0 where it can be applied, 2 where not, 1 where it is wrong", async () => {
  const cwd = makeFolder();
  writeFileSync(join(cwd, "a.graphql"), "type A { name: String }");
  writeFileSync(join(cwd, "b.graphql"), "type A { name: String! }");
  writeFileSync(join(cwd, "c.graphql"), "type A { name: Missing }");
  await post(`${server.url}/admin/schema`, "type A { name: String }");
  await post(`${server.url}/mutate?commitNow=true`, '{"set": {"dgraph.type": "A"}}', json);
  expect(runIn(cwd, "weft schema plan a.graphql")).toEqual({
    status: 0,
    text: "nothing changes\n",
  });
  const refused = runIn(cwd, "weft schema plan b.graphql --json");
  expect(refused.status).toBe(2);
  expect(JSON.parse(refused.text)).toMatchObject({
    changes: [{ kind: "required", effect: "breaks", type: "A", field: "name", nodes: 1 }],
  });
  writeFileSync(
    join(cwd, "d.graphql"),
    'type A @auth(query: { rule: "{$ROLE: {eq: 1}}" }) { id: ID! a: Int }',
  );
  expect(runIn(cwd, "weft schema plan d.graphql").text).toMatch(
    /^weft: warning: Dgraph.Authorization; there is no such line, and @auth asks for \$ROLE/m,
  );
  const wrong = runIn(cwd, "weft schema plan c.graphql");
  expect(wrong.status).toBe(1);
  expect(wrong.text).toContain("Undefined type Missing");
  expect(runIn(cwd, "weft schema apply b.graphql").status).toBe(1);
  expect(runIn(cwd, "weft schema apply b.graphql --backfill A.name").text).toContain(
    '--backfill "A.name" is not of the form Type.field=VALUE',
  );
  expect(runIn(cwd, 'weft schema apply b.graphql --backfill "A.name=it\'s \\"x\\""').status).toBe(
    0,
  );
  expect(await count("A.name")).toBe(1);
  const { json: answer } = await post(`${server.url}/graphql`, "{ queryA { name } }", {
    "content-type": "application/graphql",
  });
  expect(answer["data"]).toEqual({ queryA: [{ name: 'it\'s "x"' }] });
  await dropAll();
}, 30_000);

const people = 3000;

/** A folder with two migrations, the second of which gives each of many people a number. */
async function makeMigrations(): Promise<string> {
  const cwd = makeFolder();
  const write = (name: string, text: string): void => {
    mkdirSync(dirname(join(cwd, "migrations", name)), { recursive: true });
    writeFileSync(join(cwd, "migrations", name), text);
  };
  write("0001-people/schema.graphql", "type Person { name: String! }");
  expect(runIn(cwd, "weft schema up").status).toBe(0);
  const facts = Array.from(
    { length: people },
    (_, i) => `_:p${i} <dgraph.type> "Person" .\n_:p${i} <Person.name> "p${i}" .`,
  );
  await post(`${server.url}/mutate?commitNow=true`, `{ set { ${facts.join("\n")} } }`, {
    "content-type": "application/rdf",
  });
  write(
    "0002-rank/before.dql",
    `upsert { query {
      p as var(func: type(Person), first: 20) @filter(not has(Person.rank))
      left(func: uid(p)) { count(uid) } }
      mutation @if(gt(len(p), 0)) { set { uid(p) <Person.rank> "7" . } } }`,
  );
  write("0002-rank/schema.graphql", "type Person { name: String! rank: Int! }");
  write("0002-rank/after.dql", '{ set { _:done <note> "done" . } }');
  return cwd;
}

describe("migrations", () => {
  test("that are killed in the middle go on, and end as if they had not been", async () => {
    const cwd = await makeMigrations();
    const env = { ...process.env, WEFT_TO: server.url };
    for (let i = 0; i < 3; i++) {
      const before = await count("Person.rank");
      const runner = spawn(process.execPath, [weft, "schema", "up"], { cwd, env });
      const ended = new Promise((resolve) => runner.once("exit", resolve));
      while ((await count("Person.rank")) < before + 100 && runner.exitCode === null) await tick();
      runner.kill("SIGKILL");
      await ended;
      expect(await count("Person.rank")).toBeGreaterThan(before);
      // The one that was killed has the migration for a minute.
      const other = runIn(cwd, "weft schema up");
      expect([other.status, other.text]).toEqual([
        1,
        expect.stringContaining("is being run by another runner"),
      ]);
      expect(runIn(cwd, "weft schema status").text).toMatch(/0002-rank +begun/);
      await release();
    }
    expect(await count("Person.rank")).toBeLessThan(people);
    const up = runIn(cwd, "weft schema up");
    expect([up.status, up.text]).toEqual([0, expect.stringContaining("0002-rank is applied")]);
    expect(await count("Person.rank")).toBe(people);
    expect(await count("note")).toBe(1);
    expect(runIn(cwd, "weft schema up").text).toContain("nothing to do");
    await dropAll();
    expect(runIn(cwd, "weft schema status").text).toMatch(/0001-people +pending/);
  }, 60_000);

  test("that fail can be mended, and go on at once", async () => {
    const cwd = await makeMigrations();
    writeFileSync(join(cwd, "migrations", "0002-rank", "after.dql"), "{ set { wrong } }");
    const failed = runIn(cwd, "weft schema up");
    expect(failed.status).toBe(1);
    expect(await count("Person.rank")).toBe(people);
    expect(runIn(cwd, "weft schema status").text).toMatch(/0002-rank +begun/);
    writeFileSync(
      join(cwd, "migrations", "0002-rank", "after.dql"),
      '{ set { _:d <note> "d" . } }',
    );
    expect(runIn(cwd, "weft schema up").status).toBe(0);
    writeFileSync(join(cwd, "migrations", "0002-rank", "force"), "Person\n");
    const changed = runIn(cwd, "weft schema status");
    expect([changed.status, changed.text]).toEqual([
      1,
      expect.stringMatching(/0002-rank +changed/),
    ]);
    expect(runIn(cwd, "weft schema up").text).toContain("was changed since it was applied");
    await dropAll();
  }, 60_000);
});

function tick(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 5));
}

/** As a minute of silence does. */
async function release(): Promise<void> {
  const asked = await post(
    `${server.url}/admin`,
    JSON.stringify({ query: "{ migrations { running { name hash direction runner step } } }" }),
    json,
  );
  const running = asked.json["data"]!["migrations"]!["running"]!;
  const query =
    "mutation($input: ReportMigrationInput!) { reportMigration(input: $input) { applied { name } } }";
  const input = { ...running, state: "STOPPED" };
  await post(`${server.url}/admin`, JSON.stringify({ query, variables: { input } }), json);
}
