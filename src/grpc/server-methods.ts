/** Alter, Login, CheckVersion, and what concerns the whole server: namespaces and numbers. */
import { Buffer } from "node:buffer";
import { explainRefusal } from "../admin/interface.ts";
import type { LeaseKind } from "../engine/leases.ts";
import { Fault } from "../model/fault.ts";
import {
  accessKeyOf,
  chooseAlteration,
  noteAlter,
  dropKinds,
  principalOf,
  rightOf,
} from "../http/interface.ts";
import {
  type AllocateIds,
  type LoginMessage,
  type NamespaceMessage,
  type Operation,
  toNumber,
  messageEncoderOf,
} from "./api.ts";
import type { Call, Method } from "./call.ts";
import { CallRefusal, status } from "./status.ts";

const noTransaction = { startTs: () => 0, mayCommit: () => false } as const;

const alterRight = rightOf("/alter");
const loginRight = rightOf("/login");
const adminRight = rightOf("/admin");
const assignRight = rightOf("/assign");
const openRight = rightOf("/health");

export const alterMethod: Method<Operation> = {
  name: "Alter",
  request: "Operation",
  response: "Payload",
  isDrained: true,
  ...noTransaction,
  size: "text",
  right: alterRight,
  textOf: ({ schema }) => schema,
  async answer(operation, call) {
    const { context } = call;
    const { dropOp, schema, dropAttr, dropAll, dropValue, runInBackground } = operation;
    const drop = dropKinds[dropOp];
    if (drop === undefined) throw new Fault("E_ALTER", `there is no DropOp ${dropOp}`);
    const alteration = chooseAlteration({
      schema,
      dropAttr,
      dropAll,
      dropValue,
      runInBackground,
      dropOp: drop,
    });
    call.notes.alter = noteAlter(alteration);
    if (context.rules.disallowMutations) {
      throw new Fault("E_ALTER", "No mutations allowed by server.");
    }
    if (alteration.kind === "dropAll" && context.rules.disallowDrop) {
      throw new Fault("E_ALTER", "Drop all operation is not permitted.");
    }
    const principal = await principalOf(call.headers, call.address, context);
    await context.engine.alter(alteration, principal.namespace, principal);
    return {};
  },
};

const writeJwt = messageEncoderOf("Jwt");

export const loginMethod: Method<LoginMessage> = {
  name: "Login",
  request: "LoginRequest",
  response: "Response",
  isDrained: false,
  ...noTransaction,
  size: "small",
  right: loginRight,
  async answer({ userid, password, refreshToken, namespace: given }, call) {
    const { context, address, headers } = call;
    const namespace = toNumber(given);
    call.notes.login = { user: userid.slice(0, 200), namespace };
    if (context.acl === undefined) throw new Fault("E_LOGIN", "ACL is not enabled on this server");
    const keyNamespace = (await accessKeyOf(headers, context))?.namespace;
    const login = { user: userid, password, refreshToken, namespace, address, keyNamespace };
    const { accessJWT, refreshJWT } = await context.acl.login(login);
    return { json: Buffer.from(writeJwt({ accessJwt: accessJWT, refreshJwt: refreshJWT })) };
  },
};

export const versionMethod: Method<object> = {
  name: "CheckVersion",
  request: "Check",
  response: "Version",
  isDrained: false,
  ...noTransaction,
  size: "small",
  right: openRight,
  answer: (_check, { context }) => Promise.resolve({ tag: context.version }),
};

/** Throws where the caller is not an administrator of the whole server. `what` it wants to do, in the answer. */
async function checkSuperadmin(call: Call, what: string): Promise<void> {
  const { context } = call;
  const principal = await principalOf(call.headers, call.address, context);
  const message = explainRefusal("superadmin", { principal, acl: context.acl !== undefined });
  if (message === undefined) return;
  const code = principal.refusal === undefined ? status.PERMISSION_DENIED : status.UNAUTHENTICATED;
  throw new CallRefusal(code, `${what} ${message.replace(/^rpc error: code = \w+ desc = /, "")}`);
}

export const createNamespaceMethod: Method<object> = {
  name: "CreateNamespace",
  request: "CreateNamespaceRequest",
  response: "CreateNamespaceResponse",
  isDrained: true,
  ...noTransaction,
  size: "small",
  right: adminRight,
  async answer(_nothing, call) {
    await checkSuperadmin(call, "Non superadmin user cannot create namespace.");
    return { namespace: await call.context.namespaces.create() };
  },
};

export const dropNamespaceMethod: Method<NamespaceMessage> = {
  name: "DropNamespace",
  request: "DropNamespaceRequest",
  response: "DropNamespaceResponse",
  isDrained: true,
  ...noTransaction,
  size: "small",
  right: adminRight,
  async answer({ namespace: given }, call) {
    await checkSuperadmin(call, "Non superadmin user cannot drop namespace.");
    const namespace = toNumber(given);
    if (namespace === 0) throw new Fault("E_NAMESPACE", "namespace [0] cannot be deleted");
    const { namespaces } = call.context;
    // One that is not there is dropped already.
    if ((await namespaces.list()).includes(namespace)) await namespaces.drop(namespace);
    return {};
  },
};

export const listNamespacesMethod: Method<object> = {
  name: "ListNamespaces",
  request: "ListNamespacesRequest",
  response: "ListNamespacesResponse",
  isDrained: true,
  ...noTransaction,
  size: "small",
  right: adminRight,
  async answer(_nothing, call) {
    await checkSuperadmin(call, "Non superadmin user cannot list namespaces.");
    const list = await call.context.namespaces.list();
    return { namespaces: Object.fromEntries(list.map((id) => [id, { id }])) };
  },
};

/** By the numbers of the protocol. */
const leaseKinds: readonly (LeaseKind | undefined)[] = ["namespaces", "uids", "timestamps"];

export const allocateMethod: Method<AllocateIds> = {
  name: "AllocateIDs",
  request: "AllocateIDsRequest",
  response: "AllocateIDsResponse",
  isDrained: true,
  ...noTransaction,
  size: "small",
  right: assignRight,
  async answer({ howMany, leaseType }, call) {
    await checkSuperadmin(call, "AllocateIDs can only be called by the superadmin group.");
    const count = toNumber(howMany);
    const kind = leaseKinds[leaseType];
    if (kind === undefined) throw new Fault("E_LEASE", `invalid lease type: ${leaseType}`);
    const start = await call.context.engine.lease(kind, count);
    return { start, end: start + count - 1 };
  },
};
