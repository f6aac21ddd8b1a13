/** What a request asks for, in names alone: for records of what was done. Values, variables and texts are not in it. */
import type { DocumentNode, SelectionSetNode } from "graphql";
import { Fault } from "../../model/fault.ts";
import { RequestRefused } from "../operation/errors.ts";
import { readGraphqlBody, readJsonBody } from "../operation/body.ts";
import { parseDocument } from "../operation/parse.ts";
import type { GraphqlRequest } from "../operation/request.ts";

export interface RequestNames {
  readonly operation: "query" | "mutation" | "subscription";
  /** Of the operation; "" for none. */
  readonly name: string;
  /** Root fields by their names, whatever the answer calls them; each once. */
  readonly fields: readonly string[];
}

const fieldsMax = 50;
const nameLengthMax = 200;

/** Undefined for what is no request, which nothing is done for either. */
export function describeRequest(
  request: Pick<GraphqlRequest, "kind" | "body">,
): RequestNames | undefined {
  try {
    const { query, operationName } =
      request.kind === "json" ? readJsonBody(request.body) : readGraphqlBody(request.body);
    return describeDocument(parseDocument(query), operationName);
  } catch (error) {
    if (error instanceof Fault || error instanceof RequestRefused) return undefined;
    throw error;
  }
}

function describeDocument(document: DocumentNode, wanted: string): RequestNames | undefined {
  const fragments = new Map<string, SelectionSetNode>();
  for (const node of document.definitions) {
    if (node.kind === "FragmentDefinition") fragments.set(node.name.value, node.selectionSet);
  }
  for (const node of document.definitions) {
    if (node.kind !== "OperationDefinition") continue;
    const name = node.name?.value ?? "";
    if (wanted !== "" && name !== wanted) continue;
    const fields = new Set<string>();
    collect(node.selectionSet, fragments, fields);
    return { operation: node.operation, name: cut(name), fields: [...fields] };
  }
  return undefined;
}

/** A fragment is looked into once: it has the same fields wherever it is spread. */
function collect(
  set: SelectionSetNode,
  fragments: Map<string, SelectionSetNode>,
  fields: Set<string>,
): void {
  for (const selection of set.selections) {
    if (fields.size >= fieldsMax) return;
    if (selection.kind === "Field") fields.add(cut(selection.name.value));
    else if (selection.kind === "InlineFragment")
      collect(selection.selectionSet, fragments, fields);
    else {
      const found = fragments.get(selection.name.value);
      fragments.delete(selection.name.value);
      if (found !== undefined) collect(found, fragments, fields);
    }
  }
}

function cut(name: string): string {
  return name.length > nameLengthMax ? name.slice(0, nameLengthMax) : name;
}
