/** Requests of one shape differ in nothing but their literals, and can share a plan (reference/dql 4.21). */
import { must } from "../base/assert.ts";
import { Fault } from "../model/fault.ts";
import type { FunctionSyntaxes } from "./functions.ts";
import { lex, releaseTokens } from "./lexer.ts";
import { T, type Tokens } from "./token.ts";

/** `shape` is compared whole; `literals` are in the order of `Literal.token`. */
export interface TextShape {
  readonly shape: string;
  readonly literals: readonly string[];
}

/**
 * Lifts the literals out of a request that stand where any other of their sort could stand too: plain texts and
 * whole numbers as arguments of functions, uids, and the numbers of `first`, `offset` and `after`. Two texts of one
 * shape parse to trees that differ only in the literals with these numbers. Undefined when in doubt: query
 * variables, more than one request, text that does not even lex, or nothing to lift.
 */
export function liftShape(query: string, functions: FunctionSyntaxes): TextShape | undefined {
  const text = query.trim();
  const tokens = tryLex(text, functions);
  if (tokens === undefined) return undefined;
  const shape = liftLiterals(text, tokens);
  releaseTokens(tokens);
  return shape;
}

function liftLiterals(text: string, tokens: Tokens): TextShape | undefined {
  if (tokens.literalCount === 0) return undefined;
  const { starts, ends, literals, kinds, count } = tokens;
  const values: string[] = [];
  let shape = "";
  let from = 0;
  for (let i = 0; i < count; i++) {
    if (kinds[i] === T.dollar) return undefined;
    if (literals[i] === 0) continue;
    const start = must(starts[i], "each token has its place");
    const end = must(ends[i], "each token has its end");
    const isQuoted = text.charCodeAt(start) === 34;
    // A text and a number are two shapes: the quotes stay.
    shape += text.slice(from, isQuoted ? start + 1 : start) + (isQuoted ? "" : "\u0001");
    values.push(isQuoted ? text.slice(start + 1, end - 1) : text.slice(start, end));
    from = isQuoted ? end - 1 : end;
  }
  return { shape: shape + text.slice(from), literals: values };
}

function tryLex(text: string, functions: FunctionSyntaxes): Tokens | undefined {
  try {
    return lex(text, functions);
  } catch (error) {
    if (error instanceof Fault) return undefined;
    throw error;
  }
}
