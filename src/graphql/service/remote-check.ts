/**
 * Whether the GraphQL services that a schema names are what it expects (reference/graphql 8.3): each is asked for its
 * schema, once, and the answers are compared. Asked when a schema is set, and when an administrator has one validated.
 */
import { Kind, getIntrospectionQuery } from "graphql";
import type { ValueNode } from "graphql";
import { Turns } from "../../base/turns.ts";
import { outgoingSetting } from "../../outgoing/limits.ts";
import { OutgoingFailure } from "../../outgoing/request.ts";
import { shownUrl, withoutCredentials } from "../resolve/request-url.ts";
import { toHeaderBytes, type Outgoing } from "../resolve/request-call.ts";
import { parseRemoteOperation } from "../schema/custom-operation.ts";
import type { RemoteExpectation, RemoteExpectations } from "../schema/remote-expectations.ts";
import type { SchemaProblem } from "../schema/sdl-draft.ts";
import {
  readRemoteSchema,
  RemoteSchemaFault,
  type RemoteField,
  type RemoteRef,
  type RemoteSchema,
} from "./remote-schema.ts";

const timeoutMs = 5000;
/** Services that are asked at a time. */
const runningMax = 8;

/** Something does not fit; the message says what. */
class Mismatch extends Error {
  override readonly name = "Mismatch";
}

/** What is wrong, in the order of the SDL. */
export async function findRemoteProblems(
  { fields, types }: RemoteExpectations,
  outgoing: Outgoing,
): Promise<readonly SchemaProblem[]> {
  const asked = new Map<string, Promise<RemoteSchema>>();
  const turns = new Turns(runningMax);
  const found = await Promise.all(
    fields.map(async (field): Promise<SchemaProblem | undefined> => {
      const key = JSON.stringify([field.url, field.headers]);
      let schema = asked.get(key);
      if (schema === undefined) {
        schema = turns.take(() => introspect(field, outgoing));
        asked.set(key, schema);
      }
      try {
        compare(field, await schema, types);
        return undefined;
      } catch (error) {
        if (!(error instanceof Mismatch) && !(error instanceof RemoteSchemaFault)) throw error;
        const { typeName, fieldName, at } = field;
        const text = `inside graphql in @custom directive, ${error.message}`;
        return { message: `Type ${typeName}; Field ${fieldName}: ${text}`, at };
      }
    }),
  );
  return found.filter((problem) => problem !== undefined);
}

/** Throws Mismatch, RemoteSchemaFault. */
async function introspect(
  { url, headers }: RemoteExpectation,
  { ask, limits }: Outgoing,
): Promise<RemoteSchema> {
  if (url.includes("?") && !url.endsWith("?")) {
    throw new Mismatch(
      `POST method cannot have query parameters in url: ${withoutCredentials(url)}`,
    );
  }
  const given = Object.entries(headers).map(([name, value]) => [name, toHeaderBytes(value)]);
  const request = {
    url,
    method: "POST",
    headers: { "content-type": "application/json", ...(Object.fromEntries(given) as object) },
    body: JSON.stringify({ query: getIntrospectionQuery({ descriptions: false }) }),
  };
  const bytesSetting = outgoingSetting("answer-bytes");
  try {
    const { text } = await ask(request, {
      bytesMax: limits.answerBytesMax,
      bytesSetting,
      timeoutMs,
    });
    return readRemoteSchema(text);
  } catch (error) {
    if (!(error instanceof OutgoingFailure)) throw error;
    throw new Mismatch(`Post "${shownUrl(url)}": ${error.message}`);
  }
}

/** The field's operation, as messages name it. */
interface Operation {
  readonly kind: string;
  readonly name: string;
  readonly shared: RemoteExpectations["types"];
  readonly remote: RemoteSchema;
  readonly variables: Readonly<Record<string, string>>;
}

function compare(
  expected: RemoteExpectation,
  remote: RemoteSchema,
  shared: RemoteExpectations["types"],
): void {
  const { kind, field, arguments: given } = parseRemoteOperation(expected.operation);
  const name = field?.name.value ?? "";
  const rootName = kind === "mutation" ? remote.mutationType : remote.queryType;
  const plural = kind === "mutation" ? "mutations" : "queries";
  if (rootName === undefined) throw new Mismatch(`remote schema doesn't have any ${plural}.`);
  const root = remote.types.get(rootName);
  if (root === undefined) throw missingType(rootName);
  const found = root.fields.get(name);
  if (found === undefined) {
    throw new Mismatch(`${kind} \`${name}\` is not present in remote schema.`);
  }
  const returns = expected.isBatch ? `[${expected.returns}]` : expected.returns;
  if (returns !== found.type.text) {
    const types = `expected \`${returns}\`, got \`${found.type.text}\``;
    throw new Mismatch(`found return type mismatch for ${kind} \`${name}\`, ${types}.`);
  }
  const { variables } = expected;
  const operation = { kind, name, shared, remote, variables };
  compareTypes(found.type, operation);
  if (expected.isBatch) compareBatch(found, operation);
  else compareArguments(given, found.arguments, operation);
}

function missingType(name: string): Mismatch {
  return new Mismatch(`remote schema doesn't have any type named ${name}.`);
}

const plainScalars: ReadonlySet<string> = new Set(["Int", "Float", "String", "Boolean", "ID"]);

/** The service knows all that a type reaches, and the schema's `@remote` types are as the service has them. */
function compareTypes({ name: first }: RemoteRef, { remote, shared }: Operation): void {
  if (plainScalars.has(first)) return;
  const seen = new Set<string>();
  const open = [first];
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    if (seen.has(name) || plainScalars.has(name)) continue;
    seen.add(name);
    const type = remote.types.get(name);
    if (type === undefined) {
      throw new Mismatch(`Unable to find the type ${name} on the remote schema`);
    }
    for (const field of type.fields.values()) open.push(field.type.name);
  }
  for (const { name, fields } of shared) {
    const type = remote.types.get(name);
    if (type === undefined) {
      throw new Mismatch(`Unable to find local type ${name} in the remote schema`);
    }
    for (const [fieldName, own] of fields) {
      const field = type.fields.get(fieldName);
      if (field === undefined) {
        const text = `${fieldName} field for the local type ${name} is not present in the remote type ${type.name}`;
        throw new Mismatch(text);
      }
      if (field.type.text === own) continue;
      const text = `expected type for the field ${fieldName} is ${field.type.text} but got ${own} in type ${name}`;
      throw new Mismatch(text);
    }
  }
}

function compareBatch({ arguments: known }: RemoteField, { kind, name, remote }: Operation): void {
  const form = "`[{param1: $var1, param2: $var2, ...}]` for BATCH mode";
  const [only] = known;
  if (only === undefined || known.size !== 1) {
    const text = `remote ${kind} \`${name}\` accepts ${known.size} arguments, It must have only one argument of the form ${form}.`;
    throw new Mismatch(text);
  }
  const [argument, type] = only;
  const wraps = type.kinds.filter((each) => each !== "NON_NULL").join();
  if (wraps !== "LIST,INPUT_OBJECT") {
    const text = `argument \`${argument}\` for given ${kind} \`${name}\` must be of the form ${form} in remote ${kind}.`;
    throw new Mismatch(text);
  }
  const target = remote.types.get(type.name);
  if (target === undefined) throw missingType(type.name);
  if (target.kind !== "INPUT_OBJECT") {
    throw new Mismatch(`type ${type.name} in remote schema is not an INPUT_OBJECT.`);
  }
}

function compareArguments(
  given: ReadonlyMap<string, ValueNode>,
  known: ReadonlyMap<string, RemoteRef>,
  operation: Operation,
): void {
  const { kind, name } = operation;
  for (const [argument, value] of given) {
    const type = known.get(argument);
    if (type === undefined) {
      throw new Mismatch(`argument \`${argument}\` is not present in remote ${kind} \`${name}\`.`);
    }
    compareValue(argument, value, type, operation);
  }
  for (const [argument, type] of known) {
    if (type.kind !== "NON_NULL" || given.has(argument)) continue;
    const text = `argument \`${argument}\` in ${kind} \`${name}\` is missing, it is required by remote ${kind}.`;
    throw new Mismatch(text);
  }
}

function compareValue(
  argument: string,
  value: ValueNode,
  type: RemoteRef,
  operation: Operation,
): void {
  const { kind, name, variables } = operation;
  const place = `argument \`${argument}\` in ${kind} \`${name}\``;
  const wraps = type.kinds.filter((each) => each !== "NON_NULL");
  switch (value.kind) {
    case Kind.VARIABLE: {
      const variable = value.name.value;
      const own = Object.hasOwn(variables, variable) ? variables[variable] : undefined;
      if (own === undefined) {
        throw new Mismatch(`variable $${variable} is missing in given context.`);
      }
      if (own !== type.text) {
        const types = `expected \`${own}\`, got \`${type.text}\``;
        const where = `variable \`$${variable}\` in ${kind} \`${name}\``;
        throw new Mismatch(`found type mismatch for ${where}, ${types}.`);
      }
      compareTypes(type, operation);
      return;
    }
    case Kind.OBJECT:
      if (wraps.join() !== "INPUT_OBJECT") {
        const text = `object value supplied for ${place}, but remote argument doesn't accept INPUT_OBJECT.`;
        throw new Mismatch(text);
      }
      compareObject(value, type.name, operation);
      return;
    case Kind.LIST:
      if (wraps[0] !== "LIST") {
        const text = `LIST value supplied for ${place}, but remote argument doesn't accept LIST.`;
        throw new Mismatch(text);
      }
      compareList(value.values, place, type.name, operation);
      return;
    default: {
      const text = `scalar value supplied for ${place}, only Variable, Object, or List values are allowed.`;
      throw new Mismatch(text);
    }
  }
}

function compareObject(
  value: Extract<ValueNode, { kind: "ObjectValue" }>,
  typeName: string,
  operation: Operation,
): void {
  const type = operation.remote.types.get(typeName);
  if (type === undefined) throw missingType(typeName);
  const given = new Map(value.fields.map((field) => [field.name.value, field.value]));
  const known = new Map([...type.fields.values()].map((field) => [field.name, field.type]));
  compareArguments(given, known, operation);
}

function compareList(
  values: readonly ValueNode[],
  place: string,
  typeName: string,
  operation: Operation,
): void {
  const type = operation.remote.types.get(typeName);
  if (type === undefined) throw missingType(typeName);
  if (type.kind !== "INPUT_OBJECT") {
    const text = `${place} of List kind has non-object elements in remote ${operation.kind}, Lists can have only INPUT_OBJECT as element.`;
    throw new Mismatch(text);
  }
  for (const value of values) {
    if (value.kind !== Kind.OBJECT) {
      const text = `${place} of List kind has non-object elements, Lists can have only objects as element.`;
      throw new Mismatch(text);
    }
    compareObject(value, typeName, operation);
  }
}
