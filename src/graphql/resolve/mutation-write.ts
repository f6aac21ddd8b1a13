/**
 * The tree of an input with what was found of it → facts: link what exists, create what does not, refuse what fits
 * neither (reference/graphql 5.2). Nothing is read here.
 */
import { assert } from "../../base/assert.ts";
import type {
  FieldDefinition,
  InputObjectType,
  NamedType,
  NodeType,
} from "../schema/compiled-schema.ts";
import type { Guard } from "./lower-context.ts";
import { EdgeChanges } from "./mutation-edges.ts";
import type { NodeKey } from "./mutation-edges.ts";
import { refOf } from "./mutation-edges.ts";
import { defaultFactOf } from "./mutation-facts.ts";
import { FactList } from "./mutation-facts.ts";
import { inverseOf, pathOf, xidFields } from "./mutation-input.ts";
import type { InputChild, InputNode, InputPlace, InputXid } from "./mutation-input.ts";
import type { FoundNode, Lookups } from "./mutation-lookup.ts";
import { MutationRefused, notAuthorized } from "./mutation-refused.ts";
import type { InputProblem, ProblemDetail } from "./mutation-refused.ts";
import { foreignHolder, type Sight } from "./mutation-sight.ts";
import type { MutationStage } from "./mutation-stage.ts";
import { argumentText } from "../operation/arguments.ts";
import type { ArgumentObject } from "../operation/arguments.ts";

export interface CreatedNode {
  readonly type: NodeType;
  readonly key: NodeKey;
  readonly place: InputPlace | undefined;
}

/** Something that is wrong because of nodes which not every caller may see. */
interface HiddenProblem {
  /** By whose rules those nodes are judged. */
  readonly type: NamedType;
  readonly text: string;
  readonly detail: ProblemDetail;
  /** The nodes that it tells of; [] where it tells that there is none. */
  readonly about: readonly number[];
}

/** A node that has an id of an object. */
interface ExistingNode {
  readonly uid: number;
  readonly xid: InputXid;
  /** The type by whose rules the caller may know of it. */
  readonly judge: NodeType;
  /** Of another type, where the id is unique in the whole interface. */
  readonly isForeign: boolean;
}

const severalFound = "multiple nodes found for given xid values, updation not possible";

export class NodeWriter {
  readonly facts = new FactList();
  readonly edges: EdgeChanges;
  readonly #lookups: Lookups;
  readonly #sight: Sight;
  readonly #definitions: ReadonlyMap<string, InputNode>;
  readonly #created = new Map<InputNode, NodeKey>();
  readonly #nowMs: number;
  readonly #guard: Guard | undefined;
  readonly #updatable: ReadonlySet<number> | undefined;
  readonly problems: InputProblem[] = [];
  #hidden: HiddenProblem[] = [];
  /** Problems that tell of nodes which the caller may not see. */
  readonly #untold: string[] = [];

  /** `updatable`: the nodes that an upsert may update; undefined: all of them. */
  constructor(
    stage: Pick<MutationStage, "clock" | "guard">,
    lookups: Lookups,
    sight: Sight,
    definitions: ReadonlyMap<string, InputNode>,
    updatable?: ReadonlySet<number>,
  ) {
    this.edges = new EdgeChanges(stage.guard);
    this.#lookups = lookups;
    this.#sight = sight;
    this.#definitions = definitions;
    this.#nowMs = stage.clock.nowMs();
    this.#guard = stage.guard;
    this.#updatable = updatable;
  }

  get createdCount(): number {
    return this.#created.size;
  }

  /** New nodes, nested ones included. */
  get created(): readonly CreatedNode[] {
    return Array.from(this.#created, ([{ type, place }, key]) => ({ type, key, place }));
  }

  /** Notes what is wrong because of nodes of a type that exist (`about`), or do not. */
  refuse(
    type: NamedType,
    { text, detail }: Required<InputProblem>,
    about: readonly number[] = [],
  ): void {
    const told = { text, detail: detail ?? badInput };
    if (this.#guard?.hides(type) === true) this.#hidden.push({ type, ...told, about });
    else this.problems.push(told);
  }

  /** The problems that are still to be judged, once. */
  takeHidden(): readonly HiddenProblem[] {
    const taken = this.#hidden;
    this.#hidden = [];
    return taken;
  }

  /** `isSeen`: whether the caller may know of it. */
  tell({ text, detail }: HiddenProblem, isSeen: boolean): void {
    if (isSeen) this.problems.push({ text, detail });
    else this.#untold.push(text);
  }

  /** An object at the top of an add. undefined: refused, see `finish`; or a node that the caller may not update. */
  addTop(node: InputNode, isUpsert: boolean): NodeKey | undefined {
    const found = this.#existing(node);
    if (found.length > 0 && isUpsert && found.every(({ isForeign }) => !isForeign)) {
      const uids = new Set(found.map(({ uid }) => uid));
      const [uid] = uids;
      if (uids.size > 1 || uid === undefined) {
        this.refuse(node.type, severalProblem(node), [...uids]);
        return undefined;
      }
      if (this.#updatable?.has(uid) === false) return undefined;
      this.update(uid, node.type, node.values, node.children);
      return uid;
    }
    const [taken] = isUpsert ? found.filter(({ isForeign }) => isForeign) : found;
    if (taken !== undefined) {
      this.refuse(taken.judge, takenProblem(node, taken.xid, taken.isForeign), [taken.uid]);
      return undefined;
    }
    return this.#create(node);
  }

  /** Writes a patch over a node that exists. */
  update(
    uid: number,
    type: NodeType,
    values: ArgumentObject,
    children: readonly InputChild[],
  ): void {
    this.#writeValues(uid, type, values, "update");
    this.#writeChildren(uid, children);
  }

  /** The node that a reference names, created where it does not exist. undefined: refused. */
  link(node: InputNode): NodeKey | undefined {
    const existing = this.#referenced(node);
    if (typeof existing !== "string") return existing;
    const definition = this.#definitionOf(node);
    const created = this.#created.get(definition);
    if (created !== undefined) return created;
    if (node.type.kind === "interface") {
      const [xid] = node.xids;
      this.problems.push({
        text: xid === undefined ? "id is not provided" : unknownMessage(node.type, xid.text),
        detail: detailOf(node, xid === undefined ? "FIELD_MISSING" : "NOT_FOUND"),
      });
      return undefined;
    }
    // The node may be defined at the top, further on: it is created under its own rules then.
    const problem =
      definition.edge === undefined ? undefined : findIncomplete(definition, node.edge);
    if (problem !== undefined) {
      this.problems.push(problem);
      return undefined;
    }
    if (existing === "new") return this.#create(definition);
    const [xid] = node.xids;
    this.#untold.push(xid === undefined ? "" : takenMessage(node.type, xid, false));
    return undefined;
  }

  /** The node that a reference names in a removal: it must exist. */
  referenceOf(node: InputNode): number | undefined {
    const existing = this.#referenced(node);
    if (typeof existing !== "string") return existing;
    const missing = { text: "id is not provided", detail: detailOf(node, "FIELD_MISSING") };
    this.problems.push(findIncomplete(node, node.edge) ?? missing);
    return undefined;
  }

  /** Throws with all problems. */
  finish(): void {
    const untold = [...this.#untold, ...this.#hidden.map(({ text }) => text)];
    if (untold.length > 0) throw notAuthorized(untold);
    if (this.problems.length > 0) throw new MutationRefused("rewrite", this.problems);
  }

  /**
   * An existing node; "new" where ids name none, "hidden" where they name one that is as good as none for the caller;
   * undefined where they are refused.
   */
  #referenced(node: InputNode): number | "new" | "hidden" | undefined {
    const { type, id } = node;
    if (id !== undefined) {
      const found = this.#lookups.byId(id);
      const isOfType = found?.types.has(type.node.typeName) === true;
      if (isOfType && !this.#sight.hides(type, found.uid)) return found.uid;
      this.refuse(type, { text: unknownMessage(type, id), detail: detailOf(node, "NOT_FOUND") });
      return undefined;
    }
    const { seen, unseen } = this.#holders(node);
    if (seen.size === 0 && unseen.size > 0 && this.#sight.isBarred(node)) return "hidden";
    const uids = seen.size > 0 ? seen : unseen;
    const [uid] = uids;
    if (uid === undefined) {
      const foreign = this.#existing(node).find(({ isForeign }) => isForeign);
      if (foreign === undefined) return "new";
      if (this.#sight.hides(foreign.judge, foreign.uid)) return "hidden";
      this.refuse(foreign.judge, takenProblem(node, foreign.xid, true), [foreign.uid]);
      return undefined;
    }
    if (uids.size === 1) return uid;
    this.refuse(type, severalProblem(node), [...uids]);
    return undefined;
  }

  /** The nodes of the reference's type that have its ids. */
  #holders({ type, xids }: InputNode): Record<"seen" | "unseen", ReadonlySet<number>> {
    const seen = new Set<number>();
    const unseen = new Set<number>();
    for (const xid of xids) {
      const found = this.#ofType(xid, type);
      if (found !== undefined) (this.#sight.hides(type, found.uid) ? unseen : seen).add(found.uid);
    }
    return { seen, unseen };
  }

  #ofType(xid: InputXid, type: NodeType): FoundNode | undefined {
    const nodes = this.#lookups.byKey(xid.key).filter((node) => node.types.has(type.node.typeName));
    const second = nodes[1];
    if (second !== undefined) {
      const text = `Found multiple nodes with ID: 0x${second.uid.toString(16)}`;
      if (this.#guard?.hides(type) === true) throw notAuthorized([text]);
      throw new MutationRefused("failed", [{ text }]);
    }
    return nodes[0];
  }

  /** Nodes that have the object's ids already, in the order of the id fields. */
  #existing(node: InputNode): ExistingNode[] {
    const existing: ExistingNode[] = [];
    for (const xid of node.xids) {
      const own = this.#ofType(xid, node.type);
      if (own !== undefined)
        existing.push({ uid: own.uid, xid, judge: node.type, isForeign: false });
      else {
        const foreign = foreignHolder(this.#lookups, node.type, xid);
        if (foreign === undefined) continue;
        existing.push({ uid: foreign.node.uid, xid, judge: foreign.face, isForeign: true });
      }
    }
    return existing;
  }

  #definitionOf(node: InputNode): InputNode {
    for (const xid of node.xids) {
      const definition = this.#definitions.get(xid.key);
      if (definition !== undefined && definition !== node) return definition;
    }
    return node;
  }

  #create(node: InputNode): NodeKey {
    const known = this.#created.get(node);
    if (known !== undefined) return known;
    const key = `n${this.#created.size}`;
    this.#created.set(node, key);
    this.facts.addTypes(refOf(key), node.type);
    this.#writeValues(key, node.type, node.values, "add");
    this.#writeChildren(key, node.children);
    return key;
  }

  #writeValues(key: NodeKey, type: NodeType, values: ArgumentObject, when: "add" | "update"): void {
    const subject = refOf(key);
    for (const field of type.fields.values()) {
      if (field.source.kind !== "value") continue;
      const given = field.name in values ? values[field.name] : undefined;
      const value = given === undefined ? defaultFactOf(field, when, this.#nowMs) : given;
      this.facts.addValue(subject, field, value);
    }
    const secret = type.node.secret;
    const password = secret === undefined ? undefined : values[secret.name];
    if (secret === undefined || password === undefined || password === null) return;
    this.facts.addPassword(subject, secret.predicate, argumentText(password));
  }

  #writeChildren(key: NodeKey, children: readonly InputChild[]): void {
    for (const { field, nodes } of children) {
      for (const node of nodes ?? []) {
        const target = this.link(node);
        if (target !== undefined) this.edges.add(key, field, target);
      }
    }
  }
}

function unknownMessage(type: NodeType, id: string): string {
  return `ID "${id}" isn't a ${type.name}`;
}

const badInput: ProblemDetail = { code: "BAD_USER_INPUT" };

/** `xid`: the id that it is about; undefined: the one by which the object names its node. */
function detailOf(
  { type, id, xids, place }: InputNode,
  code: ProblemDetail["code"],
  xid: InputXid | undefined = xids[0],
): ProblemDetail {
  if (id !== undefined) {
    const field = type.node.id?.name;
    return { code, type: type.name, field, value: id, input: pathOf(place, field) };
  }
  const field = xid?.field.name;
  return { code, type: type.name, field, value: xid?.text, input: pathOf(place, field) };
}

function severalProblem(node: InputNode): Required<InputProblem> {
  return { text: severalFound, detail: detailOf(node, "BAD_USER_INPUT") };
}

export function takenProblem(
  node: Pick<InputNode, "type" | "place">,
  xid: InputXid,
  isForeign: boolean,
): Required<InputProblem> {
  const { type, place } = node;
  const { name } = xid.field;
  return {
    text: takenMessage(type, xid, isForeign),
    detail: {
      code: "ID_TAKEN",
      type: type.name,
      field: name,
      value: xid.text,
      input: pathOf(place, name),
    },
  };
}

function takenMessage(type: NodeType, xid: InputXid, isForeign: boolean): string {
  const source = xid.field.source;
  const where =
    isForeign && source.kind === "value"
      ? `in some other implementing type of interface ${source.declaredIn}`
      : `inside type ${type.name}`;
  return `id ${xid.text} already exists for field ${xid.field.name} ${where}`;
}

/**
 * What a new nested node lacks first: one without any id its first required id, one with an id its first required
 * field. Of nodes without ids nothing more is asked, as in the reference; the way back to the enclosing node need not
 * be given.
 */
function findIncomplete(
  node: InputNode,
  edge: FieldDefinition | undefined,
): Required<InputProblem> | undefined {
  if (node.xids.length === 0) {
    const id = xidFields(node.type).find((field) => field.type.nonNull);
    return id && { text: `field ${id.name} cannot be empty`, detail: missingOf(node, id.name) };
  }
  const parent = inverseOf(edge);
  for (const field of node.type.fields.values()) {
    if (!field.type.nonNull || field.name === parent?.name || !isInput(field)) continue;
    const value = node.values[field.name];
    if (value !== undefined && value !== null) continue;
    const text = `type ${node.type.name} requires a value for field ${field.name}, but no value present`;
    // Who gives ids alone means a node that is there.
    const isReference = Object.keys(node.values).length === node.xids.length;
    return {
      text,
      detail: isReference ? detailOf(node, "NOT_FOUND") : missingOf(node, field.name),
    };
  }
  return undefined;
}

function missingOf({ type, place }: InputNode, field: string): ProblemDetail {
  return { code: "FIELD_MISSING", type: type.name, field, input: pathOf(place, field) };
}

/** Whether a field is given by inputs, and has no default of its own. */
function isInput(field: FieldDefinition): boolean {
  const source = field.source;
  if (source.kind === "value") return !source.isReadOnly && source.defaults.add === undefined;
  return source.kind === "edge" && !source.isReverse;
}

/** The input type of a type's objects at the top of an add; it exists where the mutation does. */
export function addInputOf(type: NodeType): InputObjectType {
  const input = type.node.addInput;
  assert(input !== undefined, "an add mutation has an input type");
  return input;
}
