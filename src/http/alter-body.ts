/** The body of /alter (reference/dql 1.6): a JSON operation, or else, whatever it is, the text of a schema. */
import type { AlterOperation } from "../engine/engine.ts";
import { Fault } from "../model/fault.ts";

export const dropKinds = ["NONE", "ALL", "DATA", "ATTR", "TYPE"] as const;
type DropKind = (typeof dropKinds)[number];

export interface AlterFields {
  schema: string;
  dropAttr: string;
  dropAll: boolean;
  dropOp: DropKind;
  dropValue: string;
  runInBackground: boolean;
}

/** `runInBackground` of the URL beats the body's. Order of precedence: all, data, predicate, type, schema. */
export function parseAlterBody(body: string, runInBackground: boolean | undefined): AlterOperation {
  return chooseAlteration(
    readFields(body) ?? { ...noFields, schema: body },
    ...(runInBackground === undefined ? [] : [runInBackground]),
  );
}

/** Throws Fault E_ALTER for fields that say nothing, or contradict each other. */
export function chooseAlteration(fields: AlterFields, runInBackground?: boolean): AlterOperation {
  if (
    fields.schema === "" &&
    fields.dropAttr === "" &&
    !fields.dropAll &&
    fields.dropOp === "NONE"
  ) {
    throw new Fault("E_ALTER", "Operation must have at least one field set");
  }
  if (fields.dropAll || fields.dropOp === "ALL") {
    if (fields.dropOp === "DATA") {
      throw new Fault("E_ALTER", "Only one of DropAll and DropData can be true");
    }
    expectNoValue(fields, "ALL");
    return { kind: "dropAll" };
  }
  if (fields.dropOp === "DATA") {
    expectNoValue(fields, "DATA");
    return { kind: "dropData" };
  }
  if (fields.dropAttr !== "" || fields.dropOp === "ATTR") {
    const predicate = fields.dropOp === "ATTR" ? expectValue(fields, "ATTR") : fields.dropAttr;
    return { kind: "dropPredicate", predicate };
  }
  if (fields.dropOp === "TYPE") return { kind: "dropType", type: expectValue(fields, "TYPE") };
  const inBackground = runInBackground ?? fields.runInBackground;
  return { kind: "schema", text: fields.schema, runInBackground: inBackground };
}

const noFields: AlterFields = {
  schema: "",
  dropAttr: "",
  dropAll: false,
  dropOp: "NONE",
  dropValue: "",
  runInBackground: false,
};

/** Undefined when the body is no operation: not JSON, an unknown member, or one of the wrong type. */
function readFields(body: string): AlterFields | undefined {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    return undefined;
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const fields = { ...noFields };
  for (const [name, member] of Object.entries(value)) {
    if (!readField(fields, name, member)) return undefined;
  }
  return fields;
}

const fieldNames: Readonly<Record<string, keyof AlterFields>> = {
  schema: "schema",
  drop_attr: "dropAttr",
  dropAttr: "dropAttr",
  drop_all: "dropAll",
  dropAll: "dropAll",
  drop_op: "dropOp",
  dropOp: "dropOp",
  drop_value: "dropValue",
  dropValue: "dropValue",
  run_in_background: "runInBackground",
  runInBackground: "runInBackground",
};

function readField(fields: AlterFields, name: string, value: unknown): boolean {
  const field = Object.hasOwn(fieldNames, name) ? fieldNames[name] : undefined;
  if (field === undefined) return false;
  if (value === null) return true;
  switch (field) {
    case "schema":
    case "dropAttr":
    case "dropValue":
      if (typeof value !== "string") return false;
      fields[field] = value;
      return true;
    case "dropAll":
    case "runInBackground":
      if (typeof value !== "boolean") return false;
      fields[field] = value;
      return true;
    case "dropOp": {
      const kind = dropKinds.find((word, number) => value === word || value === number);
      if (kind === undefined) return false;
      fields.dropOp = kind;
      return true;
    }
  }
}

function expectNoValue(fields: AlterFields, kind: DropKind): void {
  if (fields.dropValue === "") return;
  throw new Fault("E_ALTER", `If DropOp is set to ${kind}, DropValue must be empty`);
}

function expectValue(fields: AlterFields, kind: DropKind): string {
  if (fields.dropValue !== "") return fields.dropValue;
  throw new Fault("E_ALTER", `If DropOp is set to ${kind}, DropValue must not be empty`);
}
