/** The packages below a project's node_modules, as they lie on disk. */
import { readdirSync, readFileSync, realpathSync, statSync } from "node:fs";
import { dirname, join, relative } from "node:path";

export interface NpmPackage {
  readonly name: string;
  readonly version: string;
  readonly description: string | undefined;
  readonly license: string | undefined;
  readonly keywords: readonly string[];
  /** Of its own files, without packages nested in it. */
  readonly sizeBytes: number;
  readonly fileCount: number;
  /** Where it lies, from the project's folder, with forward slashes. */
  readonly path: string;
  readonly dependencies: readonly NpmDependency[];
}

interface NpmDependency {
  /** Version range as the package states it. */
  readonly range: string;
  readonly kind: "required" | "optional" | "peer";
  /** The path of the package that Node would load. */
  readonly path: string;
}

/** Every package that is installed, sorted by path. One copy of a package that lies twice is two. */
export function readNpmTree(project: string): NpmPackage[] {
  const folders: string[] = [];
  collectPackages(join(project, "node_modules"), folders, new Set());
  const known = new Set(folders);
  return folders.sort().flatMap((folder) => readPackage(project, folder, known) ?? []);
}

function collectPackages(modules: string, found: string[], seen: Set<string>): void {
  for (const name of listFolder(modules)) {
    if (name.startsWith(".")) continue;
    const folder = join(modules, name);
    if (name.startsWith("@")) {
      collectPackages(folder, found, seen);
      continue;
    }
    if (statSync(join(folder, "package.json"), { throwIfNoEntry: false }) === undefined) continue;
    // A link to a folder that was met already is the same package.
    const real = realpathSync(folder);
    if (seen.has(real)) continue;
    seen.add(real);
    found.push(folder);
    collectPackages(join(folder, "node_modules"), found, seen);
  }
}

function listFolder(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function readPackage(
  project: string,
  folder: string,
  known: ReadonlySet<string>,
): NpmPackage | undefined {
  const manifest = readManifest(join(folder, "package.json"));
  const name = textOf(manifest["name"]);
  const version = textOf(manifest["version"]);
  if (name === undefined || version === undefined) return undefined;
  const dependencies = listDependencies(manifest).flatMap(({ name: wanted, range, kind }) => {
    const path = resolvePackage(folder, wanted, known);
    return path === undefined ? [] : [{ range, kind, path: toPath(project, path) }];
  });
  return {
    name,
    version,
    description: textOf(manifest["description"]),
    license: readLicense(manifest),
    keywords: readKeywords(manifest["keywords"]),
    ...measure(folder),
    path: toPath(project, folder),
    dependencies,
  };
}

type Manifest = Readonly<Record<string, unknown>>;

function readManifest(file: string): Manifest {
  try {
    const value: unknown = JSON.parse(readFileSync(file, "utf8"));
    return typeof value === "object" && value !== null ? (value as Manifest) : {};
  } catch {
    return {};
  }
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value.trim() !== "" ? value.trim() : undefined;
}

/** `"license": "MIT"`, or one of the two older forms. */
function readLicense(manifest: Manifest): string | undefined {
  const plain = textOf(manifest["license"]);
  if (plain !== undefined) return plain;
  const first: unknown = Array.isArray(manifest["licenses"]) ? manifest["licenses"][0] : undefined;
  const older = manifest["license"] ?? first;
  return typeof older === "object" && older !== null
    ? textOf((older as Manifest)["type"])
    : undefined;
}

function readKeywords(value: unknown): string[] {
  const words = Array.isArray(value) ? value : [];
  const plain = words.flatMap((word: unknown) => textOf(word)?.toLowerCase() ?? []);
  return [...new Set(plain)].sort();
}

interface Wanted {
  readonly name: string;
  readonly range: string;
  readonly kind: NpmDependency["kind"];
}

function listDependencies(manifest: Manifest): Wanted[] {
  const wanted = new Map<string, Wanted>();
  const kinds = [
    ["peerDependencies", "peer"],
    ["dependencies", "required"],
    ["optionalDependencies", "optional"],
  ] as const;
  for (const [member, kind] of kinds) {
    const list = manifest[member];
    if (typeof list !== "object" || list === null) continue;
    for (const [name, range] of Object.entries(list)) {
      wanted.set(name, { name, range: String(range), kind });
    }
  }
  return [...wanted.values()];
}

/** As Node looks for it: in the package's own node_modules, then in each one above. */
function resolvePackage(
  folder: string,
  name: string,
  known: ReadonlySet<string>,
): string | undefined {
  for (let at = folder; ; at = dirname(at)) {
    const candidate = join(at, "node_modules", name);
    if (known.has(candidate)) return candidate;
    if (dirname(at) === at) return undefined;
  }
}

function measure(folder: string): { sizeBytes: number; fileCount: number } {
  let sizeBytes = 0;
  let fileCount = 0;
  const walk = (at: string): void => {
    for (const entry of readdirSync(at, { withFileTypes: true })) {
      if (entry.isDirectory() && entry.name !== "node_modules") walk(join(at, entry.name));
      if (!entry.isFile()) continue;
      sizeBytes += statSync(join(at, entry.name)).size;
      fileCount++;
    }
  };
  walk(folder);
  return { sizeBytes, fileCount };
}

function toPath(project: string, folder: string): string {
  return relative(project, folder).replaceAll("\\", "/");
}
