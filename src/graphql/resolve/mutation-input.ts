/**
 * Objects of a mutation's input as a tree of nodes to be: which of them name an existing node, by which ids, and
 * which say the same node twice (reference/graphql 5.2). Nothing is read here: all that must be looked up is known from
 * the input alone, so that one read serves every level.
 */
import { assert } from "../../base/assert.ts";
import type {
  EdgeSource,
  FieldDefinition,
  InputObjectType,
  NodeType,
} from "../schema/compiled-schema.ts";
import { MutationRefused } from "./mutation-refused.ts";
import type { InputProblem, ProblemDetail } from "./mutation-refused.ts";
import { isUidText } from "./lower-filter.ts";
import { argumentText, isArgumentList, isArgumentObject } from "../operation/arguments.ts";
import type { ArgumentObject, ArgumentValue } from "../operation/arguments.ts";
import { isNode } from "../operation/meta.ts";

/** One object of the input. */
export interface InputNode {
  readonly type: NodeType;
  readonly values: ArgumentObject;
  /** The edge that leads here; undefined at the top. */
  readonly edge: FieldDefinition | undefined;
  /** The ID as given; undefined for none. */
  readonly id: string | undefined;
  /** The `@id` values, by field name in alphabetical order. */
  readonly xids: readonly InputXid[];
  readonly place: InputPlace | undefined;
  /** Edges of the object, by name; none where another object says what the node is. */
  readonly children: readonly InputChild[];
}

/** Where an object stands: its step, and the place of what it stands in. */
export interface InputPlace {
  readonly up: InputPlace | undefined;
  readonly step: string | number;
}

/** The steps from the arguments of the root field on, `last` behind them. */
export function pathOf(place: InputPlace | undefined, last?: string): readonly (string | number)[] {
  const steps: (string | number)[] = last === undefined ? [] : [last];
  for (let at = place; at !== undefined; at = at.up) steps.unshift(at.step);
  return steps;
}

const inputPlace: InputPlace = { up: undefined, step: "input" };

/** Of a patch: `set` or `remove`. */
export function patchPlace(step: "set" | "remove"): InputPlace {
  return { up: inputPlace, step };
}

export interface InputXid {
  readonly field: FieldDefinition;
  /** As given, for messages. */
  readonly text: string;
  /** Tells values apart: predicate and value, numbers by their value. */
  readonly key: string;
}

export interface InputChild {
  readonly field: FieldDefinition;
  /** undefined stands for null: all edges, in a removal. */
  readonly nodes: readonly InputNode[] | undefined;
}

/** An object as it is met. */
interface InputObject {
  readonly type: NodeType;
  readonly input: InputObjectType;
  readonly values: ArgumentObject;
  readonly edge: FieldDefinition | undefined;
  readonly place: InputPlace | undefined;
}

/** A reference to one of several types. */
interface UnionReference {
  readonly parent: NodeType;
  readonly field: FieldDefinition;
  readonly source: EdgeSource;
  /** In a list. */
  readonly index: number | undefined;
  readonly place: InputPlace;
}

/** Every node of an input, and which object says most about each @id value. */
export class InputCollector {
  /** All nodes, outer ones first. */
  readonly nodes: InputNode[] = [];
  /** By key: the object that defines the node. */
  readonly definitions = new Map<string, InputNode>();
  readonly #problems: InputProblem[] = [];
  readonly #topKeys = new Set<string>();
  /** Key and single inverse: the nodes that have their one parent already. */
  readonly #claimed = new Set<string>();

  /** The objects of a list at the top. Throws MutationRefused with every problem found. */
  collectTop(type: NodeType, input: InputObjectType, values: ArgumentValue): InputNode[] {
    const isList = isArgumentList(values);
    const objects = isList ? values : [values];
    const nodes: InputNode[] = [];
    objects.forEach((values, step) => {
      if (!isArgumentObject(values)) return;
      const place = isList ? { up: inputPlace, step } : inputPlace;
      const node = this.#collect({ type, input, values, edge: undefined, place });
      if (node !== undefined) nodes.push(node);
    });
    return nodes;
  }

  /** The edges of a patch; its own ids are no reference. */
  collectPatch(
    type: NodeType,
    input: InputObjectType,
    values: ArgumentObject,
    step: "set" | "remove",
  ): InputChild[] {
    return this.#children({ type, input, values, edge: undefined, place: patchPlace(step) });
  }

  #refuse(text: string, detail: ProblemDetail): void {
    this.#problems.push({ text, detail });
  }

  /** Ends the collection. */
  finish(): void {
    if (this.#problems.length > 0) throw new MutationRefused("rewrite", this.#problems);
  }

  #collect(object: InputObject): InputNode | undefined {
    const { type, values, edge, place } = object;
    const id = this.#idOf(object);
    if (id === false) return undefined;
    if (id !== undefined) {
      const node = { type, values, edge, place, id, xids: [], children: [] };
      this.nodes.push(node);
      return node;
    }
    const children: InputChild[] = [];
    const xids = xidsOf(type, values);
    const node: InputNode = { type, values, edge, place, id: undefined, xids, children };
    const isDefinition = this.#define(node);
    if (isDefinition === undefined) return undefined;
    this.nodes.push(node);
    // What only repeats another object says nothing new.
    if (isDefinition) children.push(...this.#children(object));
    return node;
  }

  /** undefined: no ID given; false: one that is none. */
  #idOf({ type, values, edge, place }: InputObject): string | undefined | false {
    const field = type.node.id;
    if (field === undefined || field.source.kind !== "uid" || edge === undefined) return undefined;
    const value = values[field.name];
    if (value === undefined || value === null) return undefined;
    const text = argumentText(value);
    if (isUidText(text)) return text;
    this.#refuse(`ID argument (${text}) was not able to be parsed`, {
      code: "BAD_USER_INPUT",
      type: type.name,
      field: field.name,
      value: text,
      input: pathOf(place, field.name),
    });
    return false;
  }

  #children(object: InputObject): InputChild[] {
    const { type, input, values, edge: from, place } = object;
    const children: InputChild[] = [];
    const parent = inverseOf(from);
    for (const field of telling(type, input)) {
      const { name } = field;
      const value = values[name];
      if (value === undefined) continue;
      if (field.source.kind !== "edge") {
        if (value !== "") continue;
        this.#refuse(`encountered an empty value for @id field \`${type.name}.${name}\``, {
          code: "BAD_USER_INPUT",
          type: type.name,
          field: name,
          value,
          input: pathOf(place, name),
        });
        break;
      }
      // The enclosing object is the one on the other side, whatever is written here.
      if (name === parent?.name && !field.source.isList) continue;
      const nodes = value === null ? undefined : this.#targets(object, field, field.source, value);
      children.push({ field, nodes });
    }
    return children;
  }

  #targets(
    { type: parent, place: up }: InputObject,
    field: FieldDefinition,
    source: EdgeSource,
    value: ArgumentValue,
  ): InputNode[] {
    const isList = isArgumentList(value);
    const nodes: InputNode[] = [];
    const at = { up, step: field.name };
    (isList ? value : [value]).forEach((item, i) => {
      if (!isArgumentObject(item)) return;
      const place = isList ? { up: at, step: i } : at;
      const target =
        source.target.kind === "union"
          ? this.#member({ parent, field, source, index: isList ? i : undefined, place }, item)
          : { type: source.target, values: item, place };
      if (target === undefined || !isNode(target.type)) return;
      const input = target.type.node.refInput;
      if (input === undefined) return;
      const { type, values } = target;
      const node = this.#collect({ type, input, values, edge: field, place: target.place });
      if (node !== undefined) nodes.push(node);
    });
    return nodes;
  }

  /** The one member that a union's reference names. */
  #member(
    { parent, field, source, index, place }: UnionReference,
    item: ArgumentObject,
  ): Pick<InputObject, "type" | "values" | "place"> | undefined {
    assert(source.target.kind === "union", "a member belongs to a union");
    const input = source.target.refInput;
    const given = Object.keys(item).filter((name) => isArgumentObject(item[name]));
    const [name] = given;
    const member = name === undefined ? undefined : input?.fields.get(name)?.member;
    const values = name === undefined ? undefined : item[name];
    if (given.length === 1 && isNode(member) && isArgumentObject(values)) {
      return { type: member, values, place: { up: place, step: name ?? "" } };
    }
    const where = index === undefined ? "" : ` index \`${index}\``;
    this.#refuse(
      `value for field \`${field.name}\` in type \`${parent.name}\`${where} must have exactly one child, found ${given.length} children`,
      { code: "BAD_USER_INPUT", type: parent.name, field: field.name, input: pathOf(place) },
    );
    return undefined;
  }

  /**
   * Notes which values the object has. True where it says what the node is, false where another object does; undefined
   * where both do and do not agree.
   */
  #define(node: InputNode): boolean | undefined {
    const isTop = node.edge === undefined;
    let isDefinition = true;
    for (const xid of node.xids) {
      const known = this.definitions.get(xid.key);
      const isClaimed = this.#claim(node, xid.key);
      if (known !== undefined && (isClaimed || this.#isDuplicate(known, node, xid.key, isTop))) {
        this.#refuse(`duplicate XID found: ${xid.text}`, {
          code: "ID_REPEATED",
          type: node.type.name,
          field: xid.field.name,
          value: xid.text,
          input: pathOf(node.place, xid.field.name),
        });
        return undefined;
      }
      const isNew =
        known === undefined || isTop || (sizeOf(known) === 1 && !this.#topKeys.has(xid.key));
      if (isNew) this.definitions.set(xid.key, node);
      else isDefinition = false;
      if (isTop) this.#topKeys.add(xid.key);
    }
    return isDefinition;
  }

  #isDuplicate(known: InputNode, node: InputNode, key: string, isTop: boolean): boolean {
    if (isTop && this.#topKeys.has(key)) return true;
    if (sizeOf(known) === 1 || sizeOf(node) === 1) return false;
    return singleInverse(node) !== undefined || !isEqual(contentOf(known), contentOf(node));
  }

  /** True where the node was given a parent already, and can have one only. */
  #claim(node: InputNode, key: string): boolean {
    const inverse = singleInverse(node);
    if (inverse === undefined) return false;
    const claim = `${key} ${inverse.name}`;
    if (this.#claimed.has(claim)) return true;
    this.#claimed.add(claim);
    return false;
  }
}

function xidsOf(type: NodeType, values: ArgumentObject): InputXid[] {
  const xids: InputXid[] = [];
  for (const field of xidFields(type)) {
    const value = values[field.name];
    if (value === undefined || value === null || value === "") continue;
    const text = argumentText(value);
    xids.push({ field, text, key: xidKey(field, text) });
  }
  return xids;
}

const sortedXids = new WeakMap<NodeType, readonly FieldDefinition[]>();

/** The `@id` fields of a type by name: conflicts are told in this order. */
export function xidFields(type: NodeType): readonly FieldDefinition[] {
  let fields = sortedXids.get(type);
  if (fields === undefined) {
    fields = type.node.xids.toSorted((a, b) => (a.name < b.name ? -1 : 1));
    sortedXids.set(type, fields);
  }
  return fields;
}

const tellingFields = new WeakMap<InputObjectType, readonly FieldDefinition[]>();

/** The fields of an input that lead to other nodes, or are ids, by name: their problems are told in this order. */
function telling(type: NodeType, input: InputObjectType): readonly FieldDefinition[] {
  let fields = tellingFields.get(input);
  if (fields === undefined) {
    const own = [...input.fields.values()].flatMap(({ name, field }) => {
      const found = field === undefined ? undefined : type.fields.get(name);
      return found === undefined ? [] : [found];
    });
    fields = own
      .filter(({ source }) => source.kind === "edge" || (source.kind === "value" && source.xid))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
    tellingFields.set(input, fields);
  }
  return fields;
}

export function inverseOf(edge: FieldDefinition | undefined): FieldDefinition | undefined {
  return edge?.source.kind === "edge" ? edge.source.inverse : undefined;
}

/** The field of the node that leads back to its one parent. */
function singleInverse(node: InputNode): FieldDefinition | undefined {
  const inverse = inverseOf(node.edge);
  return inverse?.source.kind === "edge" && !inverse.source.isList ? inverse : undefined;
}

/** Equal for values that are the same id: `012` is 12 where the field is a number. */
export function xidKey(field: FieldDefinition, text: string): string {
  const source = field.source;
  if (source.kind !== "value") return text;
  const value = source.valueKind === "int" ? canonicalInt(text) : text;
  return `${source.predicate} ${value}`;
}

function canonicalInt(text: string): string {
  return /^[+-]?[0-9]+$/.test(text) ? BigInt(text.replace(/^\+/, "")).toString() : text;
}

/** What an object says of its node, the way back to the enclosing one apart. */
function contentOf(node: InputNode): ArgumentObject {
  const parent = singleInverse(node)?.name;
  if (parent === undefined || !(parent in node.values)) return node.values;
  const { [parent]: _parent, ...content } = node.values;
  return content;
}

function sizeOf(node: InputNode): number {
  return Object.keys(contentOf(node)).length;
}

function isEqual(a: ArgumentValue, b: ArgumentValue): boolean {
  if (a === b) return true;
  if (isArgumentList(a)) {
    return isArgumentList(b) && a.length === b.length && a.every((item, i) => isEqual(item, b[i]));
  }
  if (isArgumentObject(a)) {
    if (!isArgumentObject(b)) return false;
    const keys = Object.keys(a);
    return keys.length === Object.keys(b).length && keys.every((key) => isEqual(a[key], b[key]));
  }
  if (isArgumentObject(b) || isArgumentList(b)) return false;
  return typeof a === typeof b && argumentText(a) === argumentText(b);
}
