/**
 * The rules of the project that a reviewer would otherwise repeat. Imports, words and names are checked as text, which
 * the formatter has brought into one form; functions by the compiler's tree (`exports.ts`, `messages.ts` too).
 */
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join, normalize, relative, sep } from "node:path";
import ts from "typescript";

/** For each module: the modules it may import, and the outside packages. The lowest layer first. */
export type Layers = Readonly<Record<string, Layer>>;
export interface Layer {
  readonly below: readonly string[];
  readonly outside?: readonly string[];
  /** The files that others may import. Default: each that is directly in the folder. */
  readonly interface?: readonly string[];
  /** The files of a module below that this module may import, where others may import more. */
  readonly through?: Readonly<Record<string, readonly string[]>>;
}

// The formatter writes every specifier in double quotes, so a pattern is enough: no parser to keep.
// `new URL("./…")` is how a child process or a worker thread is started: that is an import too.
const importPattern = /(?:\bfrom |^import |\bimport\(|\bnew URL\((?="\.))"(?<specifier>[^"]+)"/gm;

/** One line per import that goes up, goes sideways, or reaches past a module's interface. */
export function findLayerFaults(root: string, layers: Layers): string[] {
  const faults: string[] = [];
  for (const file of listSource(root)) {
    const module = moduleOf(file, layers);
    const layer = layers[module];
    if (layer === undefined) {
      faults.push(`${file}: ${module} is not in the table of layers`);
      continue;
    }
    for (const match of readFileSync(join(root, file), "utf8").matchAll(importPattern)) {
      const fault = judge(file, module, layers, match.groups?.["specifier"] ?? "");
      if (fault !== undefined) faults.push(`${file}: ${fault}`);
    }
  }
  return faults.sort();
}

/** A table that is not written bottom-up is itself a fault, so a cycle of modules cannot be written. */
export function findTableFaults(layers: Layers): string[] {
  const faults: string[] = [];
  const seen = new Set<string>();
  for (const [module, layer] of Object.entries(layers)) {
    for (const name of layer.below) {
      if (!seen.has(name)) faults.push(`${module} names ${name}, which is not below it`);
    }
    seen.add(module);
  }
  return faults;
}

function judge(
  file: string,
  module: string,
  layers: Layers,
  specifier: string,
): string | undefined {
  const layer = layers[module] ?? { below: [] };
  if (!specifier.startsWith(".")) {
    const allowed =
      layer.outside?.some((name) => specifier === name || specifier.startsWith(`${name}/`)) ??
      false;
    return allowed ? undefined : `${module} may not import ${specifier}`;
  }
  const target = normalize(join(dirname(file), specifier));
  const targetModule = moduleOf(target, layers);
  if (targetModule === module) return undefined;
  if (!layer.below.includes(targetModule))
    return `${module} may not import ${targetModule} (${target})`;
  const named = layers[targetModule]?.interface;
  if (!isInterface(target, targetModule, named))
    return `${target} is not in the interface of ${targetModule}`;
  const through = layer.through?.[targetModule];
  if (through === undefined || isInterface(target, targetModule, through)) return undefined;
  return `${module} enters ${targetModule} by ${through.join(", ")}`;
}

/** `named`: the files that count; undefined: each that is directly in its module's folder. */
function isInterface(
  target: string,
  module: string,
  named: readonly string[] | undefined,
): boolean {
  const file = relative(module, target);
  return !file.includes(sep) && (named?.includes(file) ?? true);
}

/**
 * One line per import of a file that its module does not name in its `interface`, in tests and whatever else stands
 * beside the source. `root`: the source; `folder`: where to look; `exempt`: folders that test a module from within.
 */
export function findSideEntrances(
  root: string,
  layers: Layers,
  folder: string,
  exempt: readonly string[],
): string[] {
  const faults: string[] = [];
  for (const file of listAll(folder)) {
    const path = join(folder, file);
    if (exempt.some((one) => path.startsWith(`${one}${sep}`))) continue;
    for (const match of readFileSync(path, "utf8").matchAll(importPattern)) {
      const target = relative(root, join(dirname(path), match.groups?.["specifier"] ?? ""));
      const module = moduleOf(target, layers);
      const named = layers[module]?.interface;
      if (named === undefined || path.startsWith(join(root, module) + sep)) continue;
      if (!isInterface(target, module, named))
        faults.push(`${file}: ${target} is not in the interface of ${module}`);
    }
  }
  return faults.sort();
}

/** Longest file and function that may stand, in lines; `exceptions` names those that may be longer. */
export interface SizeLimits {
  readonly fileLinesMax: number;
  readonly functionLinesMax: number;
  /** File, or `file:function`, → why it may be longer. */
  readonly exceptions: Readonly<Record<string, string>>;
}

/** One line per file or function that is longer than its limit, and per exception that is no longer needed. */
export function findLengthFaults(root: string, sizeLimits: SizeLimits): string[] {
  const faults: string[] = [];
  const needed = new Set<string>();
  const judge = (name: string, lineCount: number, lineCountMax: number): void => {
    if (lineCount <= lineCountMax) return;
    if (sizeLimits.exceptions[name] === undefined) faults.push(`${name} has ${lineCount} lines`);
    needed.add(name);
  };
  for (const file of listSource(root)) {
    const text = readFileSync(join(root, file), "utf8");
    judge(file, text.split("\n").length, sizeLimits.fileLinesMax);
    for (const { name, lineCount } of listFunctions(file, text)) {
      judge(`${file}:${name}`, lineCount, sizeLimits.functionLinesMax);
    }
  }
  for (const name of Object.keys(sizeLimits.exceptions)) {
    if (!needed.has(name)) faults.push(`${name} needs no exception`);
  }
  return faults.sort();
}

/** Functions that have a name, with those that a constant or a property holds; nested ones are part of their own too. */
function listFunctions(file: string, text: string): { name: string; lineCount: number }[] {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const lineOf = (at: number): number => source.getLineAndCharacterOfPosition(at).line;
  const found: { name: string; lineCount: number }[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isFunctionLike(node) && "body" in node && node.body !== undefined) {
      const name = nameOfFunction(node);
      const lineCount = lineOf(node.end) - lineOf(node.getStart(source)) + 1;
      if (name !== undefined) found.push({ name, lineCount });
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

function nameOfFunction(node: ts.SignatureDeclaration): string | undefined {
  if (ts.isConstructorDeclaration(node)) return "constructor";
  const holder = node.parent;
  const isHeld = ts.isVariableDeclaration(holder) || ts.isPropertyDeclaration(holder);
  const name = node.name ?? (isHeld ? holder.name : undefined);
  if (name === undefined) return undefined;
  return ts.isIdentifier(name) || ts.isPrivateIdentifier(name)
    ? name.text.replace(/^#/, "")
    : undefined;
}

/** A word that has a better one, and where it may stand all the same. */
export interface BannedWord {
  readonly pattern: RegExp;
  readonly instead: string;
  /** Files or modules that may use it. */
  readonly allowed: readonly string[];
}

/** One line per use of a banned word; comments count too. */
export function findWordFaults(root: string, words: readonly BannedWord[]): string[] {
  const faults: string[] = [];
  for (const file of listSource(root)) {
    const lines = readFileSync(join(root, file), "utf8").split("\n");
    for (const { pattern, instead, allowed } of words) {
      if (allowed.some((place) => file === place || file.startsWith(`${place}${sep}`))) continue;
      for (const [at, line] of lines.entries()) {
        if (pattern.test(line)) faults.push(`${file}:${at + 1}: ${instead}`);
      }
    }
  }
  return faults.sort();
}

/** Where programs begin: what they import is reached. */
const beginnings: ReadonlySet<string> = new Set([
  "main.ts",
  ...["start", "serve", "command", "child", "beside"].map((part) => join("main", `${part}.ts`)),
  join("console", "console.tsx"),
]);

const bannedNames = /^(?:utils?|helpers?|common|misc|manager|types|index|.*-impl|base-.*)\.ts$/;

/** One line per file whose name is not kebab-case, or says nothing. */
export function findNameFaults(root: string): string[] {
  const kebab = /^[a-z0-9]+(?:-[a-z0-9]+)*(?:\.[a-z-]+)*\.tsx?$/;
  return listAll(root)
    .filter((file) => {
      const name = file.split(sep).at(-1) ?? "";
      return bannedNames.test(name) || !kebab.test(name);
    })
    .map((file) => `${file}: a name in kebab-case that says what the file holds`)
    .sort();
}

/**
 * One line per source file that neither a program nor a test nor a bench reaches through imports.
 * `others` are folders whose files count as beginnings.
 */
export function findDeadFiles(root: string, others: readonly string[]): string[] {
  const begin = listAll(root)
    .filter((file) => beginnings.has(file) || file.endsWith(".test.ts"))
    .map((file) => join(root, file));
  for (const folder of others) {
    if (existsSync(folder)) begin.push(...listAll(folder).map((file) => join(folder, file)));
  }
  const reached = new Set<string>();
  while (begin.length > 0) {
    const file = normalize(begin.pop() ?? "");
    // `new URL("../..", …)` names a folder: nothing to read.
    if (reached.has(file) || statSync(file, { throwIfNoEntry: false })?.isFile() !== true) continue;
    reached.add(file);
    for (const match of readFileSync(file, "utf8").matchAll(importPattern)) {
      const specifier = match.groups?.["specifier"] ?? "";
      if (!specifier.startsWith(".")) continue;
      // A thread is named by the file that it is built to.
      begin.push(
        join(dirname(file), specifier),
        join(dirname(file), specifier.replace(/js$/, "ts")),
      );
    }
  }
  return listSource(root).filter((file) => !reached.has(normalize(join(root, file))));
}

function listSource(root: string): string[] {
  return listAll(root).filter((file) => !file.endsWith(".test.ts") && !file.endsWith(".d.ts"));
}

function listAll(root: string): string[] {
  return readdirSync(root, { recursive: true, encoding: "utf8" }).filter((file) =>
    /\.tsx?$/.test(file),
  );
}

/** A file directly in src is a module of its own: main.ts is the module "main". A folder in a module may be one, too. */
function moduleOf(file: string, layers: Layers): string {
  const [folder = "", inner = ""] = file.split(sep);
  const nested = `${folder}/${inner}`;
  return nested in layers ? nested : folder.replace(/\.ts$/, "");
}
