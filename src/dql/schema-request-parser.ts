/** `schema(pred: [a, b]) { type index }` (reference/dql 2.8). */
import type { SchemaRequest } from "./ast.ts";
import type { Cursor } from "./cursor.ts";
import { T } from "./token.ts";

/** The keyword was taken. */
export function parseSchemaRequest(cursor: Cursor): SchemaRequest {
  let of: { isTypes: boolean; names: string[] } | undefined;
  while (!cursor.isAtEnd) {
    const kind = cursor.take();
    if (kind === T.leftCurl) {
      return {
        predicates: of?.isTypes === false ? of.names : undefined,
        types: of?.isTypes === true ? of.names : undefined,
        fields: parseFieldNames(cursor),
      };
    }
    if (kind !== T.leftRound) cursor.fail("Invalid schema block");
    if (of !== undefined) cursor.fail("Too many left rounds in schema block");
    of = parseNames(cursor);
  }
  return cursor.failNext("Invalid schema block.");
}

/** `type: T`, `type: [T, U]`; any other word than `type` means predicates. */
function parseNames(cursor: Cursor): { isTypes: boolean; names: string[] } {
  if (cursor.take() !== T.name) cursor.fail("Invalid schema block");
  const isTypes = cursor.text() === "type";
  if (cursor.take() !== T.colon) cursor.fail("Invalid schema block");
  const kind = cursor.take();
  let names: string[];
  if (kind === T.name) names = [cursor.text()];
  else if (kind === T.leftSquare) names = parseNameList(cursor);
  else cursor.fail("Invalid schema block");
  if (cursor.take() !== T.rightRound) cursor.fail("Invalid schema blocks");
  return { isTypes, names };
}

function parseNameList(cursor: Cursor): string[] {
  const names: string[] = [];
  while (!cursor.isAtEnd) {
    const kind = cursor.take();
    if (kind === T.rightSquare) return names;
    if (kind === T.comma) {
      if (cursor.take() !== T.name) cursor.fail("Invalid scheam block");
    } else if (kind !== T.name) {
      cursor.fail("Invalid schema block");
    }
    names.push(cursor.takeRestOfName(cursor.text()));
  }
  return cursor.failNext("Expecting ] to end list but none was found");
}

function parseFieldNames(cursor: Cursor): string[] {
  const fields: string[] = [];
  while (!cursor.isAtEnd) {
    const kind = cursor.take();
    if (kind === T.rightCurl) return fields;
    if (kind !== T.name) cursor.fail("Invalid schema block.");
    fields.push(cursor.text());
  }
  return cursor.failNext("Expecting } to end fields list, but none was found");
}
