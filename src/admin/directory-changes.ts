/** What changes of users and groups have in common: who may, in which words they fail, and their facts. */
import { groupType, readDirectory } from "../auth/directory.ts";
import type { Directory, StoredNode } from "../auth/directory.ts";
import { blank, fact, text } from "../auth/first-user.ts";
import { refuseWrites, strangerFault } from "../engine/authorize.ts";
import type { ManagedTransaction } from "../engine/engine.ts";
import type { OpenEngine } from "../engine/open.ts";
import { Fault } from "../model/fault.ts";
import type { NodeRef, NQuad } from "../model/nquad.ts";
import type { Principal } from "../model/principal.ts";
import { FieldFailure } from "./field.ts";

export interface Facts {
  readonly set: NQuad[];
  readonly delete: NQuad[];
}

interface Change {
  readonly name: string;
  readonly engine: OpenEngine;
  readonly principal: Principal;
  /** What it may write, whatever it finds: only guardians may. */
  readonly predicates: readonly string[];
}

/**
 * Runs `plan` over everybody there is and writes its facts. Throws FieldFailure in the words of the reference's generated
 * mutations. Guardians alone write here; they read and write as the server does.
 */
export async function changeDirectory<T>(
  change: Change,
  plan: (directory: Directory, facts: Facts) => T | Promise<T>,
): Promise<T> {
  const { engine, principal } = change;
  try {
    if (principal.refusal !== undefined) throw strangerFault(principal);
    if (!principal.isGuardian) throw refuseWrites(change.predicates);
    const work = async (txn: ManagedTransaction): Promise<T> => {
      const facts: Facts = { set: [], delete: [] };
      const result = await plan(await readDirectory(txn.reader), facts);
      if (facts.set.length + facts.delete.length > 0) await txn.apply(facts);
      return result;
    };
    return (await engine.transact(principal.namespace, work, principal)).value;
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    const reason = `mutation ${change.name} failed because Dgraph execution failed because ${error.message}`;
    throw new FieldFailure("mutation", [reason]);
  }
}

/** What cannot be written as it is asked for. */
export function refuseInput(name: string, ...reasons: readonly string[]): FieldFailure {
  return new FieldFailure(
    "rewrite",
    reasons.map(
      (reason) =>
        `couldn't rewrite mutation ${name} because failed to rewrite mutation payload because ${reason}`,
    ),
  );
}

/** Names that are empty, or stand twice. */
export function checkUserNames(mutation: string, names: readonly string[]): void {
  const seen = new Set<string>();
  for (const name of names) {
    if (name === "") {
      throw refuseInput(mutation, "encountered an empty value for @id field `dgraph.xid`");
    }
    if (seen.has(name)) throw refuseInput(mutation, `duplicate XID found: ${name}`);
    seen.add(name);
  }
}

export function uidRef(node: StoredNode): NodeRef {
  return { kind: "uid", uid: node.uid };
}

export function findGroup(directory: Directory, name: string): StoredNode | undefined {
  for (const node of directory.values()) if (node.isGroup && node.name === name) return node;
  return undefined;
}

/** A group by its name; one that there is not is made. */
export function groupRef(directory: Directory, name: string, facts: Facts): NodeRef {
  const known = findGroup(directory, name);
  if (known !== undefined) return uidRef(known);
  const node = blank(`group ${name}`);
  if (!facts.set.some(({ subject }) => isSame(subject, node))) addGroupFacts(node, name, facts);
  return node;
}

export function addGroupFacts(node: NodeRef, name: string, facts: Facts): void {
  facts.set.push(fact(node, "dgraph.xid", text(name)), fact(node, "dgraph.type", text(groupType)));
}

function isSame(a: NodeRef, b: NodeRef): boolean {
  return a.kind === "blank" && b.kind === "blank" && a.label === b.label;
}

/** `S * *` */
export function deleteNode(node: StoredNode): NQuad {
  return fact(uidRef(node), "*", { kind: "star" });
}
