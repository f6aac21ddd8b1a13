import { RE2JS, RE2JSSyntaxException } from "re2js";
import { Lru } from "../base/lru.ts";
import { Fault } from "../model/fault.ts";
import { regexpSizeMax, sizeOfRegexp } from "./regexp-size.ts";

/** Tests whether a text matches. Empty texts never do, and no match goes across the end of a line. */
type TextTest = (text: string) => boolean;

/**
 * Compiles an expression in RE2's syntax for linear-time matching (reference/dql 4.3.5): not anchored, `^` and `$` at
 * the ends of lines. `flags` is "" or "i". Faults carry the reference's texts.
 */
export function compileRegexp(source: string, flags: string): TextTest {
  if (flags !== "" && flags !== "i") {
    throw new Fault("E_QUERY", `Invalid regexp modifier: ${flags}`);
  }
  const expression = compile((flags === "i" ? "(?i)(?m)" : "(?m)") + source);
  return (text) => {
    if (text === "") return false;
    if (!text.includes("\n")) return expression.test(text);
    return text.split("\n").some((line) => expression.test(line));
  };
}

/** Compiling costs 50 µs and more, as much as matching a hundred texts; expressions come again. */
const compiled = new Lru<string, { readonly expression: RE2JS; readonly size: number }>(
  100_000,
  ({ size }) => Math.max(400, size),
);

/** Longer expressions are compiled each time. */
const keptLengthMax = 1000;

function compile(source: string): RE2JS {
  const known = compiled.get(source);
  if (known !== undefined) return known.expression;
  const size = sizeOfRegexp(source);
  if (size > regexpSizeMax) {
    const begin = source.slice(0, 80);
    const text = `error parsing regexp: expression too large, more than ${regexpSizeMax} parts: \`${begin}\``;
    throw new Fault("E_QUERY", text);
  }
  try {
    const expression = RE2JS.compile(source);
    if (source.length <= keptLengthMax) compiled.set(source, { expression, size });
    return expression;
  } catch (error) {
    if (!(error instanceof RE2JSSyntaxException)) throw error;
    throw new Fault("E_QUERY", error.message, { cause: error });
  }
}
