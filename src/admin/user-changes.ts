import { readNamed, userType } from "../auth/directory.ts";
import type { StoredNode } from "../auth/directory.ts";
import { blank, fact, text } from "../auth/first-user.ts";
import type { OpenEngine } from "../engine/open.ts";
import { Fault } from "../model/fault.ts";
import type { Principal } from "../model/principal.ts";
import {
  changeDirectory,
  checkUserNames,
  deleteNode,
  findGroup,
  groupRef,
  refuseInput,
  uidRef,
} from "./directory-changes.ts";
import { matchesName, type NameFilter } from "./user-filter.ts";
import { viewDirectory } from "./user-view.ts";

type GroupRef = { readonly name: string };

export interface AddUserInput {
  readonly name: string;
  readonly password: string;
  readonly groups?: readonly (GroupRef | null)[] | null;
}

interface UserPatch {
  readonly password?: string | null;
  readonly groups?: readonly (GroupRef | null)[] | null;
}

export interface UpdateUserInput {
  readonly filter: NameFilter;
  readonly set?: UserPatch | null;
  readonly remove?: UserPatch | null;
}

function groupNames(patch: UserPatch | null | undefined): readonly string[] {
  return (patch?.groups ?? []).flatMap((group) => group?.name ?? []);
}

function checkGroups(mutation: string, names: readonly string[]): void {
  if (names.includes("")) {
    throw refuseInput(mutation, "encountered an empty value for @id field `dgraph.xid`");
  }
}

/** The names of those that were made. */
export async function addUsers(
  engine: OpenEngine,
  principal: Principal,
  input: readonly AddUserInput[],
): Promise<readonly string[]> {
  const name = "addUser";
  const predicates = ["dgraph.xid", "dgraph.type", "dgraph.password", "dgraph.user.group"];
  checkUserNames(
    name,
    input.map((user) => user.name),
  );
  for (const user of input) checkGroups(name, groupNames(user));
  return changeDirectory({ name, engine, principal, predicates }, (directory, facts) => {
    const known = new Set([...directory.values()].flatMap((one) => (one.isUser ? [one.name] : [])));
    for (const user of input) {
      if (!known.has(user.name)) continue;
      throw refuseInput(name, `id ${user.name} already exists for field name inside type User`);
    }
    for (const user of input) {
      const node = blank(`user ${user.name}`);
      facts.set.push(
        fact(node, "dgraph.xid", text(user.name)),
        fact(node, "dgraph.type", text(userType)),
        fact(node, "dgraph.password", text(user.password)),
      );
      for (const group of groupNames(user)) {
        const target = groupRef(directory, group, facts);
        facts.set.push(fact(node, "dgraph.user.group", { kind: "node", node: target }));
      }
    }
    return input.map((user) => user.name);
  });
}

/** The names of those that the filter found. */
export async function updateUsers(
  engine: OpenEngine,
  principal: Principal,
  { filter, set, remove }: UpdateUserInput,
): Promise<readonly string[]> {
  const name = "updateUser";
  const password = set?.password ?? undefined;
  const entered = groupNames(set);
  const left = groupNames(remove);
  checkGroups(name, [...entered, ...left]);
  const predicates = [
    ...(password === undefined ? [] : ["dgraph.password"]),
    ...(entered.length + left.length === 0 ? [] : ["dgraph.user.group"]),
  ];
  if (predicates.length === 0) return [];
  return changeDirectory({ name, engine, principal, predicates }, (directory, facts) => {
    const found = [...directory.values()].filter(
      (node) => node.isUser && matchesName(filter, node.name),
    );
    for (const user of found) {
      const node = uidRef(user);
      if (password !== undefined) facts.set.push(fact(node, "dgraph.password", text(password)));
      for (const group of entered) {
        const target = groupRef(directory, group, facts);
        facts.set.push(fact(node, "dgraph.user.group", { kind: "node", node: target }));
      }
      for (const group of left) {
        const target = findGroup(directory, group);
        if (target === undefined) continue;
        facts.delete.push(fact(node, "dgraph.user.group", { kind: "node", node: uidRef(target) }));
      }
    }
    return found.map((user) => user.name);
  });
}

/** How many were deleted. Others than guardians find nobody but themselves, and may not delete that one either. */
export async function deleteUsers(
  engine: OpenEngine,
  principal: Principal,
  filter: NameFilter,
): Promise<number> {
  const name = "deleteUser";
  const matches = (node: StoredNode): boolean => node.isUser && matchesName(filter, node.name);
  if (principal.refusal === undefined && !principal.isGuardian) {
    const view = await viewDirectory(engine, principal);
    if (!view.users.some(matches)) return 0;
  }
  const predicates = ["dgraph.xid", "dgraph.type", "dgraph.password", "dgraph.user.group"];
  return changeDirectory({ name, engine, principal, predicates }, (directory, facts) => {
    const found = [...directory.values()].filter(matches);
    facts.delete.push(...found.map(deleteNode));
    return found.length;
  });
}

/** Of any namespace. Throws Fault where there is no such user. */
export async function resetPassword(
  engine: OpenEngine,
  { userId, password, namespace }: { userId: string; password: string; namespace: number },
): Promise<void> {
  const missing = new Fault("E_USER_UNKNOWN", "Failed to reset password, user doesn't exist");
  if (!(await engine.namespaces()).includes(namespace)) throw missing;
  await engine.transact(namespace, async (txn) => {
    const found = await readNamed(txn.reader, engine, [userId]);
    const user = [...found.values()].find((node) => node.isUser);
    if (user === undefined) throw missing;
    const set = [fact(uidRef(user), "dgraph.password", text(password))];
    await txn.apply({ set, delete: [] });
  });
}
