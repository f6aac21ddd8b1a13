/**
 * Predicates that mutations bring up. The schema of a namespace is one row for all who add to it: those that come while
 * one addition is under way are added together by the next, instead of losing to each other one after the other.
 */
import type { PredicateDefinition } from "../model/definition.ts";

type Add = (namespace: number, definitions: readonly PredicateDefinition[]) => Promise<void>;

interface Batch {
  readonly definitions: PredicateDefinition[];
  readonly added: Promise<void>;
}

export class InferredPredicates {
  readonly #add: Add;
  /** By namespace: what is under way, and what waits for its end. */
  readonly #running = new Map<number, Promise<void>>();
  readonly #waiting = new Map<number, Batch>();

  constructor(add: Add) {
    this.#add = add;
  }

  /** Of two definitions of one predicate the first counts. Rejects as the addition does. */
  add(namespace: number, definitions: readonly PredicateDefinition[]): Promise<void> {
    const waiting = this.#waiting.get(namespace);
    if (waiting !== undefined) {
      for (const definition of definitions) waiting.definitions.push(definition);
      return waiting.added;
    }
    const running = this.#running.get(namespace);
    if (running === undefined) return this.#run(namespace, definitions);
    const own = [...definitions];
    const added = this.#addAfter(running, namespace, own);
    this.#waiting.set(namespace, { definitions: own, added });
    return added;
  }

  async #addAfter(
    running: Promise<void>,
    namespace: number,
    definitions: readonly PredicateDefinition[],
  ): Promise<void> {
    // What became of it is told to those who waited for it.
    await running.catch(() => undefined);
    this.#waiting.delete(namespace);
    await this.#run(namespace, definitions);
  }

  #run(namespace: number, definitions: readonly PredicateDefinition[]): Promise<void> {
    const added = this.#add(namespace, definitions).finally(() => {
      if (this.#running.get(namespace) === added) this.#running.delete(namespace);
    });
    this.#running.set(namespace, added);
    return added;
  }
}
