// Makes what each process of Weft starts with in place of compiling (src/main/start.ts, decision 0163), beside the program
// in dist: runs a server and a command once, and keeps what V8 compiled. After a build; in a package also by hand, by whoever
// may write there: `node node_modules/weft-graph/bin/code-cache.mjs`. Plain Node and no packages: the package has none.
import { spawn } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const { version, platform, arch } = process;

/** Of this Node: another one has its own beside it. */
export const codeCacheFolder = join(root, "dist", "code-cache", `${version}-${platform}-${arch}`);

const schema = `type Person { id: ID! name: String! @search(by: [hash, term]) age: Int @search knows: [Person] }`;

/** What a server is asked, so that what it does for it is compiled: [path, type of the body, body]. */
const requests = [
  ["/admin/schema", "application/graphql", schema],
  [
    "/graphql",
    "application/graphql",
    'mutation { addPerson(input: [{ name: "Ada", age: 36, knows: [{ name: "Bob" }] }]) { numUids person { id } } }',
  ],
  [
    "/graphql",
    "application/json",
    JSON.stringify({
      query:
        "query q($name: String!) { queryPerson(filter: { name: { eq: $name } }, order: { asc: age }) { id name knows { name } } aggregatePerson { count } }",
      variables: { name: "Ada" },
    }),
  ],
  ["/mutate?commitNow=true", "application/rdf", '{ set { _:a <Person.name> "Cy" . } }'],
  [
    "/query",
    "application/dql",
    '{ q(func: eq(Person.name, "Ada")) @filter(has(Person.age)) { uid Person.name Person.knows { Person.name } } }',
  ],
];

/** Ends with an error where the programs do not run. */
export async function makeCodeCache() {
  const work = mkdtempSync(join(tmpdir(), "weft-code-cache-"));
  try {
    const found = join(work, "found");
    mkdirSync(found);
    const env = { ...withoutSettings(process.env), CODE_CACHE: found };
    env.NODE_OPTIONS = `--require ${JSON.stringify(join(root, "bin", "record-code.cjs"))}`;
    const data = join(work, "data");
    await runServer(data, env);
    await runCommand(["check", "--data", data], env);
    keep(found);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** What is set for servers of this machine is not for this one. */
function withoutSettings(env) {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !/^(WEFT|npm)_/i.test(name)));
}

async function runServer(data, env) {
  const flags = [
    "--data",
    data,
    "--http",
    "127.0.0.1:0",
    "--grpc",
    "127.0.0.1:0",
    "--workers",
    "1",
  ];
  const { child, ended, output } = start(["serve", ...flags], env);
  const url = await Promise.race([readAddress(child, output), ended.then(() => undefined)]);
  if (url === undefined) throw new Error(`a server does not start:\n${output()}`);
  for (const [path, type, body] of requests) {
    const response = await fetch(url + path, {
      method: "POST",
      headers: { "content-type": type },
      body,
    });
    const text = await response.text();
    if (!response.ok || text.includes('"errors"')) throw new Error(`${path}: ${text}`);
  }
  child.kill("SIGTERM");
  await ended;
}

function readAddress(child, output) {
  return new Promise((resolve) => {
    child.stdout.on("data", () => {
      const url = /http:\/\/127\.0\.0\.1:\d+/.exec(output())?.[0];
      if (url !== undefined) resolve(url);
    });
  });
}

async function runCommand(args, env) {
  const { ended, output } = start(args, env);
  if ((await ended) !== 0) throw new Error(`weft ${args[0]} does not run:\n${output()}`);
}

function start(args, env) {
  const child = spawn(process.execPath, [join(root, "bin", "weft"), ...args], {
    env,
    stdio: ["ignore", "pipe", "pipe"],
    // Many times what it takes: a build does not wait for ever.
    timeout: 60_000,
  });
  process.once("exit", () => child.kill());
  let text = "";
  child.stdout.on("data", (piece) => (text += piece));
  child.stderr.on("data", (piece) => (text += piece));
  const ended = new Promise((resolve, reject) =>
    child.once("error", reject).once("close", resolve),
  );
  return { child, ended, output: () => text };
}

/** A process that starts meanwhile has the old file or the new one, whole. */
function keep(found) {
  mkdirSync(codeCacheFolder, { recursive: true });
  for (const name of readdirSync(found)) {
    const file = join(codeCacheFolder, name);
    writeFileSync(`${file}.${process.pid}`, readFileSync(join(found, name)));
    renameSync(`${file}.${process.pid}`, file);
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    await makeCodeCache();
  } catch (error) {
    process.stderr.write(`weft: processes will compile when they start: ${String(error)}\n`);
    process.exitCode = 1;
  }
}
