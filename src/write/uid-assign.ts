/** Blank nodes → uids: one label is one node over the whole request (dql.md 3.2). */
import type { MaybePromise } from "../base/maybe.ts";
import { Fault } from "../model/fault.ts";
import type { NodeRef, NQuad } from "../model/nquad.ts";

/** What the store offers for it. */
export interface UidSource {
  lease(count: number): Promise<number>;
  reserve(uid: number): MaybePromise<void>;
}

const noneAdded: ReadonlyMap<string, number> = new Map();

/** The nodes of one scope: a request's, or a guest transaction's over several calls. */
export class BlankNodes {
  readonly #uids: Map<string, number>;

  constructor(known: ReadonlyMap<string, number> = new Map()) {
    this.#uids = new Map(known);
  }

  /** Label → uid of everything assigned so far. */
  get uids(): ReadonlyMap<string, number> {
    return this.#uids;
  }

  /**
   * Leases uids for the new labels of facts that are set, in one call, and sees to it that explicit uids are never
   * handed out. Returns the labels that are new.
   */
  assign(facts: readonly NQuad[], source: UidSource): MaybePromise<ReadonlyMap<string, number>> {
    const labels = new Set<string>();
    const explicit = new Set<number>();
    const note = (node: NodeRef): void => {
      if (node.kind === "uid") explicit.add(node.uid);
      else if (node.kind === "blank" && !this.#uids.has(node.label)) labels.add(node.label);
    };
    for (const fact of facts) {
      note(fact.subject);
      if (fact.object.kind === "node") note(fact.object.node);
    }
    const waiting: Promise<void>[] = [];
    for (const uid of explicit) {
      const reserved = source.reserve(uid);
      if (reserved instanceof Promise) waiting.push(reserved);
    }
    if (waiting.length > 0) return Promise.all(waiting).then(() => this.#name(labels, source));
    return labels.size === 0 ? noneAdded : this.#name(labels, source);
  }

  async #name(
    labels: ReadonlySet<string>,
    source: UidSource,
  ): Promise<ReadonlyMap<string, number>> {
    if (labels.size === 0) return noneAdded;
    const added = new Map<string, number>();
    let uid = await source.lease(labels.size);
    for (const label of labels) {
      this.#uids.set(label, uid);
      added.set(label, uid);
      uid++;
    }
    return added;
  }

  /** The node's number. A label that nobody sets is refused: deletes make no nodes. */
  resolve(node: NodeRef): number {
    switch (node.kind) {
      case "uid":
        return node.uid;
      case "blank": {
        const uid = this.#uids.get(node.label);
        if (uid !== undefined) return uid;
        throw new Fault("E_MUTATION_ENGINE", `UID not found/generated for xid _:${node.label}\n`);
      }
      case "variable":
        throw new Fault("E_MUTATION", `variables [${node.name}] not defined`);
    }
  }
}
