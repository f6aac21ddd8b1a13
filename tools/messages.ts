/**
 * Errors are known by their type or their code. Where another program gives only words, one named function looks at
 * them; the table says which, and why.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";

/** `file:function`, or a file for all of its functions, → why words are all that there is. */
export type MessageReaders = Readonly<Record<string, string>>;

const overHttp = "a server's answer over HTTP has a message, and one code for many causes";
const graphqlJs = "graphql-js gives syntax errors no code";

export const messageReaders: MessageReaders = {
  "load/server-message.ts": overHttp,
  "graphql/operation/syntax-message.ts": graphqlJs,
  "graphql/schema/syntax-problem.ts:rewordSyntaxMessage": graphqlJs,
  "grpc/status.ts:statusOf": "faults carry the reference's code in their words, as HTTP tells them",
  "client/dql-session.ts:isConflict": overHttp,
  "console/ask.ts:asksWho": overHttp,
  "http/graphql-routes.ts:explainGzip": "zlib has one code for a wrong header and for wrong data",
};

/** One line per place that looks into a message, outside of `readers`; and per reader that looks into none. */
export function findMessageReaders(root: string, readers: MessageReaders): string[] {
  const faults: string[] = [];
  const needed = new Set<string>();
  for (const file of readdirSync(root, { recursive: true, encoding: "utf8" })) {
    if (!file.endsWith(".ts") || file.endsWith(".test.ts")) continue;
    const text = readFileSync(join(root, file), "utf8");
    if (!/message/i.test(text)) continue;
    const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
    for (const { node, name } of findReads(source)) {
      const reader = [file, `${file}:${name}`].find((one) => readers[one] !== undefined);
      if (reader !== undefined) needed.add(reader);
      const line = source.getLineAndCharacterOfPosition(node.getStart()).line + 1;
      if (reader === undefined)
        faults.push(`${file}:${line}: ${name || "it"} knows an error by its message`);
    }
  }
  for (const reader of Object.keys(readers)) {
    if (!needed.has(reader)) faults.push(`${reader} looks into no message`);
  }
  return faults.sort();
}

interface Read {
  readonly node: ts.Node;
  /** Of the function around it; "" for the file's own lines. */
  readonly name: string;
}

function findReads(source: ts.SourceFile): Read[] {
  const found: Read[] = [];
  const visit = (node: ts.Node, name: string, words: ReadonlySet<string>): void => {
    let inner = name;
    let known = words;
    if (
      ts.isFunctionLike(node) &&
      node.name !== undefined &&
      !ts.isConstructSignatureDeclaration(node)
    ) {
      inner = node.name.getText();
      known = new Set([...words, ...listCopies(node)]);
    }
    if (isRead(node, known)) found.push({ node, name: inner });
    ts.forEachChild(node, (child) => visit(child, inner, known));
  };
  visit(source, "", new Set(["message"]));
  return found;
}

/** Names of constants that hold a message, or what was cut out of one. */
function listCopies(scope: ts.Node): string[] {
  const names: string[] = [];
  const visit = (node: ts.Node): void => {
    if (
      ts.isVariableDeclaration(node) &&
      ts.isIdentifier(node.name) &&
      node.initializer !== undefined &&
      /^[\w.?]+\.message(?:\.(?:replace|replaceAll|slice|trim|toLowerCase)\([^]*)?$/.test(
        node.initializer.getText(),
      )
    ) {
      names.push(node.name.text);
    }
    ts.forEachChild(node, visit);
  };
  visit(scope);
  return names;
}

const looking = new Set(["includes", "startsWith", "endsWith", "match", "search", "indexOf"]);
const trying = new Set(["test", "exec"]);
const equal = new Set([
  ts.SyntaxKind.EqualsEqualsEqualsToken,
  ts.SyntaxKind.ExclamationEqualsEqualsToken,
]);

/** A comparison, or a search, of a message. Against undefined is none. */
function isRead(node: ts.Node, words: ReadonlySet<string>): boolean {
  if (ts.isBinaryExpression(node) && equal.has(node.operatorToken.kind)) {
    const sides = [node.left, node.right];
    return sides.some((side) => isMessage(side, words)) && sides.every((side) => !isNothing(side));
  }
  if (ts.isSwitchStatement(node)) return isMessage(node.expression, words);
  if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return false;
  const { expression, name } = node.expression;
  if (looking.has(name.text)) return isMessage(expression, words);
  return trying.has(name.text) && node.arguments.some((argument) => isMessage(argument, words));
}

function isMessage(node: ts.Expression, words: ReadonlySet<string>): boolean {
  if (ts.isIdentifier(node)) return words.has(node.text);
  return ts.isPropertyAccessExpression(node) && node.name.text === "message";
}

function isNothing(node: ts.Expression): boolean {
  return node.kind === ts.SyntaxKind.NullKeyword || node.getText() === "undefined";
}
