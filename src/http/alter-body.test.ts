import { describe, expect, test } from "vitest";
import { parseAlterBody } from "./alter-body.ts";

const parse = (body: unknown): unknown =>
  parseAlterBody(typeof body === "string" ? body : JSON.stringify(body), undefined);

describe("operations", () => {
  test.each([
    [{ drop_all: true }, { kind: "dropAll" }],
    [{ drop_op: "ALL" }, { kind: "dropAll" }],
    [{ dropOp: 2 }, { kind: "dropData" }],
    [{ drop_attr: "name" }, { kind: "dropPredicate", predicate: "name" }],
    [
      { drop_op: "ATTR", drop_value: "name" },
      { kind: "dropPredicate", predicate: "name" },
    ],
    [
      { drop_op: "TYPE", drop_value: "T" },
      { kind: "dropType", type: "T" },
    ],
    [{ drop_all: true, drop_attr: "name", schema: "x: int ." }, { kind: "dropAll" }],
    [
      { schema: "x: int .", run_in_background: true },
      { kind: "schema", text: "x: int .", runInBackground: true },
    ],
    ["x: int .", { kind: "schema", text: "x: int .", runInBackground: false }],
  ])("%j", (body, operation) => expect(parse(body)).toEqual(operation));

  test("the URL beats the body", () =>
    expect(parseAlterBody('{"schema":"x: int .","runInBackground":true}', false)).toMatchObject({
      runInBackground: false,
    }));
});

test.each([[{ dropall: true }], [{ drop_all: "true" }], [{ drop_op: "data" }], [{ drop_op: 9 }]])(
  "%j is no operation, so it is the text of a schema",
  (body) => expect(parse(body)).toMatchObject({ kind: "schema", text: JSON.stringify(body) }),
);

test.each([
  [{}, "Operation must have at least one field set"],
  ["", "Operation must have at least one field set"],
  [{ drop_all: false }, "Operation must have at least one field set"],
  [{ drop_op: "NONE" }, "Operation must have at least one field set"],
  [{ drop_op: "ATTR" }, "If DropOp is set to ATTR, DropValue must not be empty"],
  [{ drop_op: "TYPE" }, "If DropOp is set to TYPE, DropValue must not be empty"],
  [{ drop_op: "DATA", drop_value: "x" }, "If DropOp is set to DATA, DropValue must be empty"],
  [{ drop_op: "ALL", drop_value: "x" }, "If DropOp is set to ALL, DropValue must be empty"],
  [{ drop_op: "DATA", drop_all: true }, "Only one of DropAll and DropData can be true"],
])("%j is refused", (body, message) => expect(() => parse(body)).toThrow(message));
