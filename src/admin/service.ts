/**
 * GUEST: the administration API at /admin (graphql.md 10): GraphQL of its own, fixed. Few requests come here, so
 * graphql-js executes them. Never here: who may ask; the door has seen to that.
 */
import {
  buildSchema,
  execute,
  type DocumentNode,
  type GraphQLError,
  type GraphQLSchema,
  parse,
  validate,
} from "graphql";
import type { ResponseError } from "../graphql/errors.ts";
import { readGraphqlBody, readJsonBody, type RequestFields } from "../graphql/request-body.ts";
import { type JsonValue, NumberText } from "../graphql/request-json.ts";
import type { GraphqlAnswer, GraphqlRequest, GraphqlService } from "../graphql/service.ts";
import { Fault } from "../model/fault.ts";
import { adminSdl } from "./admin-sdl.ts";
import { rewordProblem, rewordSyntax } from "./problem-words.ts";

export interface AdminService {
  /** One request → the whole JSON answer. Never rejects for what the sender did. */
  handle(request: GraphqlRequest): Promise<GraphqlAnswer>;
}

export interface AdminParts {
  readonly graphql: GraphqlService;
  /** The elements of `health`: one per node. */
  readonly health: () => Promise<readonly HealthElement[]>;
}

/** What `health` says of a node. Times in seconds. */
export interface HealthElement {
  readonly instance: string;
  readonly address: string;
  readonly status: string;
  readonly group: string;
  readonly version: string;
  readonly uptime: number;
  readonly lastEcho: number;
  readonly ongoing: readonly string[];
  readonly indexing: readonly string[];
  readonly ee_features: readonly string[];
}

export function openAdminService(parts: AdminParts): AdminService {
  let root: Root | undefined;
  return {
    async handle(request) {
      const answer = await run(request, (root ??= makeRoot(parts)));
      return { body: new TextEncoder().encode(JSON.stringify(answer)), headers: undefined };
    },
  };
}

let schema: GraphQLSchema | undefined;

/** Built at the first request: most processes never see one. */
function getSchema(): GraphQLSchema {
  schema ??= buildSchema(adminSdl);
  return schema;
}

interface Answer {
  errors?: readonly ResponseError[];
  data?: unknown;
}

type Root = Readonly<Record<string, (args: never) => unknown>>;

async function run(request: GraphqlRequest, root: Root): Promise<Answer> {
  let fields: RequestFields;
  try {
    fields = request.kind === "json" ? readJsonBody(request.body) : readGraphqlBody(request.body);
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return { errors: [{ message: error.message }] };
  }
  if (fields.query === "") return { errors: [{ message: "no query string supplied in request" }] };
  let document: DocumentNode;
  try {
    document = parse(fields.query);
  } catch (error) {
    return { errors: [rewordSyntax(error)] };
  }
  const problems = validate(getSchema(), document);
  if (problems.length > 0) return { errors: problems.map(rewordProblem) };
  const result = await execute({
    schema: getSchema(),
    document,
    rootValue: root,
    variableValues: toPlain(fields.variables) as Record<string, unknown>,
    operationName: fields.operationName === "" ? null : fields.operationName,
  });
  const answer: Answer = {};
  if (result.errors !== undefined) answer.errors = result.errors.map(toErrorMember);
  if (result.data !== undefined) answer.data = result.data;
  return answer;
}

/** Numbers that kept their digits become numbers: nothing here is beyond a double. */
function toPlain(value: JsonValue): unknown {
  if (value instanceof NumberText) return Number(value.text);
  if (Array.isArray(value)) return value.map(toPlain);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, toPlain(item)]));
}

/** Errors of operations are told without a path, with the name of their field in front. */
function toErrorMember(error: GraphQLError): ResponseError {
  const node = error.nodes?.[0];
  const original = error.originalError;
  if (original === undefined || node?.kind !== "Field") return rewordProblem(error);
  if (!(original instanceof Fault)) throw original;
  const message = `resolving ${node.name.value} failed because ${error.message}`;
  return error.locations === undefined ? { message } : { message, locations: error.locations };
}

function makeRoot(parts: AdminParts): Root {
  const root: Record<string, (args: never) => unknown> = {
    getGQLSchema: async () => {
      const row = await parts.graphql.schemaRow(0);
      return toSchemaNode(row ?? { uid: 0, schema: "", generatedSchema: "" });
    },
    updateGQLSchema: async ({ input }: { input: { set: { schema: string } } }) => {
      const row = await parts.graphql.updateSchema(0, input.set.schema);
      return { gqlSchema: toSchemaNode(row) };
    },
    health: () => parts.health(),
    login: () => {
      throw new Fault("E_HTTP_REQUEST", "invalid username or password");
    },
  };
  for (const name of ["addNamespace", "deleteNamespace", "resetPassword"]) {
    root[name] = () => {
      throw new Fault("E_NOT_YET", "Enable ACL to use this mutation");
    };
  }
  for (const kind of [getSchema().getQueryType(), getSchema().getMutationType()]) {
    for (const name of Object.keys(kind?.getFields() ?? {})) {
      root[name] ??= () => {
        throw new Fault("E_NOT_YET", `${name} is not available yet`);
      };
    }
  }
  return root;
}

function toSchemaNode(row: {
  readonly uid: number;
  readonly schema: string;
  readonly generatedSchema: string;
}): object {
  return {
    id: `0x${row.uid.toString(16)}`,
    schema: row.schema,
    generatedSchema: row.generatedSchema,
  };
}
