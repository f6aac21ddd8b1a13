/** Names of nodes in a line of RDF, replaced by uids; the rest of the line stays as it is, for the server to judge. */
import { printUid } from "../model/uid.ts";
import { uidPattern } from "./label-uids.ts";

type Resolve = (label: string) => number;
/** Of a name that is a number: the node that it stands for instead. */
type ResolveNumber = (name: string) => number | undefined;

/**
 * Subject and object that are blank (`_:a`, `<_:a>`) or an outside name (`<http://…>`) become uids. A line that is no
 * fact comes back as far as it could be read: the server refuses it with its own words.
 */
export function rewriteRdfLine(
  line: string,
  resolve: Resolve,
  resolveNumber?: ResolveNumber,
): string {
  const subject = readNode(line, 0, resolve, resolveNumber);
  const predicate = skipTerm(line, subject.end);
  const begin = skipBlanks(line, predicate);
  const object = readNode(line, begin, resolve, resolveNumber);
  if (subject.text === undefined && object.text === undefined) return line;
  const head = subject.text ?? line.slice(0, subject.end);
  const between = line.slice(subject.end, begin);
  return head + between + (object.text ?? line.slice(begin, object.end)) + line.slice(object.end);
}

interface Node {
  /** What to write instead; undefined to leave it. */
  readonly text: string | undefined;
  readonly end: number;
}

function readNode(
  line: string,
  begin: number,
  resolve: Resolve,
  resolveNumber: ResolveNumber | undefined,
): Node {
  if (line[begin] === "<") {
    const close = line.indexOf(">", begin);
    if (close < 0) return { text: undefined, end: line.length };
    const name = line.slice(begin + 1, close);
    const end = close + 1;
    if (name === "") return { text: undefined, end };
    if (uidPattern.test(name)) {
      const linked = resolveNumber?.(name);
      return { text: linked === undefined ? undefined : `<${printUid(linked)}>`, end };
    }
    return { text: `<${printUid(resolve(name))}>`, end };
  }
  if (!line.startsWith("_:", begin)) return { text: undefined, end: begin };
  let end = skipTerm(line, begin);
  // `_:a.` at the end of a line: the dot ends the fact.
  if (end === line.length && line.endsWith(".")) end--;
  return { text: `<${printUid(resolve(line.slice(begin, end)))}>`, end };
}

function skipTerm(line: string, from: number): number {
  const begin = skipBlanks(line, from);
  if (line[begin] === "<") {
    const close = line.indexOf(">", begin);
    return close < 0 ? line.length : close + 1;
  }
  let end = begin;
  while (end < line.length && line[end] !== " " && line[end] !== "\t" && line[end] !== "<") end++;
  return end;
}

function skipBlanks(line: string, from: number): number {
  let at = from;
  while (line[at] === " " || line[at] === "\t") at++;
  return at;
}
