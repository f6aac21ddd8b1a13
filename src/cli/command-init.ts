/** `weft init`: a project that starts, from the templates of the package. Nothing is asked, nothing overwritten. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import { Fault } from "../model/fault.ts";
import type { InitOptions } from "./dev-commands.ts";
import { say } from "./log.ts";
import { packageFolder } from "./places.ts";
import { inProject } from "./project-mask.ts";
import { readPackageName, readVersion } from "./version.ts";
import { writeSchemaTypes } from "./written-files.ts";

const templates = join(packageFolder, "sample", "init");

/** A later one stands in front of an earlier one. */
const layers = {
  typescript: ["shared", "typescript"],
  javascript: ["shared", "javascript"],
  minimal: ["minimal"],
} as const;

/** npm leaves such files out of packages, or reads them itself. */
const hiddenNames = new Map([
  ["gitignore", ".gitignore"],
  ["dockerignore", ".dockerignore"],
  ["graphqlrc.yml", ".graphqlrc.yml"],
]);

/** What may be in a folder that counts as empty. */
const ignored = new Set([".git", ".DS_Store"]);

/** Fault E_STARTUP where the folder is not empty, unless `force`: then files that are there stay as they are. */
export function runInit(dir: string, options: InitOptions): void {
  inProject(() => writeProject(dir, options));
  say(`${dir === "." ? "this folder" : dir} is a project now. To go on:`);
  const steps = [...(dir === "." ? [] : [`cd ${dir}`]), "npm install", "npm run dev"];
  process.stdout.write(steps.map((step) => `  ${step}\n`).join(""));
}

function writeProject(dir: string, { template, force }: InitOptions): void {
  const root = resolve(dir);
  const others = existsSync(root) ? readdirSync(root).filter((name) => !ignored.has(name)) : [];
  if (others.length > 0 && !force) {
    const found = others.slice(0, 3).join(", ");
    throw new Fault(
      "E_STARTUP",
      `${dir} is not empty (${found}): --force adds to it, and leaves files that are there as they are`,
    );
  }
  const kept: string[] = [];
  for (const [name, text] of readTemplate(layers[template], root)) {
    const file = join(root, name);
    if (existsSync(file)) {
      kept.push(name);
      continue;
    }
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
  const schema = join(root, "schema.graphql");
  writeSchemaTypes(join(root, "weft"), readFileSync(schema, "utf8"), "number");
  if (kept.length > 0) say(`left as they are: ${kept.join(", ")}`);
}

/** Names within the project → texts. */
function readTemplate(folders: readonly string[], root: string): ReadonlyMap<string, string> {
  const files = new Map<string, string>();
  for (const folder of folders) {
    const from = join(templates, folder);
    for (const entry of readdirSync(from, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue;
      const path = join(entry.parentPath, entry.name);
      const name = relative(from, path);
      const text = readFileSync(path, "utf8");
      files.set(hiddenNames.get(name) ?? name, adapt(name, text, { folders, root }));
    }
  }
  return files;
}

interface Target {
  readonly folders: readonly string[];
  readonly root: string;
}

function adapt(name: string, text: string, { folders, root }: Target): string {
  const own = text.replaceAll("weft-graph", readPackageName());
  if (name === "package.json") {
    return own
      .replace('"name": "app"', `"name": ${JSON.stringify(nameOfPackage(root))}`)
      .replace("^0.0.0", `^${readVersion()}`);
  }
  if (name === "README.md") return own.replace("# app", `# ${basename(root)}`);
  return name === "Dockerfile" && folders.includes("javascript")
    ? own.replace("resolvers.ts", "resolvers.js")
    : own;
}

/** Of the folder's, what npm takes. */
function nameOfPackage(root: string): string {
  const name = basename(root)
    .toLowerCase()
    .replaceAll(/[^a-z0-9._-]+/g, "-")
    .replace(/^[._-]+/, "");
  return name === "" ? "app" : name;
}
