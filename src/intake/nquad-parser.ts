/** The door for N-Quads (dql.md 3.1). */
import type { Mutation, NQuad } from "../model/nquad.ts";
import { NQuadReader } from "./nquad-reader.ts";
import { type FactOperation, FactSink, type Statement, toSingleFact } from "./statement.ts";

/**
 * N-Quads, one a line → facts in their order. Throws Fault E_RDF_SYNTAX for what cannot be read, and, when all lines
 * were read, E_MUTATION for facts that the operation does not allow (stars, bad names, uids out of range).
 */
export function parseNQuads(text: string, operation: FactOperation = "set"): NQuad[] {
  const sink = new FactSink();
  const reader = new NQuadReader();
  forEachLine(text, (line) => {
    const statement = reader.read(line);
    if (statement !== undefined) sink.add(statement, operation);
  });
  sink.finish();
  return sink[operation];
}

/** One line, for loads that read a file piece by piece; undefined for a comment or a blank line. */
export function parseNQuadLine(line: string, operation: FactOperation = "set"): NQuad | undefined {
  const statement = new NQuadReader().read(line);
  return statement === undefined ? undefined : toSingleFact(statement, operation);
}

/**
 * The two sections of one RDF mutation. Refusals come in the reference's order: what cannot be read in the sets, in
 * the deletes, then facts that are not allowed. A predicate that a subject has twice in the sets is hinted a list.
 */
export function parseRdfMutation(text: {
  readonly set: string;
  readonly delete: string;
}): Mutation {
  const sink = new FactSink();
  const reader = new NQuadReader();
  const hints = new HintFinder();
  forEachLine(text.set, (line) => {
    const statement = reader.read(line);
    if (statement === undefined) return;
    hints.add(statement);
    sink.add(statement, "set");
  });
  forEachLine(text.delete, (line) => {
    const statement = reader.read(line);
    if (statement !== undefined) sink.add(statement, "delete");
  });
  sink.finish();
  return { set: sink.set, delete: sink.delete, hints: hints.hints };
}

class HintFinder {
  readonly hints = new Map<string, "list" | "single">();
  /** Predicate → its subjects so far. */
  private readonly seen = new Map<string, Set<string>>();

  add({ subject, predicate }: Statement): void {
    const subjects = this.seen.get(predicate);
    if (subjects === undefined) this.seen.set(predicate, new Set([subject]));
    else if (subjects.has(subject)) this.hints.set(predicate, "list");
    else subjects.add(subject);
  }
}

function forEachLine(text: string, visit: (line: string) => void): void {
  let from = 0;
  while (from < text.length) {
    const end = text.indexOf("\n", from);
    if (end < 0) {
      visit(text.slice(from));
      return;
    }
    if (end > from) visit(text.slice(from, end));
    from = end + 1;
  }
}
