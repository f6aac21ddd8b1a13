/** Requests of an API that something else runs, judged as those of this one are. */
import type { DocumentNode } from "graphql";
import { defaultLimits } from "../../model/limits.ts";
import type { CompiledSchema } from "../schema/compiled-schema.ts";
import { DocumentMeter, tooManyRoots } from "../operation/document-meter.ts";
import type { DocumentLimits } from "../operation/document-meter.ts";
import { metaJson } from "./handle-roots.ts";
import { makeValueUse } from "../operation/arguments.ts";
import type { RequestFields } from "../operation/body.ts";
import { checkQuery, chooseOperation, conditionValues } from "../operation/cache.ts";
import { parseDocument } from "../operation/parse.ts";
import { checkExpandedSize } from "../operation/expanded-size.ts";
import {
  conditionVariables,
  fragmentsOf,
  numberFields,
  selectKeys,
  selectRoots,
} from "../operation/prepare.ts";
import { validateDocument } from "../operation/validate.ts";
import { checkRequestVariables, variablesOf } from "../operation/variables.ts";

/**
 * Judges a request of an API that something else runs, in the same words. Throws RequestRefused; the document runs by
 * the operation that the request names.
 */
export function checkRequest(
  schema: CompiledSchema,
  fields: RequestFields,
  limits: DocumentLimits = defaultLimits,
): DocumentNode {
  checkQuery(fields.query, limits.depthMax);
  const document = parseDocument(fields.query, limits);
  const meter = new DocumentMeter(limits);
  validateDocument(schema, fields.query, document, fields.variables, meter);
  const operations = document.definitions.flatMap((node) =>
    node.kind === "OperationDefinition" ? [{ node }] : [],
  );
  const { node } = chooseOperation(schema, operations, fields.operationName);
  if (selectKeys(document, node).length > limits.documentRootsMax) throw tooManyRoots(limits);
  const uses = variablesOf(schema, node);
  checkRequestVariables(uses, fields.variables);
  // What it comes to with its fragments in their places is counted.
  const booleans = conditionValues(
    conditionVariables(document),
    { declared: uses },
    fields.variables,
  );
  const context = {
    schema,
    fragments: fragmentsOf(document),
    ordinals: numberFields(document),
    booleans,
    meter: new DocumentMeter(limits),
  };
  checkExpandedSize(context, node);
  const roots = selectRoots(context, node);
  const values = {
    declared: uses,
    variables: fields.variables,
    literals: [],
    literalIndex: new Map(),
    limits,
    use: makeValueUse(),
    grow: () => {},
  };
  // The answer is another's, its size is found out here.
  for (const root of roots) {
    if (root.definition.name.startsWith("__")) metaJson(schema, node.operation, root, values);
  }
  return document;
}
