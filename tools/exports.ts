/** Exports of the source as the compiler's parser sees them: which nobody imports, and which names have two meanings. */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize, relative } from "node:path";
import ts from "typescript";

interface Exported {
  readonly file: string;
  readonly name: string;
}

interface Module {
  readonly exported: readonly Exported[];
  /** File and name of each import; "*" for all names of a file. */
  readonly imported: readonly Exported[];
}

/** One line per exported name of `root` that no other file imports. `others`: further folders whose files import. */
export function findUnusedExports(root: string, others: readonly string[]): string[] {
  const imported = new Set<string>();
  const modules = listModules(root);
  for (const folder of [root, ...others]) {
    for (const file of listModules(folder)) {
      for (const one of readModule(file).imported) imported.add(`${one.file}:${one.name}`);
    }
  }
  return modules
    .filter((file) => !file.endsWith(".test.ts") && dirname(file) !== join(root, "main"))
    .flatMap((file) => readModule(file).exported)
    .filter(({ file, name }) => !imported.has(`${file}:${name}`) && !imported.has(`${file}:*`))
    .map(({ file, name }) => `${relative(root, file)}: nobody imports ${name}`)
    .sort();
}

/** One line per exported name of `root` that two of its files define. */
export function findTwoMeanings(root: string): string[] {
  const files = new Map<string, Set<string>>();
  for (const file of listModules(root)) {
    if (file.endsWith(".test.ts")) continue;
    for (const { name } of readModule(file).exported) {
      const places = files.get(name);
      if (places === undefined) files.set(name, new Set([file]));
      else places.add(file);
    }
  }
  return [...files]
    .filter(([, places]) => places.size > 1)
    .map(
      ([name, places]) =>
        `${name}: ${[...places]
          .map((file) => relative(root, file))
          .sort()
          .join(", ")}`,
    )
    .sort();
}

const parsed = new Map<string, Module>();

function readModule(file: string): Module {
  const known = parsed.get(file);
  if (known !== undefined) return known;
  const source = ts.createSourceFile(file, readFileSync(file, "utf8"), ts.ScriptTarget.Latest);
  const exported: Exported[] = [];
  const imported: Exported[] = [];
  for (const statement of source.statements) {
    for (const name of exportedNames(statement)) exported.push({ file, name });
  }
  const visit = (node: ts.Node): void => {
    imported.push(...importedNames(node, file));
    ts.forEachChild(node, visit);
  };
  visit(source);
  const module = { exported, imported };
  parsed.set(file, module);
  return module;
}

function exportedNames(statement: ts.Statement): string[] {
  if (!ts.canHaveModifiers(statement)) return [];
  const modifiers = ts.getModifiers(statement) ?? [];
  if (!modifiers.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)) return [];
  if (ts.isVariableStatement(statement)) {
    return statement.declarationList.declarations.flatMap(({ name }) =>
      ts.isIdentifier(name) ? [name.text] : [],
    );
  }
  const { name } = statement as ts.DeclarationStatement;
  return name !== undefined && ts.isIdentifier(name) ? [name.text] : [];
}

function importedNames(node: ts.Node, from: string): Exported[] {
  if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) {
    const file = targetOf(node.moduleSpecifier, from);
    if (file === undefined) return [];
    const clause = ts.isImportDeclaration(node)
      ? node.importClause?.namedBindings
      : node.exportClause;
    if (clause === undefined || !("elements" in clause)) return [{ file, name: "*" }];
    return clause.elements.map((element) => ({
      file,
      name: (element.propertyName ?? element.name).text,
    }));
  }
  if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
    const file = targetOf(node.arguments[0], from);
    return file === undefined ? [] : [{ file, name: "*" }];
  }
  if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) {
    const file = targetOf(node.argument.literal, from);
    return file === undefined ? [] : [{ file, name: "*" }];
  }
  return [];
}

function targetOf(specifier: ts.Node | undefined, from: string): string | undefined {
  if (specifier === undefined || !ts.isStringLiteral(specifier)) return undefined;
  return specifier.text.startsWith(".")
    ? normalize(join(dirname(from), specifier.text))
    : undefined;
}

function listModules(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((file) => /\.(?:m?[jt]s|tsx)$/.test(file) && !file.includes("node_modules"))
    .map((file) => join(folder, file));
}
