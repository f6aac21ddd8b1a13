/** `http` of `@custom`, from the SDL's tree. */
import { Kind } from "graphql";
import type { ConstDirectiveNode, ConstObjectValueNode, ConstValueNode } from "graphql";
import { parseBodyTemplate } from "./custom-body.ts";
import { trueTexts, type CustomHttp, type HeaderPair, type Written } from "./custom-http.ts";
import { parseRemoteOperation } from "./custom-operation.ts";
import { readUrlVariables } from "./custom-url.ts";
import { positionOf } from "./sdl-draft.ts";

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
