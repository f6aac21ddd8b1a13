import { ruleType } from "../auth/directory.ts";
import type { StoredNode } from "../auth/directory.ts";
import { blank, fact, text } from "../auth/first-user.ts";
import type { PredicateRule } from "../auth/predicate-rights.ts";
import type { OpenEngine } from "../engine/open.ts";
import type { NodeRef, ObjectRef } from "../model/nquad.ts";
import type { Principal } from "../model/principal.ts";
import {
  addGroupFacts,
  changeDirectory,
  checkUserNames,
  deleteNode,
  type Facts,
  findGroup,
  refuseInput,
  uidRef,
} from "./directory-changes.ts";
import { matchesName, type NameFilter } from "./user-filter.ts";
import { viewDirectory } from "./user-view.ts";

export interface AddGroupInput {
  readonly name: string;
  readonly rules?: readonly (PredicateRule | null)[] | null;
}

export interface UpdateGroupInput {
  readonly filter: NameFilter;
  readonly set?: { readonly rules: readonly PredicateRule[] } | null;
  readonly remove?: { readonly rules: readonly string[] } | null;
}

const rulePredicates = [
  "dgraph.acl.rule",
  "dgraph.rule.predicate",
  "dgraph.rule.permission",
  "dgraph.type",
];

/** The last rule for a predicate counts. */
function lastRules(rules: Iterable<PredicateRule | null>): ReadonlyMap<string, number> {
  const last = new Map<string, number>();
  for (const rule of rules) {
    if (rule === null || rule.predicate === "") continue;
    last.delete(rule.predicate);
    last.set(rule.predicate, rule.permission);
  }
  return last;
}

function addRule(group: NodeRef, label: string, rule: PredicateRule, facts: Facts): void {
  const node = blank(label);
  facts.set.push(
    fact(node, "dgraph.type", text(ruleType)),
    fact(node, "dgraph.rule.predicate", text(rule.predicate)),
    fact(node, "dgraph.rule.permission", permissionOf(rule.permission)),
    fact(group, "dgraph.acl.rule", { kind: "node", node }),
  );
}

function permissionOf(permission: number): ObjectRef {
  return { kind: "value", value: { kind: "int", int: BigInt(permission) } };
}

/** The names of those that were made. Rules without a predicate are left out. */
export async function addGroups(
  engine: OpenEngine,
  principal: Principal,
  input: readonly AddGroupInput[],
): Promise<readonly string[]> {
  const name = "addGroup";
  checkUserNames(
    name,
    input.map((group) => group.name),
  );
  const predicates = ["dgraph.xid", ...rulePredicates];
  return changeDirectory({ name, engine, principal, predicates }, (directory, facts) => {
    for (const group of input) {
      if (findGroup(directory, group.name) === undefined) continue;
      throw refuseInput(name, `id ${group.name} already exists for field name inside type Group`);
    }
    input.forEach((group, i) => {
      const node = blank(`group ${group.name}`);
      addGroupFacts(node, group.name, facts);
      for (const [predicate, permission] of lastRules(group.rules ?? [])) {
        addRule(node, `rule ${i} ${predicate}`, { predicate, permission }, facts);
      }
    });
    return input.map((group) => group.name);
  });
}

/** The names of those that the filter found. Each has the rules of `set` afterwards, whatever the others had. */
export async function updateGroups(
  engine: OpenEngine,
  principal: Principal,
  { filter, set, remove }: UpdateGroupInput,
): Promise<readonly string[]> {
  const name = "updateGroup";
  const given = set?.rules ?? [];
  const taken = remove?.rules ?? [];
  const empty = (part: string, names: readonly string[]): readonly string[] =>
    names.flatMap((predicate, i) =>
      predicate === ""
        ? [
            `failed to rewrite ${part} payload because at index ${i}: predicate value can't be empty string`,
          ]
        : [],
    );
  const wrong = [
    ...empty(
      "set",
      given.map(({ predicate }) => predicate),
    ),
    ...empty("remove", taken),
  ];
  if (wrong.length > 0) throw refuseInput(name, ...wrong);
  if (given.length + taken.length === 0) return [];
  const rules = lastRules(given);
  const removed = new Set(taken.filter((predicate) => !rules.has(predicate)));
  return changeDirectory(
    { name, engine, principal, predicates: rulePredicates },
    (directory, facts) => {
      const found = [...directory.values()].filter(
        (node) => node.isGroup && matchesName(filter, node.name),
      );
      for (const group of found) changeRules(group, { rules, removed }, facts);
      return found.map((group) => group.name);
    },
  );
}

function changeRules(
  group: StoredNode,
  change: { readonly rules: ReadonlyMap<string, number>; readonly removed: ReadonlySet<string> },
  facts: Facts,
): void {
  const node = uidRef(group);
  const missing = new Map(change.rules);
  for (const rule of group.rules) {
    const ruleNode: NodeRef = { kind: "uid", uid: rule.uid };
    const permission = change.rules.get(rule.predicate);
    if (permission !== undefined) {
      missing.delete(rule.predicate);
      facts.set.push(fact(ruleNode, "dgraph.rule.permission", permissionOf(permission)));
    } else if (change.removed.has(rule.predicate)) {
      facts.delete.push(
        fact(node, "dgraph.acl.rule", { kind: "node", node: ruleNode }),
        fact(ruleNode, "*", { kind: "star" }),
      );
    }
  }
  for (const [predicate, permission] of missing) {
    addRule(node, `rule ${group.uid} ${predicate}`, { predicate, permission }, facts);
  }
}

/** How many were deleted. Their rules are left as nodes of nobody; their users are in them no more. */
export async function deleteGroups(
  engine: OpenEngine,
  principal: Principal,
  filter: NameFilter,
): Promise<number> {
  const name = "deleteGroup";
  const matches = (node: StoredNode): boolean => node.isGroup && matchesName(filter, node.name);
  if (principal.refusal === undefined && !principal.isGuardian) {
    const view = await viewDirectory(engine, principal);
    if (!view.groups.some(matches)) return 0;
  }
  const predicates = ["dgraph.xid", "dgraph.type", "dgraph.acl.rule", "dgraph.user.group"];
  return changeDirectory({ name, engine, principal, predicates }, (directory, facts) => {
    const found = [...directory.values()].filter(matches);
    facts.delete.push(...found.map(deleteNode));
    const gone = new Map(found.map((group) => [group.uid, group]));
    for (const user of directory.values()) {
      for (const uid of user.groups) {
        const group = gone.get(uid);
        if (group === undefined) continue;
        const object: ObjectRef = { kind: "node", node: uidRef(group) };
        facts.delete.push(fact(uidRef(user), "dgraph.user.group", object));
      }
    }
    return found.length;
  });
}
