/**
 * The administration API at /admin (reference/graphql 10): GraphQL of its own, fixed. Few requests come here, so
 * graphql-js executes them. Whether the sender may come here at all the HTTP module has decided; who may use which field is the
 * table of `rights.ts`.
 */
import {
  buildSchema,
  execute,
  getOperationAST,
  type DocumentNode,
  type GraphQLError,
  type GraphQLFieldResolver,
  type GraphQLSchema,
} from "graphql";
import type { CompiledSchema } from "../graphql/schema/compiled-schema.ts";
import { RequestRefused, unavailability, type ResponseError } from "../graphql/operation/errors.ts";
import { convertSchema } from "../graphql/schema/plain-schema.ts";
import { readGraphqlBody, readJsonBody, type RequestFields } from "../graphql/operation/body.ts";
import type { DocumentLimits } from "../graphql/operation/document-meter.ts";
import { checkRequest } from "../graphql/service/foreign-request.ts";
import { type JsonValue, NumberText } from "../graphql/operation/json.ts";
import type { GraphqlRequest } from "../graphql/operation/request.ts";
import type { SchemaRow, GraphqlAnswer, GraphqlService } from "../graphql/service/service.ts";
import { Fault } from "../model/fault.ts";
import type { Principal } from "../model/principal.ts";
import type { KeyRing } from "../auth/key-ring.ts";
import type { Clock } from "../base/clock.ts";
import { adminSdl } from "./admin-sdl.ts";
import { FieldFailure } from "./field.ts";
import type { AdminContext, FieldTable, FieldWork } from "./field.ts";
import { makeTaskFields, type FindTask } from "./tasks.ts";
import { makeClusterFields, type ClusterParts } from "./cluster-fields.ts";
import { makeExportFields, type Exports } from "./export-fields.ts";
import { makeKeyFields } from "./key-fields.ts";
import { makeNamespaceFields } from "./namespace-fields.ts";
import { makeBackupFields, type Backups } from "./backup-fields.ts";
import { makeRestoreFields, type Restores } from "./restore-fields.ts";
import { makeCompactFields, type Compactions } from "./compact-fields.ts";
import { makeNodeFields, type NodeParts } from "./node-fields.ts";
import { makeMigrationFields } from "./migration-fields.ts";
import type { Migrations } from "./migrations.ts";
import { makeRequestFields, type RequestParts } from "./request-fields.ts";
import { findFieldRefusal } from "./rights.ts";
import { makeUserFields, type UserParts } from "./user-fields.ts";

export interface AdminService {
  /** One request → the whole JSON answer. Never rejects for what the sender did. */
  handle(
    request: GraphqlRequest,
    principal: Principal,
    keyNamespace?: number,
  ): Promise<GraphqlAnswer>;
}

interface AdminParts extends NodeParts {
  readonly graphql: GraphqlService;
  readonly keys: KeyRing;
  readonly clock: Clock;
  readonly requests: RequestParts;
  /** undefined: this machine is alone. */
  readonly cluster?: ClusterParts | undefined;
  /** Whether users log in. */
  readonly acl: boolean;
  /** Who they are; undefined where none does. */
  readonly users?: UserParts | undefined;
  readonly migrations: Migrations;
  /** undefined: there is nothing to export from. */
  readonly exports?: Exports | undefined;
  /** undefined: there is nothing to back up. */
  readonly backups?: Backups | undefined;
  /** undefined: there is nothing to restore into. */
  readonly restores?: Restores | undefined;
  /** undefined: there is no file to compact. */
  readonly compactions?: Compactions | undefined;
  /** Exports, backups, restores and compactions under way and done. */
  readonly findTask?: FindTask | undefined;
}

export function openAdminService(parts: AdminParts): AdminService {
  let api: AdminApi | undefined;
  return {
    async handle(request, principal, keyNamespace) {
      // Built at the first request: most processes never see one.
      const { status, headers, ...answer } = await run(request, (api ??= makeApi(parts)), {
        principal,
        remoteAddress: request.remoteAddress,
        keyNamespace,
        hasFailed: false,
      });
      const body = new TextEncoder().encode(JSON.stringify(answer));
      return { body, headers, status };
    },
  };
}

const alone: ClusterParts = {
  facts: async () => undefined,
  resign: async () => false,
  finalize: async () => "",
  evict: async () => "",
};

interface AdminApi {
  /** What runs requests. */
  readonly schema: GraphQLSchema;
  /** What judges them, as it judges those of /graphql. */
  readonly forChecks: CompiledSchema;
  readonly limits: DocumentLimits;
}

interface Answer {
  /** Of HTTP, where it is not 200. */
  status?: number | undefined;
  headers?: Readonly<Record<string, string>> | undefined;
  errors?: readonly ResponseError[];
  data?: unknown;
}

async function run(
  request: GraphqlRequest,
  api: AdminApi,
  contextValue: AdminContext,
): Promise<Answer> {
  let fields: RequestFields;
  try {
    fields = request.kind === "json" ? readJsonBody(request.body) : readGraphqlBody(request.body);
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return { errors: [{ message: error.message }] };
  }
  let document: DocumentNode;
  try {
    document = checkRequest(api.forChecks, fields, api.limits);
  } catch (error) {
    if (!(error instanceof RequestRefused)) throw error;
    return { errors: error.errors };
  }
  const { refusesMutations } = request;
  if (refusesMutations !== undefined) {
    const name = fields.operationName === "" ? undefined : fields.operationName;
    if (getOperationAST(document, name)?.operation === "mutation") {
      const { message, status } = refusesMutations;
      return { errors: [{ message }], status };
    }
  }
  const result = await execute({
    schema: api.schema,
    document,
    contextValue,
    variableValues: toPlain(fields.variables) as Record<string, unknown>,
    operationName: fields.operationName === "" ? null : fields.operationName,
  });
  const answer: Answer = {};
  if (result.errors !== undefined) answer.errors = result.errors.flatMap(toErrorMembers);
  if (result.data === undefined || result.data === null) return answer;
  const data = { ...result.data };
  for (const error of result.errors ?? []) fixMember(data, error);
  const isGone = result.errors !== undefined && Object.keys(data).length === 0;
  const isEmpty = Object.values(data).every(
    (value) => value === null || (Array.isArray(value) && value.length === 0),
  );
  if (isEmpty) Object.assign(answer, findUnavailability(result.errors));
  return isGone ? answer : { ...answer, data };
}

/** Where nothing was answered since this server cannot, or cannot now. */
function findUnavailability(errors: readonly GraphQLError[] = []): Partial<Answer> {
  const faults = errors.map(({ originalError }) => unavailability(originalError));
  const [first] = faults;
  return first !== undefined && faults.every((one) => one.status === 503) ? first : {};
}

/** What did not run has no member; what failed is null, or where a list was asked for one that is empty. */
function fixMember(data: Record<string, unknown>, error: GraphQLError): void {
  const { originalError: original, path } = error;
  const [key] = path ?? [];
  if (typeof key !== "string") return;
  if (original instanceof NotRun) delete data[key];
  else if (original instanceof FieldFailure && original.form === "query") delete data[key];
  else if (path?.length === 1 && isListField(error)) data[key] = [];
  else if (path?.length === 1 && isRestore(error)) data[key] = failureOf(error);
}

function isRestore(error: GraphQLError): boolean {
  return nameOf(error) === "restore" || nameOf(error) === "restoreTenant";
}

/** A restore that fails says so in its answer, too. */
function failureOf({ nodes }: GraphQLError): object {
  const [field] = nodes ?? [];
  const asked = field?.kind === "Field" ? (field.selectionSet?.selections ?? []) : [];
  const members = asked.flatMap((one) =>
    one.kind === "Field"
      ? [[one.alias?.value ?? one.name.value, one.name.value === "code" ? "Failure" : null]]
      : [],
  );
  return Object.fromEntries(members) as object;
}

const listFields = new Set(["health", "listBackups", "queryUser", "queryGroup"]);

function isListField(error: GraphQLError): boolean {
  return listFields.has(nameOf(error));
}

/** Of the field that failed. */
function nameOf({ nodes }: GraphQLError): string {
  const [node] = nodes ?? [];
  return node?.kind === "Field" ? node.name.value : "";
}

/** Numbers that kept their digits become numbers: nothing here is beyond a double. */
function toPlain(value: JsonValue): unknown {
  if (value instanceof NumberText) return Number(value.text);
  if (Array.isArray(value)) return value.map(toPlain);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, toPlain(item)]));
}

function toErrorMembers(error: GraphQLError): readonly ResponseError[] {
  const { originalError: original, path } = error;
  if (!(original instanceof FieldFailure)) return [toErrorMember(error)];
  const place = { path: [...(path ?? [])] };
  const { form, messages } = original;
  if (form !== "mutation" || error.locations === undefined) {
    return messages.map((message) => ({ message, ...place }));
  }
  const { locations } = error;
  return messages.map((message) => ({ message, locations, ...place }));
}

/** Errors of operations are told without a path, with the name of their field in front. */
function toErrorMember(error: GraphQLError): ResponseError {
  const node = error.nodes?.[0];
  const original = error.originalError;
  if (original === undefined || node?.kind !== "Field") {
    const { message, locations } = error;
    return locations === undefined ? { message } : { message, locations };
  }
  if (original instanceof NotRun) {
    const place = error.locations === undefined ? {} : { locations: error.locations };
    return { message: error.message, ...place, path: [...(error.path ?? [])] };
  }
  if (!(original instanceof Fault)) throw original;
  const message = `resolving ${node.name.value} failed because ${error.message}`;
  return error.locations === undefined ? { message } : { message, locations: error.locations };
}

/** A mutation behind one that failed. */
class NotRun extends Error {
  constructor(name: string) {
    super(`Mutation ${name} was not executed because of a previous error.`);
  }
}

function makeApi(parts: AdminParts): AdminApi {
  const schema = buildSchema(adminSdl);
  const fields = {
    ...makeNodeFields(parts),
    ...makeExportFields(parts.exports),
    ...makeBackupFields(parts.backups, () => parts.clock.nowMs()),
    ...makeRestoreFields(parts.restores),
    ...makeCompactFields(parts.compactions),
    ...makeTaskFields(parts.findTask),
    ...makeNamespaceFields(parts.users?.engine, () => parts.clock.nowMs()),
    ...makeUserFields(parts.users),
    ...makeKeyFields(parts.keys, () => parts.clock.nowMs()),
    ...makeRequestFields(parts.requests),
    ...makeClusterFields(parts.cluster ?? alone),
    ...makeMigrationFields(parts.migrations),
  };
  const table: FieldTable = { ...fields, ...makeSchemaFields(parts) };
  for (const type of [schema.getQueryType(), schema.getMutationType()]) {
    for (const field of Object.values(type?.getFields() ?? {})) {
      const place = `${type?.name ?? ""}.${field.name}`;
      const work = table[place] ?? refuseMissing(field.name);
      field.resolve = guardField(place, work, parts.acl);
    }
  }
  return { schema, forChecks: convertSchema(schema), limits: parts.graphql.limits };
}

/** Rights come before everything else: one place for all fields. */
function guardField(
  place: string,
  work: FieldWork,
  acl: boolean,
): GraphQLFieldResolver<unknown, AdminContext> {
  const isMutation = place.startsWith("Mutation.");
  return async (_source, args, context) => {
    if (isMutation && context.hasFailed) throw new NotRun(place.slice("Mutation.".length));
    try {
      const refusal = findFieldRefusal(place, { principal: context.principal, acl });
      if (refusal !== undefined) throw refusal;
      return await work(args as never, context);
    } catch (error) {
      context.hasFailed = true;
      throw error;
    }
  };
}

function refuseMissing(name: string): FieldWork {
  return () => {
    throw new Fault("E_NOT_YET", `${name} is not available yet`);
  };
}

interface ApplyInput {
  readonly schema: string;
  readonly force?: readonly string[] | null;
  readonly updates?: number | null;
}

function makeSchemaFields({ graphql }: AdminParts): FieldTable {
  return {
    "Query.getGQLSchema": async (_args: never, { principal }) => {
      const row = await graphql.schemaRow(principal.namespace);
      if (row !== undefined) return toSchemaNode(row);
      // Namespace 0 is begun with an empty one, as the reference's.
      if (principal.namespace !== 0) return null;
      return toSchemaNode({ uid: 0, schema: "", generatedSchema: "", warnings: [] });
    },
    "Query.schemaProblems": async ({ schema }: { schema: string }) => {
      const problems = await graphql.findSchemaProblems(schema);
      return problems.map(({ message, at }) => ({ message, ...at }));
    },
    "Query.schemaPlan": async ({ schema }: { schema: string }, { principal }) => {
      const { changes, updates, warnings } = await graphql.planSchema(principal.namespace, schema);
      return { updates, changes, warnings };
    },
    "Mutation.applyGQLSchema": async ({ input }: { input: ApplyInput }, { principal }) => {
      const row = await graphql.applySchema(principal.namespace, input.schema, {
        force: input.force ?? [],
        updates: input.updates ?? undefined,
      });
      return { gqlSchema: toSchemaNode(row) };
    },
    "Mutation.updateGQLSchema": async (
      { input }: { input: { set: { schema: string } } },
      { principal },
    ) => {
      const row = await graphql.updateSchema(principal.namespace, input.set.schema);
      return { gqlSchema: toSchemaNode(row) };
    },
  };
}

function toSchemaNode(row: SchemaRow): object {
  return {
    id: `0x${row.uid.toString(16)}`,
    schema: row.schema,
    generatedSchema: row.generatedSchema,
    warnings: row.warnings,
  };
}
