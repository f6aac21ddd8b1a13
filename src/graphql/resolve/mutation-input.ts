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
  /** Edges of the object, by name; none where another object says what the node is. */
  readonly children: readonly InputChild[];
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

/** Every node of an input, and which object says most about each @id value. */
export class InputCollector {
  /** All nodes, outer ones first. */
  readonly nodes: InputNode[] = [];
  /** By key: the object that defines the node. */
  readonly definitions = new Map<string, InputNode>();
  readonly #problems: string[] = [];
  readonly #topKeys = new Set<string>();
  /** Key and single inverse: the nodes that have their one parent already. */
  readonly #claimed = new Set<string>();

  /** The objects of a list at the top. Throws MutationRefused with every problem found. */
  collectTop(type: NodeType, input: InputObjectType, values: ArgumentValue): InputNode[] {
    const objects = isArgumentList(values) ? values : [values];
    const nodes: InputNode[] = [];
    for (const values of objects) {
      if (!isArgumentObject(values)) continue;
      const node = this.#collect(type, input, values, undefined);
      if (node !== undefined) nodes.push(node);
    }
    return nodes;
  }

  /** The edges of a patch; its own ids are no reference. */
  collectPatch(type: NodeType, input: InputObjectType, values: ArgumentObject): InputChild[] {
    return this.#children(type, input, values, undefined);
  }

  /** Ends the collection. */
  finish(): void {
    if (this.#problems.length > 0) throw new MutationRefused("rewrite", this.#problems);
  }

  #collect(
    type: NodeType,
    input: InputObjectType,
    values: ArgumentObject,
    edge: FieldDefinition | undefined,
  ): InputNode | undefined {
    const id = this.#idOf(type, values, edge);
    if (id === false) return undefined;
    if (id !== undefined) {
      const node = { type, values, edge, id, xids: [], children: [] };
      this.nodes.push(node);
      return node;
    }
    const children: InputChild[] = [];
    const xids = xidsOf(type, values);
    const node: InputNode = { type, values, edge, id: undefined, xids, children };
    const isDefinition = this.#define(node);
    if (isDefinition === undefined) return undefined;
    this.nodes.push(node);
    // What only repeats another object says nothing new.
    if (isDefinition) children.push(...this.#children(type, input, values, edge));
    return node;
  }

  /** undefined: no ID given; false: one that is none. */
  #idOf(
    type: NodeType,
    values: ArgumentObject,
    edge: FieldDefinition | undefined,
  ): string | undefined | false {
    const field = type.node.id;
    if (field === undefined || field.source.kind !== "uid" || edge === undefined) return undefined;
    const value = values[field.name];
    if (value === undefined || value === null) return undefined;
    const text = argumentText(value);
    if (isUidText(text)) return text;
    this.#problems.push(`ID argument (${text}) was not able to be parsed`);
    return false;
  }

  #children(
    type: NodeType,
    input: InputObjectType,
    values: ArgumentObject,
    from: FieldDefinition | undefined,
  ): InputChild[] {
    const children: InputChild[] = [];
    const parent = inverseOf(from);
    for (const field of telling(type, input)) {
      const { name } = field;
      const value = values[name];
      if (value === undefined) continue;
      if (field.source.kind !== "edge") {
        if (value !== "") continue;
        this.#problems.push(`encountered an empty value for @id field \`${type.name}.${name}\``);
        break;
      }
      // The enclosing object is the one on the other side, whatever is written here.
      if (name === parent?.name && !field.source.isList) continue;
      const nodes = value === null ? undefined : this.#targets(type, field, field.source, value);
      children.push({ field, nodes });
    }
    return children;
  }

  #targets(
    parent: NodeType,
    field: FieldDefinition,
    source: EdgeSource,
    value: ArgumentValue,
  ): InputNode[] {
    const isList = isArgumentList(value);
    const nodes: InputNode[] = [];
    (isList ? value : [value]).forEach((item, i) => {
      if (!isArgumentObject(item)) return;
      const target =
        source.target.kind === "union"
          ? this.#member(parent, field, source, item, isList ? i : undefined)
          : { type: source.target, values: item };
      if (target === undefined || !isNode(target.type)) return;
      const input = target.type.node.refInput;
      if (input === undefined) return;
      const node = this.#collect(target.type, input, target.values, field);
      if (node !== undefined) nodes.push(node);
    });
    return nodes;
  }

  /** The one member that a union's reference names. */
  #member(
    parent: NodeType,
    field: FieldDefinition,
    source: EdgeSource,
    item: ArgumentObject,
    index: number | undefined,
  ): { readonly type: NodeType; readonly values: ArgumentObject } | undefined {
    assert(source.target.kind === "union", "a member belongs to a union");
    const input = source.target.refInput;
    const given = Object.keys(item).filter((name) => isArgumentObject(item[name]));
    const [name] = given;
    const member = name === undefined ? undefined : input?.fields.get(name)?.member;
    const values = name === undefined ? undefined : item[name];
    if (given.length === 1 && isNode(member) && isArgumentObject(values)) {
      return { type: member, values };
    }
    const where = index === undefined ? "" : ` index \`${index}\``;
    this.#problems.push(
      `value for field \`${field.name}\` in type \`${parent.name}\`${where} must have exactly one child, found ${given.length} children`,
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
        this.#problems.push(`duplicate XID found: ${xid.text}`);
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
