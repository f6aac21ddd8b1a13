/** `graphql` of `@custom(http:)` (reference/graphql 8.2): one operation of another service, with one field. */
import { Kind, parse } from "graphql";
import type { DocumentNode, FieldNode, OperationDefinitionNode, ValueNode } from "graphql";
import { toTemplate, templateVariables } from "./custom-body.ts";
import { toSyntaxProblem } from "./syntax-problem.ts";

export interface RemoteOperation {
  readonly text: string;
  /** Why it cannot be read; the rest is empty then. */
  readonly syntaxFault: string | undefined;
  readonly operations: readonly OperationDefinitionNode[];
  readonly kind: string;
  /** Its only field; undefined where it has none. */
  readonly field: FieldNode | undefined;
  readonly variables: readonly string[];
  readonly arguments: ReadonlyMap<string, ValueNode>;
  /** Variables within the arguments. */
  readonly used: readonly string[];
  readonly argumentFault: string | undefined;
}

const unreadable = {
  operations: [],
  kind: "",
  field: undefined,
  variables: [],
  arguments: new Map<string, ValueNode>(),
  used: [],
  argumentFault: undefined,
} as const;

export function parseRemoteOperation(text: string): RemoteOperation {
  // graphql-js refuses a document without definitions; here it is one with none.
  if (text.trim() === "") return { ...unreadable, text, syntaxFault: undefined };
  let document: DocumentNode;
  try {
    document = parse(text);
  } catch (error) {
    return { ...unreadable, text, syntaxFault: toSyntaxProblem(error).message };
  }
  const odd = document.definitions.find(
    ({ kind }) => kind !== Kind.OPERATION_DEFINITION && kind !== Kind.FRAGMENT_DEFINITION,
  );
  if (odd !== undefined) {
    const word = odd.loc?.startToken.value ?? "";
    return { ...unreadable, text, syntaxFault: `Unexpected Name ${JSON.stringify(word)}` };
  }
  const operations = document.definitions.filter((each) => each.kind === Kind.OPERATION_DEFINITION);
  const [only] = operations;
  const selected = only?.selectionSet.selections[0];
  const field = selected?.kind === Kind.FIELD ? selected : undefined;
  const given = new Map((field?.arguments ?? []).map((each) => [each.name.value, each.value]));
  const used = new Set<string>();
  let argumentFault: string | undefined;
  for (const value of given.values()) {
    const template = toTemplate(value, false);
    if ("fault" in template) argumentFault ??= template.fault;
    else for (const name of templateVariables(template)) used.add(name);
  }
  return {
    text,
    syntaxFault: undefined,
    operations,
    kind: only?.operation ?? "",
    field,
    variables: (only?.variableDefinitions ?? []).map((each) => each.variable.name.value),
    arguments: given,
    used: [...used],
    argumentFault,
  };
}
