/** Where in an SDL something stands that is written inside of a text: a place in a rule. */
import type { ConstValueNode } from "graphql";
import { positionOf } from "./sdl-draft.ts";
import type { SdlPosition } from "./sdl-position.ts";

/** `inner`: a place in the text's value, from line 1 and column 1; undefined: the text as a whole. */
export function placeInText(node: ConstValueNode, inner: SdlPosition | undefined): SdlPosition {
  const begin = positionOf(node);
  if (node.kind !== "StringValue" || node.loc === undefined || inner === undefined) return begin;
  const written = node.loc.source.body.slice(node.loc.start, node.loc.end);
  if (node.block === true) return placeInBlock(node.value, written, begin, inner) ?? begin;
  const before = lengthBefore(node.value, inner);
  return { line: begin.line, column: begin.column + rawLength(written.slice(1), before) + 1 };
}

/** Characters of a text in front of a place. */
function lengthBefore(text: string, { line, column }: SdlPosition): number {
  const lines = text.split("\n").slice(0, line - 1);
  return lines.reduce((sum, one) => sum + one.length + 1, 0) + column - 1;
}

/** How many characters of a quoted text make so many of its value. */
function rawLength(written: string, wanted: number): number {
  const part = /\\u\{[0-9a-fA-F]+\}|\\u[0-9a-fA-F]{4}|\\.|[^]/gy;
  let at = 0;
  for (let count = 0; count < wanted && part.test(written); count++) at = part.lastIndex;
  return at;
}

/** Lines of a block text lose their common indent, blank ones at its ends go. */
function placeInBlock(
  value: string,
  written: string,
  begin: SdlPosition,
  { line, column }: SdlPosition,
): SdlPosition | undefined {
  const lines = written.slice(3, -3).split(/\r\n|[\n\r]/);
  const first = lines.findIndex((one) => one.trim() !== "");
  const at = first + line - 1;
  const indent = lines[at]?.indexOf(value.split("\n")[line - 1] ?? "") ?? -1;
  if (first < 0 || indent < 0) return undefined;
  const from = at === 0 ? begin.column + 3 : 1;
  return { line: begin.line + at, column: from + indent + column - 1 };
}
