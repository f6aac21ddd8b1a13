/** N-Quads (reference/dql 3.1). */
import { runSteps, type Steps } from "../base/maybe.ts";
import type { Mutation, NQuad } from "../model/nquad.ts";
import type { Look } from "../model/request-budget.ts";
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
export function parseRdfMutation(text: RdfText): Mutation {
  return runSteps(parseRdfMutationInSteps(text));
}

/** `parseRdfMutation` that rests every few milliseconds where `look` says so. */
export function* parseRdfMutationInSteps(text: RdfText, look?: Look): Steps<Mutation> {
  const sink = new FactSink();
  const reader = new NQuadReader();
  const hints = new HintFinder();
  for (const operation of operations) {
    const facts = text[operation];
    const visit = (line: string): void => {
      const statement = reader.read(line);
      if (statement === undefined) return;
      if (operation === "set") hints.add(statement);
      sink.add(statement, operation);
    };
    for (let from = 0; from < facts.length;) {
      from = visitLines(facts, from, visit);
      if (look !== undefined && from < facts.length) yield look(factsAtOnce);
    }
  }
  sink.finish();
  return { set: sink.set, delete: sink.delete, hints: hints.hints };
}

/** The sections of a mutation. */
export interface RdfText {
  readonly set: string;
  readonly delete: string;
}

const operations: readonly FactOperation[] = ["set", "delete"];

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
  for (let from = 0; from < text.length;) from = visitLines(text, from, visit);
}

/** Read between two looks: about a millisecond. */
const factsAtOnce = 256;
const charactersAtOnce = 32_768;

/** Some lines, of which the first begins at `from`; gives where the next begins. */
function visitLines(text: string, from: number, visit: (line: string) => void): number {
  const until = from + charactersAtOnce;
  let at = from;
  for (let count = 0; count < factsAtOnce && at < until && at < text.length;) {
    const end = text.indexOf("\n", at);
    if (end < 0) {
      visit(text.slice(at));
      return text.length;
    }
    if (end > at) {
      visit(text.slice(at, end));
      count++;
    }
    at = end + 1;
  }
  return at;
}
