/** The fields about users and groups, and logging in (reference/graphql 10.2, 10.4, 11). */
import { loginRefused } from "../auth/acl.ts";
import type { Acl } from "../auth/acl.ts";
import type { OpenEngine } from "../engine/open.ts";
import { Fault } from "../model/fault.ts";
import type { Principal } from "../model/principal.ts";
import type { FieldTable } from "./field.ts";
import { FieldFailure } from "./field.ts";
import {
  addGroups,
  deleteGroups,
  type AddGroupInput,
  updateGroups,
  type UpdateGroupInput,
} from "./group-changes.ts";
import {
  addUsers,
  deleteUsers,
  resetPassword,
  type AddUserInput,
  updateUsers,
  type UpdateUserInput,
} from "./user-changes.ts";
import { listNodes, type ListArguments, type NameFilter } from "./user-filter.ts";
import { viewDirectory } from "./user-view.ts";

export interface UserParts {
  readonly acl: Acl;
  readonly engine: OpenEngine;
}

interface LoginArguments {
  readonly userId?: string | null;
  readonly password?: string | null;
  readonly namespace?: number | null;
  readonly refreshToken?: string | null;
}

type Named = { readonly name: string };

/** `parts` undefined: nobody logs in. */
export function makeUserFields(parts: UserParts | undefined): FieldTable {
  if (parts === undefined) return withoutUsers;
  const { acl, engine } = parts;
  return {
    ...makeUserQueries(engine),
    ...makeUserMutations(acl, engine),
    ...makeGroupFields(engine),
    ...makeLoginFields(acl, engine),
  };
}

function makeUserQueries(engine: OpenEngine): FieldTable {
  return {
    "Query.getUser": async ({ name }: Named, { principal }) => {
      const view = await viewDirectory(engine, principal);
      const found = view.user(name);
      return found === undefined ? null : view.showUser(found);
    },
    "Query.getCurrentUser": async (_args: never, { principal }) => {
      if (principal.refusal !== undefined) {
        const reason = `couldn't rewrite query getCurrentUser because ${principal.refusal}`;
        throw new FieldFailure("rewrite", [reason]);
      }
      const view = await viewDirectory(engine, principal);
      const found = view.user(principal.user ?? "");
      return found === undefined ? null : view.showUser(found);
    },
    "Query.queryUser": async (args: ListArguments, { principal }) => {
      const view = await viewDirectory(engine, principal);
      return listNodes(view.users, args).map((user) => view.showUser(user));
    },
  };
}

function makeUserMutations(acl: Acl, engine: OpenEngine): FieldTable {
  const show = async (names: readonly string[], principal: Principal): Promise<object> => {
    const view = await viewDirectory(engine, principal);
    const wanted = new Set(names);
    const found = view.users.filter(({ name }) => wanted.has(name));
    return { user: found.map((one) => view.showUser(one)) };
  };
  return {
    "Mutation.addUser": async ({ input }: { input: readonly AddUserInput[] }, { principal }) => {
      for (const user of input) acl.checkPassword(user.name, user.password);
      return show(await addUsers(engine, principal, input), principal);
    },
    "Mutation.updateUser": async ({ input }: { input: UpdateUserInput }, { principal }) => {
      const password = input.set?.password ?? undefined;
      if (password !== undefined) acl.checkPassword("", password);
      return show(await updateUsers(engine, principal, input), principal);
    },
    "Mutation.deleteUser": async ({ filter }: { filter: NameFilter }, { principal }) =>
      toDeleted(await deleteUsers(engine, principal, filter)),
  };
}

function makeGroupFields(engine: OpenEngine): FieldTable {
  const show = async (names: readonly string[], principal: Principal): Promise<object> => {
    const view = await viewDirectory(engine, principal);
    const wanted = new Set(names);
    const found = view.groups.filter(({ name }) => wanted.has(name));
    return { group: found.map((one) => view.showGroup(one)) };
  };
  return {
    "Query.getGroup": async ({ name }: Named, { principal }) => {
      const view = await viewDirectory(engine, principal);
      const found = view.group(name);
      return found === undefined ? null : view.showGroup(found);
    },
    "Query.queryGroup": async (args: ListArguments, { principal }) => {
      const view = await viewDirectory(engine, principal);
      return listNodes(view.groups, args).map((group) => view.showGroup(group));
    },
    "Mutation.addGroup": async ({ input }: { input: readonly AddGroupInput[] }, { principal }) =>
      show(await addGroups(engine, principal, input), principal),
    "Mutation.updateGroup": async ({ input }: { input: UpdateGroupInput }, { principal }) =>
      show(await updateGroups(engine, principal, input), principal),
    "Mutation.deleteGroup": async ({ filter }: { filter: NameFilter }, { principal }) =>
      toDeleted(await deleteGroups(engine, principal, filter)),
  };
}

interface ResetInput {
  readonly userId: string;
  readonly password: string;
  readonly namespace: number;
}

interface RevokeInput {
  readonly userId: string;
  readonly namespace: number;
}

function makeLoginFields(acl: Acl, engine: OpenEngine): FieldTable {
  return {
    "Mutation.login": async (args: LoginArguments, { remoteAddress: address, keyNamespace }) => {
      const response = await acl.login({
        user: args.userId ?? "",
        password: args.password ?? "",
        namespace: args.namespace ?? 0,
        refreshToken: args.refreshToken ?? "",
        address,
        keyNamespace,
      });
      return { response };
    },
    "Mutation.resetPassword": async ({ input }: { input: ResetInput }) => {
      acl.checkPassword(input.userId, input.password);
      await resetPassword(engine, input);
      const { userId, namespace } = input;
      return { userId, message: "Reset password is successful", namespace };
    },
    "Mutation.revokeTokens": async ({ input }: { input: RevokeInput }, { principal }) => {
      const { userId, namespace } = input;
      if (principal.namespace !== 0 && principal.namespace !== namespace) {
        throw new Fault("E_NAMESPACE", "only guardians of namespace 0 reach other namespaces");
      }
      await acl.revokeTokens(userId, namespace);
      return { userId, message: "Every token of the user is revoked", namespace };
    },
    "Mutation.addNamespace": async ({
      input,
    }: {
      input?: { password?: string | null } | null;
    }) => ({
      namespaceId: await acl.createNamespace(input?.password ?? undefined),
      message: "Created namespace successfully",
    }),
    "Mutation.deleteNamespace": async ({ input }: { input: { namespaceId: number } }) => {
      await deleteNamespace(engine, input.namespaceId);
      return { namespaceId: input.namespaceId, message: "Deleted namespace successfully" };
    },
  };
}

async function deleteNamespace(engine: OpenEngine, namespace: number): Promise<void> {
  if (namespace === 0) throw new Fault("E_NAMESPACE", "Cannot delete default namespace");
  if (!(await engine.namespaces()).includes(namespace)) {
    const name = `0x${namespace.toString(16)}`;
    throw new Fault("E_NAMESPACE", `error deleting non-existing namespace ${name}`);
  }
  await engine.deleteNamespace(namespace);
}

function toDeleted(count: number): { readonly msg: string; readonly numUids: number } {
  return { msg: count === 0 ? "No nodes were deleted" : "Deleted", numUids: count };
}

function refuseChange(): never {
  throw new Fault("E_ACL_OFF", "Enable ACL to use this mutation");
}

/** Without ACL there is nobody, and nobody can be made. */
const withoutUsers: FieldTable = {
  "Query.getUser": () => null,
  "Query.getGroup": () => null,
  "Query.getCurrentUser": () => null,
  "Query.queryUser": () => [],
  "Query.queryGroup": () => [],
  "Mutation.login": () => {
    throw new Fault("E_LOGIN", loginRefused);
  },
  "Mutation.revokeTokens": refuseChange,
  "Mutation.addUser": refuseChange,
  "Mutation.addGroup": refuseChange,
  "Mutation.updateUser": refuseChange,
  "Mutation.updateGroup": refuseChange,
  "Mutation.deleteUser": refuseChange,
  "Mutation.deleteGroup": refuseChange,
};
