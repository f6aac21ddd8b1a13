/** Blank nodes → uids: one label is one node over the whole request (reference/dql 3.2). */
import { must } from "../base/assert.ts";
import { drive, type MaybePromise, type Steps } from "../base/maybe.ts";
import { Fault } from "../model/fault.ts";
import type { NodeRef, NQuad } from "../model/nquad.ts";
import type { Look } from "../model/request-budget.ts";

/** What the store offers for it. */
export interface UidSource {
  lease(count: number): Promise<number>;
  reserve(uid: number): MaybePromise<void>;
}

const noneAdded: ReadonlyMap<string, number> = new Map();

const noLabels: ReadonlySet<string> = new Set();

/** What is gathered of facts. */
interface Fresh {
  labels: Set<string> | undefined;
  waiting: Map<number, Promise<void>> | undefined;
  /** The last ones seen. */
  label: string | undefined;
  uid: number | undefined;
}

/** So many facts are looked through without a look at the time. */
const factsAtOnce = 1024;

/** The nodes of one scope: a request's, or a managed transaction's over several calls. */
export class BlankNodes {
  #uids: Map<string, number>;
  /** What an earlier try of the request has leased: a label keeps its uid, and is none of the request's until it is set. */
  #leased: ReadonlyMap<string, number> = noneAdded;

  constructor(known?: ReadonlyMap<string, number>) {
    this.#uids = new Map(known);
  }

  /** The request is tried again, and may set other facts. */
  beginAgain(): void {
    if (this.#uids.size === 0) return;
    this.#leased = new Map([...this.#leased, ...this.#uids]);
    this.#uids = new Map();
  }

  /** Label → uid of everything assigned so far, by the newest try. */
  get uids(): ReadonlyMap<string, number> {
    return this.#uids;
  }

  /**
   * Leases uids for the new labels of facts that are set, in one call, and sees to it that explicit uids are never
   * handed out. Returns the labels that are new. `look`: asked on the way through many facts.
   */
  assign(
    facts: readonly NQuad[],
    source: UidSource,
    look?: Look,
  ): MaybePromise<ReadonlyMap<string, number>> {
    if (look !== undefined && facts.length > factsAtOnce) {
      return drive(this.#assignInSteps(facts, source, look));
    }
    const fresh: Fresh = {
      labels: undefined,
      label: undefined,
      waiting: undefined,
      uid: undefined,
    };
    for (const fact of facts) this.#noteFact(fact, fresh, source);
    const { labels, waiting } = fresh;
    if (waiting !== undefined) {
      return Promise.all(waiting.values()).then(() => this.#name(labels ?? noLabels, source));
    }
    return labels === undefined ? noneAdded : this.#name(labels, source);
  }

  *#assignInSteps(
    facts: readonly NQuad[],
    source: UidSource,
    look: Look,
  ): Steps<ReadonlyMap<string, number>> {
    const fresh: Fresh = {
      labels: undefined,
      label: undefined,
      waiting: undefined,
      uid: undefined,
    };
    for (let i = 0; i < facts.length; i++) {
      this.#noteFact(must(facts[i], "within bounds"), fresh, source);
      if (i % factsAtOnce === factsAtOnce - 1) yield look(factsAtOnce);
    }
    const { labels, waiting } = fresh;
    if (waiting !== undefined) yield Promise.all(waiting.values());
    if (labels === undefined) return noneAdded;
    let uid = 0;
    yield source.lease(labels.size).then((first) => (uid = first));
    const added = new Map<string, number>();
    for (const label of labels) {
      this.#uids.set(label, uid);
      added.set(label, uid);
      uid++;
      if (added.size % factsAtOnce === 0) yield look(factsAtOnce);
    }
    return added;
  }

  #noteFact({ subject, object }: NQuad, fresh: Fresh, source: UidSource): void {
    this.#note(subject, fresh, source);
    if (object.kind === "node") this.#note(object.node, fresh, source);
  }

  /** Facts of one node mostly follow each other: the last label and uid are not looked at again. */
  #note(node: NodeRef, fresh: Fresh, source: UidSource): void {
    if (node.kind === "uid") {
      if (node.uid === fresh.uid) return;
      fresh.uid = node.uid;
      if (fresh.waiting?.has(node.uid) === true) return;
      const reserved = source.reserve(node.uid);
      if (reserved instanceof Promise) (fresh.waiting ??= new Map()).set(node.uid, reserved);
    } else if (node.kind === "blank" && node.label !== fresh.label) {
      fresh.label = node.label;
      if (this.#uids.has(node.label)) return;
      const leased = this.#leased.get(node.label);
      if (leased === undefined) (fresh.labels ??= new Set()).add(node.label);
      else this.#uids.set(node.label, leased);
    }
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
