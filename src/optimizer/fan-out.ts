/** How many edges nodes have, and how many nodes a predicate has: from heads of lists, and the counts of a few nodes. */
import { must } from "../base/assert.ts";
import { unionAll } from "../base/sorted.ts";
import type { ColumnRequest, ListRef, Reader } from "../graph/reader.ts";
import type { UidSet } from "../model/uid.ts";
import type { PredicateUse } from "../plan/plan.ts";
import { edgeSampleNodes, edgeSamplePlaces } from "./costs.ts";

/** Price: a head for each predicate, and up to `edgeSampleNodes` records for each that is followed; each once. */
export class FanOuts {
  readonly #reader: Reader;
  readonly #fanOuts = new Map<string, number | undefined>();
  readonly #present = new Map<string, number | undefined>();

  constructor(reader: Reader) {
    this.#reader = reader;
  }

  /** Nodes that have a predicate; of `~p` those that are pointed at. undefined: no list tells. */
  async present(use: PredicateUse): Promise<number | undefined> {
    const key = keyOf(use);
    if (!this.#present.has(key)) {
      const list = listOfUse(use);
      this.#present.set(key, list === undefined ? undefined : await this.#count(list));
    }
    return this.#present.get(key);
  }

  /** Edges of a node on the average of those that have some. */
  async of(use: PredicateUse): Promise<number | undefined> {
    const key = keyOf(use);
    if (!this.#fanOuts.has(key)) this.#fanOuts.set(key, await this.#sample(use));
    return this.#fanOuts.get(key);
  }

  async #count(list: ListRef): Promise<number> {
    const [counted] = await this.#reader.countLists([list]);
    return must(counted, "one list was counted");
  }

  /** Nodes from all over a list: the oldest ones often have the most edges. */
  async #spread(list: ListRef): Promise<UidSet> {
    const total = await this.#count(list);
    const places = total <= edgeSampleNodes ? 1 : edgeSamplePlaces;
    const sets: UidSet[] = [];
    for (let i = 0; i < places; i++) {
      const skip = Math.floor((total * i) / places);
      sets.push(
        ...(await this.#reader.readLists([list], { skip, limit: edgeSampleNodes / places })),
      );
    }
    return unionAll(sets);
  }

  async #sample(use: PredicateUse): Promise<number | undefined> {
    const list = listOfUse(use);
    const request = requestOfUse(use);
    if (list === undefined || request === undefined) return undefined;
    const nodes = await this.#spread(list);
    if (nodes.length === 0) return 0;
    const [column] = await this.#reader.readLevel(nodes, [request]);
    if (column?.kind !== "count") return undefined;
    let sum = 0;
    for (const count of column.counts) sum += count;
    return sum / nodes.length;
  }
}

function keyOf(use: PredicateUse): string {
  return `${use.reverse ? "~" : ""}${use.name}`;
}

/** The nodes that have a predicate or, for `~`, that are pointed at. */
function listOfUse(use: PredicateUse): ListRef | undefined {
  const { predicate } = use;
  if (predicate === undefined) return undefined;
  if (!use.reverse) return { kind: "presence", predicate: predicate.id };
  const index = predicate.reverseIndex;
  return index === undefined ? undefined : { kind: "objects", index: index.id };
}

function requestOfUse(use: PredicateUse): ColumnRequest | undefined {
  const { predicate } = use;
  if (predicate === undefined) return undefined;
  if (!use.reverse) return { kind: "count", predicate: predicate.id };
  const index = predicate.reverseIndex;
  return index === undefined ? undefined : { kind: "reverseCount", index: index.id };
}
