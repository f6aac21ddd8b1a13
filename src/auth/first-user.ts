/**
 * The first user and the group of the guardians, which every namespace has from its beginning (reference/graphql 11.1).
 * The reference gives that user a password that everybody knows; so does a server that only this machine reaches. One
 * that others reach does not start, and does not begin anew, with it.
 */
import { must } from "../base/assert.ts";
import type { OpenEngine } from "../engine/open.ts";
import { firstUser, guardians } from "../engine/reserved-nodes.ts";
import { Fault } from "../model/fault.ts";
import type { NodeRef, NQuad, ObjectRef } from "../model/nquad.ts";
import { comparePassword } from "../passwords/passwords.ts";
import { groupType, readNamed, userType } from "./directory.ts";
import type { DirectoryReader } from "./directory.ts";

interface FirstNodesOptions {
  readonly engine: OpenEngine;
  readonly password: string | undefined;
  readonly isExposed: boolean;
}

/** The reference's. */
const knownPassword = "password";

/** A password to be, or the hash of one that was. */
type Password = { readonly text: string } | { readonly hash: string };

export class FirstNodes {
  readonly #options: FirstNodesOptions;

  constructor(options: FirstNodesOptions) {
    this.#options = options;
  }

  /** At the start, in every namespace. Throws Fault E_USAGE. */
  async ensureAll(): Promise<void> {
    const { engine, password, isExposed } = this.#options;
    for (const namespace of await engine.namespaces()) {
      const hash = await this.#hash(namespace);
      if (hash === undefined) {
        if (isExposed && password === undefined) throw tooOpen();
      } else if (
        (isExposed || password !== undefined) &&
        (await comparePassword(knownPassword, hash))
      ) {
        if (password === undefined) throw tooOpen();
        await this.#setPassword(namespace, password);
      }
      await this.ensure(namespace, undefined);
    }
  }

  /** Makes what is missing. `password`: of this namespace's first user. */
  async ensure(namespace: number, password: string | undefined, former?: string): Promise<void> {
    const used = await this.#passwordToUse(password, former);
    const { engine } = this.#options;
    await engine.transact(namespace, async (txn) => {
      const found = await readNamed(txn.reader, engine, [firstUser, guardians]);
      const nodes = [...found.values()];
      const group = nodes.find(({ name }) => name === guardians);
      const set: NQuad[] = [];
      if (group === undefined) set.push(...groupFacts());
      if (!nodes.some(({ name }) => name === firstUser)) {
        const ref: NodeRef =
          group === undefined ? blank(guardians) : { kind: "uid", uid: group.uid };
        set.push(...userFacts(used, ref));
      }
      if (set.length > 0) await txn.apply({ set, delete: [] });
    });
  }

  /** The same password has the same hash again, so that the refresh tokens of its user go on. */
  async #passwordToUse(given: string | undefined, former: string | undefined): Promise<Password> {
    const { password, isExposed } = this.#options;
    const asked = given ?? password;
    if (former === undefined) return { text: asked ?? knownPassword };
    if (asked === undefined && isExposed) return { hash: former };
    const first = asked ?? knownPassword;
    return (await comparePassword(first, former)) ? { hash: former } : { text: first };
  }

  /** They come back with what was dropped: with the first password, or where that is a known one, with the last. */
  async aroundDrop(namespace: number, drop: () => Promise<void>): Promise<void> {
    const former = await this.#hash(namespace);
    await drop();
    await this.ensure(namespace, undefined, former);
  }

  async #hash(namespace: number): Promise<string | undefined> {
    const reader = await this.#options.engine.openReader(namespace);
    try {
      const found = await this.#find(reader, firstUser);
      return found === undefined ? undefined : await readHash(reader, found);
    } finally {
      reader.close();
    }
  }

  async #find(reader: DirectoryReader, name: string): Promise<number | undefined> {
    const found = await readNamed(reader, this.#options.engine, [name]);
    return [...found.keys()][0];
  }

  async #setPassword(namespace: number, password: string): Promise<void> {
    await this.#options.engine.transact(namespace, async (txn) => {
      const uid = await this.#find(txn.reader, firstUser);
      if (uid === undefined) return;
      const set = [fact({ kind: "uid", uid }, "dgraph.password", text(password))];
      await txn.apply({ set, delete: [] });
    });
  }
}

async function readHash(reader: DirectoryReader, uid: number): Promise<string> {
  const predicate = must(reader.schema.predicate("dgraph.password"), "users have passwords").id;
  const [column] = await reader.readLevel(Float64Array.of(uid), [{ kind: "cells", predicate }]);
  const value = column.cells[0]?.[0]?.value;
  return value?.kind === "password" ? value.hash : "";
}

function tooOpen(): Fault {
  return new Fault(
    "E_USAGE",
    `--acl: user ${firstUser} would have the password that everybody knows on an address that others reach; ` +
      'give another with --acl "secret-file=…; password-file=FILE", or listen on 127.0.0.1 and change it first',
  );
}

function groupFacts(): NQuad[] {
  const node = blank(guardians);
  return [fact(node, "dgraph.xid", text(guardians)), fact(node, "dgraph.type", text(groupType))];
}

function userFacts(password: Password, group: NodeRef): NQuad[] {
  const node = blank(firstUser);
  const secret: ObjectRef =
    "text" in password
      ? text(password.text)
      : { kind: "value", value: { kind: "password", hash: password.hash } };
  return [
    fact(node, "dgraph.xid", text(firstUser)),
    fact(node, "dgraph.type", text(userType)),
    fact(node, "dgraph.password", secret),
    fact(node, "dgraph.user.group", { kind: "node", node: group }),
  ];
}

export function blank(label: string): NodeRef {
  return { kind: "blank", label };
}

export function text(value: string): ObjectRef {
  return { kind: "value", value: { kind: "string", text: value } };
}

export function fact(subject: NodeRef, predicate: string, object: ObjectRef): NQuad {
  return { subject, predicate, language: "", object, facets: undefined };
}
