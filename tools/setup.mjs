// Brings a checkout into a state that runs: installs the packages of the lockfile when they are not there (those of the
// tests' own workspace only for tests), and compiles src to dist when a source has changed. Says what it does; does nothing, and needs no network, when nothing has changed.
// Plain Node and no packages: it runs before there are any.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { codeCacheFolder } from "../bin/code-cache.mjs";

export const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const nodeVersionMin = [20, 19];

/** Ends the process with one line, for what the person at the keyboard has to put right. */
export function fail(line) {
  process.stderr.write(`weft: ${line}\n`);
  process.exit(1);
}

/** Installs and builds when something has changed; ends the process when either does not work. */
export function setup({ tests = false } = {}) {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  if (major < nodeVersionMin[0] || (major === nodeVersionMin[0] && minor < nodeVersionMin[1])) {
    fail(`needs Node ${nodeVersionMin.join(".")} or newer, this is ${process.versions.node}`);
  }
  const missing = findMissingPackage(tests);
  if (missing !== undefined) install(missing, tests);
  const sources = listSources();
  const print = fingerprint(sources);
  if (readText(stampFile()) !== print) build(sources, print);
  else if (!existsSync(codeCacheFolder)) runNode("bin", "code-cache.mjs");
}

/** The first wanted package of the lockfile that node_modules does not hold in that version; undefined when all are there. */
function findMissingPackage(tests) {
  const installed = readJson(join(root, "node_modules", ".package-lock.json"));
  if (installed === undefined) return "node_modules is missing";
  const wanted = readJson(join(root, "package-lock.json"))?.packages ?? {};
  for (const path of tests ? Object.keys(wanted) : listReachable(wanted)) {
    const entry = wanted[path];
    if (!path.includes("node_modules/")) continue;
    const there = installed.packages?.[path];
    if (there === undefined && entry.optional !== true) return `${path} is missing`;
    if (there !== undefined && there.version !== entry.version) {
      return `${path} is ${there.version}, the lockfile says ${entry.version}`;
    }
  }
  return undefined;
}

/** Places of the packages that the root needs, without its workspaces, by the lockfile's `packages`. */
function listReachable(packages) {
  const found = new Set();
  const visit = (path) => {
    const { dependencies, devDependencies, optionalDependencies } = packages[path] ?? {};
    const own = path === "" ? devDependencies : undefined;
    for (const name of Object.keys({ ...dependencies, ...own, ...optionalDependencies })) {
      const place = findPlace(packages, path, name);
      if (place === undefined || found.has(place)) continue;
      found.add(place);
      visit(place);
    }
  };
  visit("");
  return found;
}

/** As Node looks: below the package, then below each one that it lies in. */
function findPlace(packages, from, name) {
  for (let at = from; ; at = at.slice(0, Math.max(at.lastIndexOf("/node_modules/"), 0))) {
    const place = `${at === "" ? "" : `${at}/`}node_modules/${name}`;
    if (packages[place] !== undefined) return place;
    if (at === "") return undefined;
  }
}

function install(reason, tests) {
  process.stdout.write(`weft: installing packages (${reason}); this happens once\n`);
  // Not `npm ci`: it refuses a lockfile that lacks the optional packages of other platforms, which a registry need not
  // have. This installs what the lockfile says and leaves it alone. No package here needs an install script: what is
  // native comes as a prebuilt optional package.
  const flags = ["--no-save", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel", "error"];
  if (!tests) flags.push("--workspaces=false");
  const npm = process.env.npm_execpath;
  const [command, first] = npm?.endsWith("js") ? [process.execPath, [npm]] : ["npm", []];
  const done = spawnSync(command, [...first, "install", ...flags], {
    cwd: root,
    stdio: ["ignore", "inherit", "inherit"],
    env: { ...process.env, NODE_ENV: "development" },
    shell: process.platform === "win32" && command === "npm",
  });
  if (done.status !== 0) fail("the packages could not be installed (see above)");
}

function build(sources, print) {
  process.stdout.write(`weft: compiling ${sources.length} files\n`);
  if (runNode("tools", "build.mjs") !== 0) fail("the sources do not compile (see above)");
  writeFileSync(stampFile(), print);
}

/** Its exit code. */
function runNode(...file) {
  const stdio = ["ignore", "inherit", "inherit"];
  return spawnSync(process.execPath, [join(root, ...file)], { cwd: root, stdio }).status;
}

function listSources() {
  const src = join(root, "src");
  const files = readdirSync(src, { recursive: true, encoding: "utf8" });
  return files
    .filter((file) => /\.(?:[jt]s|tsx|css|html)$/.test(file) && !file.endsWith(".test.ts"))
    .map((file) => join(src, file))
    .sort();
}

/** Of the contents: times of change tell nothing after a checkout. 500 files take 20 ms. */
function fingerprint(sources) {
  const hash = createHash("sha256");
  const configs = [
    "tsconfig.json",
    "tools/build.mjs",
    "tools/build-program.mjs",
    "bin/code-cache.mjs",
    "package-lock.json",
  ];
  for (const file of [...configs.map((name) => join(root, name)), ...sources]) {
    hash.update(relative(root, file)).update("\0").update(readFileSync(file)).update("\0");
  }
  return hash.digest("hex");
}

function stampFile() {
  return join(root, "dist", ".built");
}

function readText(file) {
  return statSync(file, { throwIfNoEntry: false }) === undefined
    ? undefined
    : readFileSync(file, "utf8");
}

function readJson(file) {
  const text = readText(file);
  return text === undefined ? undefined : JSON.parse(text);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  setup();
  process.stdout.write("weft: ready\n");
}
