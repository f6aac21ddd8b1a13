/**
 * Edges of a mutation with their other sides (reference/graphql 5.5): each edge of a field with an inverse is two, and
 * a single edge that gets a new end gives up the old one on both sides. What decides is read once, for all nodes.
 */
import { must } from "../../base/assert.ts";
import { andThen } from "../../base/maybe.ts";
import type { MaybePromise } from "../../base/maybe.ts";
import type { Reader } from "../../graph/reader.ts";
import type { NodeRef } from "../../model/nquad.ts";
import type { EdgeSource, FieldDefinition, NamedType } from "../schema/compiled-schema.ts";
import type { Guard } from "./lower-context.ts";
import type { FactList } from "./mutation-facts.ts";

/** A node of a mutation: one that exists, or the label of a new one. */
export type NodeKey = number | string;

export function refOf(key: NodeKey): NodeRef {
  return typeof key === "number" ? { kind: "uid", uid: key } : { kind: "blank", label: key };
}

type Step =
  | {
      readonly kind: "add" | "remove";
      readonly subject: NodeKey;
      readonly edge: EdgeSource;
      readonly object: NodeKey;
    }
  | { readonly kind: "clear"; readonly subject: NodeKey; readonly edge: EdgeSource };

type FindHidden = (type: NamedType, uids: readonly number[]) => Promise<ReadonlySet<number>>;

/** Edge changes in the order in which they are asked for; the last word on an edge counts. */
export class EdgeChanges {
  readonly #steps: Step[] = [];
  readonly #current = new Map<string, Set<NodeKey>>();
  readonly #changes = new Map<string, Change>();
  /**
   * Nodes that the mutation changes without naming them as its own, by the type that the edge says: those that lose an
   * edge because another node takes its end over, and those whose edge is changed from the other side, where it is a
   * single one or a rule goes by it. Any other list may be added to from its other side (as in the reference). After
   * `write`.
   */
  readonly counterparts = new Map<NamedType, Set<number>>();
  /** Ends of lists that are cleared which the caller does not see: for him they are not there, and they stay. */
  readonly #spared = new Map<NamedType, ReadonlySet<number>>();
  readonly #guard: Pick<Guard, "goesBy" | "hides"> | undefined;

  /** `guard` undefined: nobody asks for the counterparts. */
  constructor(guard: Pick<Guard, "goesBy" | "hides"> | undefined) {
    this.#guard = guard;
  }

  add(subject: NodeKey, field: FieldDefinition, object: NodeKey): void {
    if (field.source.kind !== "edge") return;
    this.#steps.push({ kind: "add", subject, edge: field.source, object });
  }

  remove(subject: NodeKey, field: FieldDefinition, object: NodeKey): void {
    if (field.source.kind !== "edge") return;
    this.#steps.push({ kind: "remove", subject, edge: field.source, object });
  }

  /** All edges of the field. */
  clear(subject: NodeKey, field: FieldDefinition): void {
    if (field.source.kind === "edge")
      this.#steps.push({ kind: "clear", subject, edge: field.source });
  }

  /** Reads what the changes depend on, and turns them into facts. `findHidden`: of some nodes those that the caller does not see. */
  write(reader: Reader, facts: FactList, findHidden?: FindHidden): MaybePromise<void> {
    if (this.#steps.length === 0) return undefined;
    return andThen(this.#read(reader), () =>
      andThen(this.#spare(findHidden), () => this.#turn(facts)),
    );
  }

  #spare(findHidden: FindHidden | undefined): MaybePromise<void> {
    const cleared = new Map<NamedType, Set<number>>();
    for (const { kind, subject, edge } of this.#steps) {
      if (kind !== "clear" || !edge.isList || this.#guard?.hides(edge.target) !== true) continue;
      // A guarded edge is asked for as a whole.
      if (inverseEdge(edge) === undefined || this.#isGuarded(edge)) continue;
      const uids = cleared.get(edge.target) ?? new Set();
      cleared.set(edge.target, uids);
      for (const object of this.#targets(subject, edge))
        if (typeof object === "number") uids.add(object);
    }
    if (findHidden === undefined || cleared.size === 0) return undefined;
    return this.#askWhichStay(cleared, findHidden);
  }

  async #askWhichStay(
    cleared: ReadonlyMap<NamedType, ReadonlySet<number>>,
    findHidden: FindHidden,
  ): Promise<void> {
    for (const [type, uids] of cleared) this.#spared.set(type, await findHidden(type, [...uids]));
  }

  #turn(facts: FactList): void {
    for (const step of this.#steps) {
      if (step.kind === "add") this.#link(step.subject, step.edge, step.object);
      else if (step.kind === "remove") {
        if (this.#isGuarded(step.edge) && this.#isThere(step.subject, step.edge, step.object))
          this.#note(step.edge.target, step.object);
        this.#unlink(step.subject, step.edge, step.object);
      } else {
        for (const object of this.#targets(step.subject, step.edge)) {
          if (this.#isSpared(step.edge, object)) continue;
          if (this.#isGuarded(step.edge)) this.#note(step.edge.target, object);
          this.#unlink(step.subject, step.edge, object);
        }
      }
    }
    for (const change of this.#changes.values()) {
      const subject = refOf(change.subject);
      const object = refOf(change.object);
      if (change.isSet) facts.addEdge(subject, change.predicate, object);
      else facts.removeEdge(subject, change.predicate, object);
    }
  }

  #isSpared({ isList, target }: EdgeSource, object: NodeKey): boolean {
    return isList && typeof object === "number" && this.#spared.get(target)?.has(object) === true;
  }

  /** Current ends of edges whose change touches them: single sides, and fields that are cleared. */
  #read(reader: Reader): MaybePromise<void> {
    const wanted = new Map<string, Set<number>>();
    const request = (node: NodeKey, predicate: string): void => {
      if (typeof node !== "number") return;
      const nodes = wanted.get(predicate);
      if (nodes === undefined) wanted.set(predicate, new Set([node]));
      else nodes.add(node);
    };
    for (const step of this.#steps) {
      const { edge } = step;
      const inverse = inverseEdge(edge);
      const isGuarded = this.#isGuarded(edge);
      if (step.kind === "clear") request(step.subject, edge.predicate);
      else {
        if (inverse !== undefined && (isGuarded || !inverse.isList))
          request(step.object, inverse.predicate);
        const isMoved = step.kind === "add" && !edge.isList && inverse !== undefined;
        if (isMoved || (isGuarded && inverse === undefined)) request(step.subject, edge.predicate);
      }
    }
    if (wanted.size === 0) return undefined;
    return readEdgeFacts(reader, wanted, (node, predicate, object) => {
      this.#targetsOf(node, predicate).add(object);
    });
  }

  #link(subject: NodeKey, edge: EdgeSource, object: NodeKey): void {
    const inverse = inverseEdge(edge);
    if (this.#isGuarded(edge) && !this.#isThere(subject, edge, object))
      this.#note(edge.target, object);
    if (inverse === undefined) {
      if (!edge.isList) this.#supersede(subject, edge, object);
      this.#change(subject, edge.predicate, object, true);
      return;
    }
    if (!edge.isList) this.#evict(subject, edge, object);
    if (!inverse.isList) this.#evict(object, inverse, subject);
    this.#change(subject, edge.predicate, object, true);
    this.#change(object, inverse.predicate, subject, true);
    this.#targets(subject, edge).add(object);
    this.#targets(object, inverse).add(subject);
  }

  #unlink(subject: NodeKey, edge: EdgeSource, object: NodeKey): void {
    const inverse = inverseEdge(edge);
    this.#change(subject, edge.predicate, object, false);
    this.#targets(subject, edge).delete(object);
    if (inverse === undefined) return;
    this.#change(object, inverse.predicate, subject, false);
    this.#targets(object, inverse).delete(subject);
  }

  /** A single edge gives up its other ends. */
  #evict(subject: NodeKey, edge: EdgeSource, kept: NodeKey): void {
    for (const object of this.#targets(subject, edge)) {
      if (object === kept) continue;
      this.#note(edge.target, object);
      this.#unlink(subject, edge, object);
    }
  }

  /** Whether the node that an edge leads to is changed with it, and must be one that the caller may update. */
  #isGuarded(edge: EdgeSource): boolean {
    return inverseEdge(edge)?.isList === false || this.#guard?.goesBy(edge) === true;
  }

  /** Whether a guarded edge is there already, as its other end has it. */
  #isThere(subject: NodeKey, edge: EdgeSource, object: NodeKey): boolean {
    const inverse = inverseEdge(edge);
    return inverse === undefined
      ? this.#targets(subject, edge).has(object)
      : this.#targets(object, inverse).has(subject);
  }

  #note(type: NamedType, node: NodeKey): void {
    if (typeof node !== "number") return;
    const nodes = this.counterparts.get(type);
    if (nodes === undefined) this.counterparts.set(type, new Set([node]));
    else nodes.add(node);
  }

  /** Of several new ends that a single edge is given, the last stays; the one that it had is let go. */
  #supersede(subject: NodeKey, edge: EdgeSource, kept: NodeKey): void {
    if (this.#isGuarded(edge))
      for (const object of this.#targets(subject, edge))
        if (object !== kept) this.#note(edge.target, object);
    for (const change of this.#changes.values()) {
      if (change.subject !== subject || change.predicate !== edge.predicate) continue;
      if (change.isSet && change.object !== kept) this.#changes.delete(changeKey(change));
    }
  }

  #targets(subject: NodeKey, edge: EdgeSource): Set<NodeKey> {
    return this.#targetsOf(subject, edge.predicate);
  }

  #targetsOf(subject: NodeKey, predicate: string): Set<NodeKey> {
    const key = `${subject} ${predicate}`;
    let targets = this.#current.get(key);
    if (targets === undefined) this.#current.set(key, (targets = new Set()));
    return targets;
  }

  #change(subject: NodeKey, predicate: string, object: NodeKey, isSet: boolean): void {
    const change = { subject, predicate, object, isSet };
    const key = changeKey(change);
    // An edge between new nodes that is taken back was never there.
    const isNew = typeof subject === "string" || typeof object === "string";
    if (!isSet && isNew) this.#changes.delete(key);
    else this.#changes.set(key, change);
  }
}

interface Change {
  readonly subject: NodeKey;
  readonly predicate: string;
  readonly object: NodeKey;
  readonly isSet: boolean;
}

function changeKey(change: Change): string {
  return `${change.subject} ${change.predicate} ${change.object}`;
}

function inverseEdge(edge: EdgeSource): EdgeSource | undefined {
  return edge.inverse?.source.kind === "edge" ? edge.inverse.source : undefined;
}

/** The targets of several nodes' edges, in one read. */
export function readEdgeFacts(
  reader: Reader,
  wanted: ReadonlyMap<string, ReadonlySet<number>>,
  visit: (node: number, predicate: string, target: number) => void,
): MaybePromise<void> {
  const uids = new Float64Array(
    new Set([...wanted.values()].flatMap((nodes) => [...nodes])),
  ).sort();
  const known = [...wanted.keys()].flatMap((name) => {
    const predicate = reader.schema.predicate(name);
    return predicate === undefined ? [] : [{ name, id: predicate.id }];
  });
  if (known.length === 0) return undefined;
  const requests = known.map(
    ({ id }) => ({ kind: "edges", predicate: id, facets: false }) as const,
  );
  return andThen(reader.readLevel(uids, requests), (columns) => {
    known.forEach(({ name }, k) => {
      const column = must(columns[k], "a column for each predicate");
      for (let i = 0; i < uids.length; i++) {
        for (
          let e = must(column.offsets[i], "each row has its edges");
          e < must(column.offsets[i + 1], "each row has its edges");
          e++
        ) {
          visit(
            must(uids[i], "each row has its node"),
            name,
            must(column.targets[e], "each edge has its target"),
          );
        }
      }
    });
  });
}
