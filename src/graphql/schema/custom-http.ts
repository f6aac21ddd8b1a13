/** What `@custom(http:)` says, read once (reference/graphql 8.1): for the checks of a schema, and for requests. */
import { Kind } from "graphql";
import type { ConstDirectiveNode, ConstObjectValueNode, ConstValueNode } from "graphql";
import { parseBodyTemplate, type BodyTemplate, type TemplateFault } from "./custom-body.ts";
import { parseRemoteOperation, type RemoteOperation } from "./custom-operation.ts";
import { readUrlVariables, type UrlVariable } from "./custom-url.ts";
import { positionOf } from "./sdl-draft.ts";
import type { SdlPosition } from "./sdl-position.ts";

export const httpMethods: readonly string[] = ["GET", "POST", "PUT", "PATCH", "DELETE"];

/** A member of `http` as it is written; `text` without quotes, "" for lists, objects and null. */
export interface Written {
  readonly text: string;
  readonly at: SdlPosition;
}

/** `"remote:local"`, or one name for both. */
export interface HeaderPair {
  readonly written: string;
  /** As the service outside knows it. */
  readonly remote: string;
  /** As the client sends it; of a secret: its name. */
  readonly local: string;
  /** More than two names: refused. */
  readonly isOdd: boolean;
}

/** The members of `http`; undefined for those that are left out. */
export interface CustomHttp {
  readonly url: Written | undefined;
  readonly urlVariables: readonly UrlVariable[];
  readonly method: Written | undefined;
  readonly mode: Written | undefined;
  readonly isBatch: boolean;
  readonly body: Written | undefined;
  /** Of the body; undefined: there is none, or it cannot be read. */
  readonly template: BodyTemplate | undefined;
  readonly templateFault: TemplateFault | undefined;
  readonly graphql: Written | undefined;
  /** Of `graphql`. */
  readonly operation: RemoteOperation | undefined;
  readonly forwardHeaders: readonly HeaderPair[];
  readonly secretHeaders: readonly HeaderPair[];
  readonly introspectionHeaders: readonly HeaderPair[];
  readonly skipIntrospection: Written | undefined;
  readonly skips: boolean;
}

/** `http: …`, whatever was written. undefined: it is no object. */
export function readCustomHttp(value: ConstValueNode): CustomHttp | undefined {
  if (value.kind !== Kind.OBJECT) return undefined;
  const url = member(value, "url");
  const mode = member(value, "mode");
  const isBatch = mode?.text === "BATCH";
  const body = member(value, "body");
  const graphql = member(value, "graphql");
  const read = body === undefined ? undefined : parseBodyTemplate(body.text, graphql === undefined);
  const isFault = read !== undefined && "fault" in read;
  const skipIntrospection = member(value, "skipIntrospection");
  return {
    url,
    urlVariables: url === undefined ? [] : readUrlVariables(url.text),
    method: member(value, "method"),
    mode,
    isBatch,
    body,
    template: isFault ? undefined : read,
    templateFault: isFault ? read : undefined,
    graphql,
    operation: graphql === undefined ? undefined : parseRemoteOperation(graphql.text),
    forwardHeaders: headers(value, "forwardHeaders"),
    secretHeaders: headers(value, "secretHeaders"),
    introspectionHeaders: headers(value, "introspectionHeaders"),
    skipIntrospection,
    skips: skipIntrospection !== undefined && trueTexts.has(skipIntrospection.text),
  };
}

/** As the reference reads a boolean. */
const trueTexts: ReadonlySet<string> = new Set(["1", "t", "T", "true", "TRUE", "True"]);
export const booleanTexts: ReadonlySet<string> = new Set([
  ...trueTexts,
  ...["0", "f", "F", "false", "FALSE", "False"],
]);

export function findHttp(node: ConstDirectiveNode): ConstValueNode | undefined {
  return node.arguments?.find((argument) => argument.name.value === "http")?.value;
}

function find(value: ConstObjectValueNode, name: string): ConstValueNode | undefined {
  return value.fields.find((field) => field.name.value === name)?.value;
}

function member(value: ConstObjectValueNode, name: string): Written | undefined {
  const node = find(value, name);
  return node === undefined ? undefined : { text: textOf(node), at: positionOf(node) };
}

function textOf(node: ConstValueNode): string {
  switch (node.kind) {
    case Kind.STRING:
    case Kind.ENUM:
    case Kind.INT:
    case Kind.FLOAT:
      return node.value;
    case Kind.BOOLEAN:
      return String(node.value);
    default:
      return "";
  }
}

/** What is no list has no headers, as with the reference. */
function headers(value: ConstObjectValueNode, name: string): readonly HeaderPair[] {
  const node = find(value, name);
  if (node?.kind !== Kind.LIST) return [];
  return node.values.map((item) => {
    const written = textOf(item);
    const names = written.split(":");
    const [remote = "", local = remote] = names;
    return { written, remote, local, isOdd: names.length > 2 };
  });
}
