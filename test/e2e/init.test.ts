// Goal: a project of `weft init` is developed, tested, typed and served as a newcomer would, with the package as npm
// installs it.
import { spawnSync } from "node:child_process";
import {
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { dependencies, packageName } from "./project.ts";
import {
  cleanUp,
  makeFolder,
  post,
  root,
  runWeft,
  startDev,
  startServer,
  type DevServer,
} from "./server.ts";

let project: string;
let dev: DevServer;

const read = (name: string): string => readFileSync(join(project, name), "utf8");
const write = (name: string, text: string): void => writeFileSync(join(project, name), text);

/** What `npm install` would put there. */
function install(): void {
  const modules = join(project, "node_modules");
  const own = join(modules, packageName);
  mkdirSync(join(modules, ".bin"), { recursive: true });
  for (const one of ["package.json", "bin", "dist"]) {
    cpSync(join(root, one), join(own, one), {
      recursive: true,
      filter: (file) => !file.endsWith(".map"),
    });
  }
  for (const one of [...Object.keys(dependencies), "vitest", "vite", "typescript", "@types"]) {
    symlinkSync(join(root, "node_modules", one), join(modules, one));
  }
  symlinkSync(join(own, "bin", "weft"), join(modules, ".bin", "weft"));
  symlinkSync(join(modules, "vitest", "vitest.mjs"), join(modules, ".bin", "vitest"));
  symlinkSync(join(modules, "typescript", "bin", "tsc"), join(modules, ".bin", "tsc"));
}

/** `npm run …`: exit code and output. */
function npm(...args: string[]): { readonly status: number | null; readonly output: string } {
  const { status, stdout, stderr } = spawnSync("npm", ["run", ...args], { cwd: project });
  return { status, output: `${stdout.toString()}${stderr.toString()}` };
}

async function makeProject(...flags: string[]): Promise<void> {
  project = join(makeFolder(), "Cat Shop");
  const { code, stdout } = await runWeft(["init", project, ...flags]);
  expect([code, stdout]).toEqual([
    0,
    `weft: ${project} is a project now. To go on:\n  cd ${project}\n  npm install\n  npm run dev\n`,
  ]);
  install();
}

afterAll(cleanUp);

describe("a project in TypeScript", () => {
  beforeAll(() => makeProject());

  test("is complete, and others may read it", () => {
    expect(readdirSync(project).toSorted()).toEqual(
      [
        ".dockerignore",
        ".gitignore",
        ".graphqlrc.yml",
        ".vscode",
        "Dockerfile",
        "README.md",
        "compose.yaml",
      ]
        .concat([
          "fixtures.graphql",
          "label.ts",
          "list-tasks.ts",
          "node_modules",
          "package.json",
          "resolvers.ts",
        ])
        .concat(["schema.graphql", "test", "tsconfig.json", "weft"]),
    );
    const manifest = JSON.parse(read("package.json")) as {
      name: string;
      dependencies: object;
      devDependencies: Record<string, string>;
    };
    const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
      version: string;
    };
    expect(manifest.name).toBe("cat-shop");
    expect(manifest.dependencies).toEqual({ [packageName]: `^${version}` });
    // Those that these tests run with.
    const { dependencies: known } = JSON.parse(
      readFileSync(join(root, "test", "package.json"), "utf8"),
    ) as { dependencies: Record<string, string> };
    for (const [name, range] of Object.entries(manifest.devDependencies)) {
      expect([name, range]).toEqual([name, `^${known[name]}`]);
    }
    const open = ~process.umask() & 0o666;
    expect(statSync(join(project, "schema.graphql")).mode & 0o777).toBe(open);
    expect(statSync(join(project, "weft", "schema.d.ts")).mode & 0o777).toBe(open);
  });

  test("its tests pass", () => {
    const { status, output } = npm("test");
    expect(output).toContain("2 passed");
    expect(status).toBe(0);
  });

  test("weft dev follows a newcomer who adds a field, misspells it, and uses it in a resolver", async () => {
    dev = await startDev(
      project,
      [],
      [process.execPath, join(project, "node_modules", ".bin", "weft")],
    );
    const ask = async (query: string): Promise<unknown> =>
      (await post(`${dev.url}/graphql`, { query })).json["data"];
    expect(await ask("{ queryTask(order: { asc: title }) { label owner { name } } }")).toEqual({
      queryTask: [
        { label: "[x] Feed the cat", owner: { name: "bob" } },
        { label: "[ ] Water the plants", owner: { name: "ann" } },
      ],
    });
    const schema = read("schema.graphql");
    let before = dev.output().length;
    write("schema.graphql", schema.replace("  owner: User\n", "  owner: User\n  due: DateTim\n"));
    await dev.says("schema.graphql:7:8: error: Undefined type DateTim.", before);
    before = dev.output().length;
    write("schema.graphql", schema.replace("  owner: User\n", "  owner: User\n  due: DateTime\n"));
    await dev.says("types: weft/schema.d.ts, weft/resolvers.d.ts", before);
    write(
      "label.ts",
      `export interface Labelled { readonly title: string; readonly done?: boolean; readonly due?: string }
export function labelOf({ title, done, due }: Labelled): string {
  return \`[\${done === true ? "x" : " "}] \${title}\${due === undefined ? "" : \` until \${due.slice(0, 10)}\`}\`;
}
`,
    );
    await dev.says("resolvers.ts: 2 resolvers", before);
    await ask(
      'mutation { updateTask(input: { filter: { title: { eq: "Water the plants" } }, set: { due: "2030-05-01T00:00:00Z" } }) { numUids } }',
    );
    expect(await ask("{ queryTask(filter: { done: false }) { label } }")).toEqual({
      queryTask: [{ label: "[ ] Water the plants until 2030-05-01" }],
    });
    const { json } = await post(`${dev.url}/graphql`, {
      query: 'mutation { finishTask(title: "Sleep") }',
    });
    expect(json["errors"]).toMatchObject([
      {
        message: 'There is no open task "Sleep".',
        path: ["finishTask"],
        extensions: { code: "NO_SUCH_TASK" },
      },
    ]);
    expect(await ask('mutation { finishTask(title: "Water the plants") }')).toEqual({
      finishTask: true,
    });
  });

  test("the editor and the compiler know what resolvers get", () => {
    const label = read("resolvers.ts");
    write("resolvers.ts", label.replace("labelOf(parent)", "labelOf(parent) + parent.dew"));
    const { status, output } = npm("types");
    expect(status).not.toBe(0);
    expect(output).toMatch(
      /resolvers\.ts\(5,\d+\): error TS2339: Property 'dew' does not exist on type 'TaskParent'/,
    );
    write("resolvers.ts", label);
    expect(npm("types")).toMatchObject({ status: 0 });
  });

  test("its client asks the running server, typed", () => {
    write(
      "test/client.test.ts",
      `import { expect, test } from "vitest";
import { listTasks } from "../list-tasks.js";

test("lists", async () => {
  expect(await listTasks(${JSON.stringify(dev.url)}, "cat plants")).toEqual([
    "[x] Feed the cat (bob)",
    "[x] Water the plants until 2030-05-01 (ann)",
  ]);
});
`,
    );
    const { status, output } = npm("test");
    expect(output).toContain("3 passed");
    expect(status).toBe(0);
  });

  test("it is served as in production, and its schema set there", async () => {
    await dev.stop("SIGINT");
    const server = await startServer({
      dataDir: join(project, "weft-data"),
      flags: ["--lambda", join(project, "resolvers.ts")],
    });
    const { status, output } = npm("deploy", "--", "--to", server.url);
    expect(output).toContain("the schema is set");
    expect(status).toBe(0);
    const add = 'mutation { addTask(input: [{ title: "one" }]) { task { label } } }';
    expect((await post(`${server.url}/graphql`, { query: add })).json["data"]).toEqual({
      addTask: { task: [{ label: "[ ] one" }] },
    });
    await server.stop();
  });
});

test("the page on development shows what the terminal says", async () => {
  await makeProject();
  dev = await startDev(project);
  const normal = (text: string): readonly string[] =>
    text
      .replaceAll(/127\.0\.0\.1:\d+/g, "HOST")
      .split("\n")
      .map((line) => line.trimEnd());
  const page = readFileSync(join(root, "docs", "development.md"), "utf8");
  const shown =
    /```console\n(?<text>weft: resolvers[\s\S]*?)```/.exec(page)?.groups?.["text"] ?? "";
  expect(shown).toContain("Ctrl-C");
  const said = normal(dev.output());
  for (const line of normal(shown)) expect(said).toContain(line);
  await dev.stop("SIGINT");
});

test("a project in JavaScript: its tests pass, resolvers are checked, weft dev serves it", async () => {
  await makeProject("--template", "javascript");
  const { status, output } = npm("test");
  expect(output).toMatch(/pass 2/);
  expect(status).toBe(0);
  const check = (): ReturnType<typeof spawnSync> =>
    spawnSync(join(project, "node_modules", ".bin", "tsc"), ["--noEmit", "-p", "jsconfig.json"], {
      cwd: project,
    });
  expect(check().stdout.toString()).toBe("");
  write("resolvers.js", read("resolvers.js").replace("args.title", "args.titel"));
  expect(check().stdout.toString()).toContain("Property 'titel' does not exist");
  dev = await startDev(project);
  expect(dev.output()).toContain("resolvers.js: 2 resolvers");
  const { json } = await post(`${dev.url}/graphql`, { query: "{ aggregateTask { count } }" });
  expect(json["data"]).toEqual({ aggregateTask: { count: 2 } });
  expect(read("Dockerfile")).toContain('"--lambda", "resolvers.js"');
  await dev.stop("SIGINT");
});

test("the smallest project, and a folder that is not empty", async () => {
  await makeProject("--template", "minimal");
  const refused = await runWeft(["init", project]);
  expect(refused.code).toBe(1);
  expect(refused.stderr).toMatch(
    /Cat Shop is not empty \(\.gitignore, README\.md, node_modules\): --force adds/,
  );
  dev = await startDev(project);
  const { json } = await post(`${dev.url}/graphql`, {
    query: 'mutation { addTask(input: [{ title: "one" }]) { numUids } }',
  });
  expect(json["data"]).toEqual({ addTask: { numUids: 1 } });
  await dev.stop("SIGINT");

  project = makeFolder();
  mkdirSync(join(project, ".git"));
  expect((await runWeft(["init", project, "--template", "minimal"])).code).toBe(0);
  write("schema.graphql", "type Mine { id: ID! name: String }\n");
  const added = await runWeft(["init", project, "--force"]);
  expect(added.stdout).toContain(
    "weft: left as they are: .gitignore, schema.graphql, README.md, package.json\n",
  );
  expect(read("schema.graphql")).toContain("Mine");
  expect(read("weft/schema.d.ts")).toContain("Mine");
  expect(read("resolvers.ts")).toContain("Task.label");
});
