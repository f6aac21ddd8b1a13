/**
 * What a principal sees of users and groups (reference/graphql 11.3): a guardian everything of the namespace, others
 * themselves and the groups of their token.
 */
import { readDirectory } from "../auth/directory.ts";
import type { Directory, StoredNode } from "../auth/directory.ts";
import { Fault } from "../model/fault.ts";
import type { Engine } from "../engine/engine.ts";
import type { Principal } from "../model/principal.ts";
import { FieldFailure } from "./field.ts";

/** The type User of the schema; graphql-js calls what it needs. */
interface ShownUser {
  readonly name: string;
  groups(): readonly ShownGroup[];
}

/** The type Group of the schema. */
interface ShownGroup {
  readonly name: string;
  readonly rules: readonly { readonly predicate: string; readonly permission: number }[];
  users(): readonly ShownUser[];
}

class DirectoryView {
  readonly users: readonly StoredNode[];
  readonly groups: readonly StoredNode[];
  readonly #directory: Directory;

  constructor(directory: Directory, principal: Principal) {
    const nodes = [...directory.values()];
    const names = new Set(principal.groups);
    this.#directory = directory;
    this.users = nodes.filter(
      ({ isUser, name }) => isUser && (principal.isGuardian || name === principal.user),
    );
    this.groups = nodes.filter(
      ({ isGroup, name }) => isGroup && (principal.isGuardian || names.has(name)),
    );
  }

  user(name: string): StoredNode | undefined {
    return this.users.find((user) => user.name === name);
  }

  group(name: string): StoredNode | undefined {
    return this.groups.find((group) => group.name === name);
  }

  showUser(user: StoredNode): ShownUser {
    return {
      name: user.name,
      groups: () =>
        user.groups.flatMap((uid) => {
          const group = this.#directory.get(uid);
          return group !== undefined && this.groups.includes(group) ? [this.showGroup(group)] : [];
        }),
    };
  }

  showGroup(group: StoredNode): ShownGroup {
    return {
      name: group.name,
      rules: group.rules.map(({ predicate, permission }) => ({ predicate, permission })),
      users: () =>
        this.users
          .filter(({ groups }) => groups.includes(group.uid))
          .map((user) => this.showUser(user)),
    };
  }
}

/** Throws FieldFailure for a principal that is refused. */
export async function viewDirectory(engine: Engine, principal: Principal): Promise<DirectoryView> {
  try {
    // Opened for the principal first: a refused one is told there.
    const own = await engine.openReader(principal.namespace, principal);
    own.close();
    const reader = await engine.openReader(principal.namespace);
    try {
      return new DirectoryView(await readDirectory(reader), principal);
    } finally {
      reader.close();
    }
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    const reason = `Dgraph query failed because Dgraph execution failed because ${error.message}`;
    throw new FieldFailure("query", [reason]);
  }
}
