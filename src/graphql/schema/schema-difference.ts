/**
 * What a new SDL changes of the one that is served, in the user's words, and which stored nodes each change could touch.
 * Nothing is read here: `data-checks.ts` counts the nodes.
 */
import type {
  CompiledSchema,
  EdgeSource,
  FieldDefinition,
  NodeType,
  ValueSource,
} from "./compiled-schema.ts";

/** Which nodes are meant. */
export type DataCheck =
  | { readonly kind: "all" }
  /** Those with a value or an edge of the field. */
  | { readonly kind: "having"; readonly source: StoredSource }
  | { readonly kind: "lacking"; readonly source: StoredSource }
  /** Those with a value that the field's type does not have. */
  | { readonly kind: "misfit"; readonly source: ValueSource }
  /** Those whose value another node of the type has, too. */
  | { readonly kind: "repeated"; readonly source: ValueSource }
  /** Those with what the store will not take as this field: values for edges, a list for a single value. */
  | { readonly kind: "unstorable"; readonly source: StoredSource }
  /** Those without this value of `dgraph.type`. */
  | { readonly kind: "untyped"; readonly name: string }
  /** Those with an edge to a node that has none of these types. */
  | { readonly kind: "foreign"; readonly source: EdgeSource; readonly names: readonly string[] }
  /** Those with an edge to a node that has none back. */
  | { readonly kind: "oneSided"; readonly source: EdgeSource; readonly inverse: EdgeSource };

export type StoredSource = ValueSource | EdgeSource;

/**
 * safe: whoever asks notices nothing but more. index: one is built, as large as the nodes told. changes: answers may take
 * another form, or other values. removes: something that
 * could be asked for no longer can, what is stored stays. breaks: stored nodes could not be answered, or not found.
 * impossible: the store refuses it.
 */
export type ChangeEffect = "safe" | "index" | "changes" | "removes" | "breaks" | "impossible";

/** A change of which nothing was read yet. */
export interface Difference {
  readonly kind: string;
  /** If any node is touched; with `unless` otherwise. */
  readonly effect: ChangeEffect;
  /** Where no node is touched; undefined: there is nothing to tell then. */
  readonly unless: ChangeEffect | undefined;
  readonly type: string;
  /** `dgraph.type` of the nodes that are looked at. */
  readonly typeName: string;
  readonly field: string | undefined;
  readonly predicate: string | undefined;
  readonly text: string;
  /** What is told where no node is touched; undefined: the same. */
  readonly calm: string | undefined;
  /** What to do about it. */
  readonly hint: string | undefined;
  /** Which nodes are touched; undefined for none. */
  readonly check: DataCheck | undefined;
}

/** Where a change belongs and how it is told; the rest has a default. */
type Told = Pick<Difference, "kind" | "effect" | "text"> & Partial<Difference>;

/** `before`: undefined where no schema was set. In the order of the new types, then those that go. */
export function findDifferences(
  next: CompiledSchema,
  before: CompiledSchema | undefined,
): readonly Difference[] {
  const old = new Map(before?.nodes.map((type) => [type.name, type]));
  const differences: Difference[] = [];
  for (const type of next.nodes) {
    const was = old.get(type.name);
    differences.push(...compareTypes(type, was));
    old.delete(type.name);
  }
  for (const type of old.values()) {
    const text = "the type goes: no query reaches its nodes any more, they stay stored";
    differences.push(
      make(type, undefined, {
        kind: "type-removed",
        effect: "removes",
        text,
        check: { kind: "all" },
      }),
    );
  }
  return differences;
}

function make(type: NodeType, field: FieldDefinition | undefined, told: Told): Difference {
  return {
    type: type.name,
    typeName: type.node.typeName,
    field: field?.name,
    predicate: field === undefined ? undefined : storedSource(field)?.predicate,
    calm: undefined,
    hint: undefined,
    check: undefined,
    // Without a node that is touched a removal is one all the same: somebody may ask for it.
    unless: told.effect === "removes" ? "removes" : undefined,
    ...told,
  };
}

function compareTypes(type: NodeType, was: NodeType | undefined): readonly Difference[] {
  const differences: Difference[] = [];
  if (was === undefined) {
    differences.push(make(type, undefined, { kind: "type-added", effect: "safe", text: "new" }));
  } else if (was.node.typeName !== type.node.typeName) {
    const text = `its nodes are those of ${type.node.typeName}, not ${was.node.typeName} any more`;
    const check = { kind: "all" } as const;
    differences.push(make(was, undefined, { kind: "type-moved", effect: "removes", text, check }));
  }
  differences.push(...compareInterfaces(type, was));
  for (const field of type.fields.values()) {
    if (!isOwn(type, field)) continue;
    differences.push(...compareFields(type, field, was?.fields.get(field.name), was));
  }
  for (const field of was?.fields.values() ?? []) {
    if (was === undefined || !isOwn(was, field) || type.fields.has(field.name)) continue;
    differences.push(tellRemoved(was, field, type));
  }
  const secret = was?.node.secret;
  if (was !== undefined && secret !== undefined && type.node.secret === undefined) {
    const text = `@secret goes: nobody's ${secret.name} is checked any more`;
    differences.push(make(was, undefined, { kind: "secret-removed", effect: "removes", text }));
  }
  return differences;
}

/** Fields that an interface declares are told with it, unless the type has just begun to implement it. */
function isOwn(type: NodeType, { source }: FieldDefinition): boolean {
  if (source.kind === "value" || source.kind === "edge") return source.declaredIn === type.name;
  return source.kind === "lambda" || source.kind === "request" || source.kind === "custom";
}

function storedSource({ source }: FieldDefinition): StoredSource | undefined {
  return source.kind === "value" || source.kind === "edge" ? source : undefined;
}

function compareInterfaces(type: NodeType, was: NodeType | undefined): readonly Difference[] {
  if (type.kind !== "object") return [];
  const old = was?.kind === "object" ? was.interfaces.map(({ name }) => name) : [];
  return type.interfaces
    .filter(({ name }) => !old.includes(name))
    .map(({ name, node }) =>
      make(type, undefined, {
        kind: "interface-added",
        effect: "breaks",
        unless: "safe",
        calm: `implements ${name}`,
        text: `implements ${name}, and query${name} does not find nodes that were stored before`,
        hint: `give them the type: set <dgraph.type> "${node?.typeName ?? name}"`,
        check: { kind: "untyped", name: node?.typeName ?? name },
      }),
    );
}

function compareFields(
  type: NodeType,
  field: FieldDefinition,
  was: FieldDefinition | undefined,
  wasIn: NodeType | undefined,
): readonly Difference[] {
  const source = storedSource(field);
  const old = was === undefined ? undefined : storedSource(was);
  const differences: Difference[] = [];
  const tell = (told: Told): number => differences.push(make(type, field, told));
  if (was === undefined && wasIn !== undefined) {
    tell({ kind: "field-added", effect: "safe", unless: "safe", text: `new: ${field.type.text}` });
  }
  if (source === undefined) return differences;
  if (old !== undefined && placeOf(old) !== placeOf(source)) {
    differences.push(
      make(type, was, {
        kind: "field-moved",
        effect: "removes",
        unless: "changes",
        calm: `is stored in ${placeOf(source)} from now on`,
        text: `is stored in ${placeOf(source)} from now on: values of ${placeOf(old)} stay there, unread`,
        check: { kind: "having", source: old },
      }),
    );
    const [from, to] = [was, field].map((one) => one?.type.text.replaceAll("!", ""));
    if (from !== to) {
      const text = `${from} → ${to}`;
      tell({ kind: "shape-changed", effect: "changes", text });
    }
  }
  // A list without members is an empty one.
  const isRequired = field.type.nonNull && field.type.kind === "named";
  const wasRequired =
    old !== undefined && was?.type.nonNull === true && placeOf(old) === placeOf(source);
  if (isRequired && !wasRequired && isComplete(source)) {
    tell({
      kind: "required",
      effect: "breaks",
      unless: was === undefined ? undefined : "safe",
      text: `${field.type.text} needs a value that stored nodes lack`,
      calm: `${field.type.text}: every stored node has one`,
      hint: hintRequired(type, field, source),
      check: { kind: "lacking", source },
    });
  }
  // Elsewhere other values are stored: nothing of what was is known of them.
  const kept = old !== undefined && placeOf(old) === placeOf(source) ? old : undefined;
  if (source.kind === "value") {
    const before = kept?.kind === "value" ? kept : undefined;
    differences.push(...compareValues(type, field, source, before));
  } else {
    const before = kept?.kind === "edge" ? kept : undefined;
    differences.push(...compareEdges(type, field, source, before));
  }
  differences.push(...compareShapes(type, field, source, kept));
  return differences;
}

/** The predicate as DQL names it: with its language, or backwards. */
function placeOf(source: StoredSource): string {
  if (source.kind === "edge") return source.isReverse ? `~${source.predicate}` : source.predicate;
  const tags = source.languages.join(":");
  return tags === "" ? source.predicate : `${source.predicate}@${tags}`;
}

/** Whether each node could have one. */
function isComplete(source: StoredSource): boolean {
  return source.kind === "value" ? !source.isReadOnly : !source.isReverse;
}

function hintRequired(type: NodeType, field: FieldDefinition, source: StoredSource): string {
  if (source.kind === "edge") return "link them first, or leave the ! away";
  return `give them one (--backfill ${type.name}.${field.name}=VALUE), or leave the ! away`;
}

/** Also of a field that is new: its predicate may have been in use before. */
function compareShapes(
  type: NodeType,
  field: FieldDefinition,
  source: StoredSource,
  old: StoredSource | undefined,
): readonly Difference[] {
  if (source.kind === "edge" && source.isReverse) return [];
  const isMore = old !== undefined && !old.isList && source.isList && old.kind === source.kind;
  const differences = [
    make(type, field, {
      kind: "unstorable",
      effect: "impossible",
      text: `${field.type.text} is not how ${placeOf(source)} is stored: no list becomes a single value, no value an edge, no edge a value`,
      hint: "store the field elsewhere with @dgraph(pred:)",
      check: { kind: "unstorable", source },
    }),
  ];
  if (!isMore) return differences;
  const text = `a list from now on: ${field.type.text}`;
  return [...differences, make(type, field, { kind: "single-to-list", effect: "changes", text })];
}

function compareValues(
  type: NodeType,
  field: FieldDefinition,
  source: ValueSource,
  old: ValueSource | undefined,
): readonly Difference[] {
  const differences: Difference[] = [];
  const { name } = source.valueType;
  const isChanged = old === undefined || old.valueType.name !== name;
  const gone = isChanged ? [] : membersGone(source, old);
  const misfit: Partial<Difference> & Pick<Difference, "effect"> = {
    effect: "breaks",
    unless: old === undefined ? undefined : "safe",
    hint: "change them first, or store the field elsewhere with @dgraph(pred:)",
    check: { kind: "misfit", source },
  };
  if (gone.length > 0) {
    const calm = `${name} loses ${gone.join(", ")}`;
    const text = `${calm}: nodes that have it are answered with errors`;
    differences.push(make(type, field, { ...misfit, kind: "enum-members-removed", text, calm }));
  }
  if (isChanged) {
    const change = old === undefined ? name : `${old.valueType.name} → ${name}`;
    const text = `${change}: stored values that are none of it are answered with errors`;
    const calm = `${change}: all stored values fit`;
    const unless = old === undefined ? undefined : "changes";
    differences.push(make(type, field, { ...misfit, unless, kind: "type-changed", text, calm }));
  }
  if (source.xid !== undefined && old?.xid === undefined) {
    differences.push(
      make(type, field, {
        kind: "id-added",
        effect: "breaks",
        unless: old === undefined ? undefined : "safe",
        text: "@id needs values that no two nodes have",
        calm: "@id: no two stored nodes have one value",
        hint: "change them first",
        check: { kind: "repeated", source },
      }),
    );
  }
  differences.push(...compareIndexes(type, field, source, old));
  return differences;
}

function membersGone(source: ValueSource, old: ValueSource | undefined): readonly string[] {
  const { valueType } = source;
  if (valueType.kind !== "enum" || old?.valueType.kind !== "enum") return [];
  return [...old.valueType.values.keys()].filter((name) => !valueType.values.has(name));
}

function compareIndexes(
  type: NodeType,
  field: FieldDefinition,
  source: ValueSource,
  old: ValueSource | undefined,
): readonly Difference[] {
  const differences: Difference[] = [];
  const had = new Set(old?.searches);
  const has = new Set(source.searches);
  const tokenizers = (one: ValueSource | undefined): string[] =>
    one?.indexes.map(({ tokenizer }) => tokenizer) ?? [];
  const known = tokenizers(old);
  const built = tokenizers(source).filter((name) => !known.includes(name));
  if (built.length > 0) {
    differences.push(
      make(type, field, {
        kind: "index-added",
        effect: "index",
        unless: old === undefined ? undefined : "safe",
        calm: `index ${built.join(", ")}`,
        text: `index ${built.join(", ")} is built`,
        check: { kind: "having", source },
      }),
    );
  }
  const lost = [...had].filter((name) => !has.has(name));
  if (lost.length > 0) {
    const text = `@search loses ${lost.join(", ")}: no filter or order by it any more`;
    differences.push(make(type, field, { kind: "search-removed", effect: "removes", text }));
  }
  return differences;
}

function compareEdges(
  type: NodeType,
  field: FieldDefinition,
  source: EdgeSource,
  old: EdgeSource | undefined,
): readonly Difference[] {
  const differences: Difference[] = [];
  const names = targetNames(source);
  if (old === undefined || targetNames(old).some((name) => !names.includes(name))) {
    differences.push(
      make(type, field, {
        kind: "target-changed",
        effect: "breaks",
        unless: old === undefined ? undefined : "safe",
        calm: `leads to ${source.target.name}: all stored edges do`,
        text: `leads to ${source.target.name}: edges to other nodes are not followed`,
        hint: "remove those edges, or store the field elsewhere with @dgraph(pred:)",
        check: { kind: "foreign", source, names },
      }),
    );
  }
  const inverse = source.inverse === undefined ? undefined : storedSource(source.inverse);
  const oldInverse = old?.inverse === undefined ? undefined : storedSource(old.inverse);
  if (inverse?.kind === "edge" && oldInverse?.predicate !== inverse.predicate) {
    differences.push(
      make(type, field, {
        kind: "inverse-added",
        effect: "breaks",
        unless: old === undefined ? undefined : "safe",
        calm: "@hasInverse: all stored edges have one back",
        text: `@hasInverse: edges that were stored without one back are seen from one side alone`,
        hint: `set them again, or set the edges of ${inverse.predicate}`,
        check: { kind: "oneSided", source, inverse },
      }),
    );
  }
  if (inverse === undefined && oldInverse !== undefined) {
    const text = `@hasInverse goes: edges to and from ${source.target.name} are no longer kept in step`;
    differences.push(make(type, field, { kind: "inverse-removed", effect: "removes", text }));
  }
  return differences;
}

/** The types of the nodes that the field may lead to. */
function targetNames({ target }: EdgeSource): readonly string[] {
  if (target.kind === "union") {
    return target.members.map(({ name, node }) => node?.typeName ?? name);
  }
  return [target.node?.typeName ?? target.name];
}

function tellRemoved(was: NodeType, field: FieldDefinition, type: NodeType): Difference {
  const source = storedSource(field);
  const place = source === undefined ? "" : placeOf(source);
  const isRead = [...type.fields.values()].some((one) => {
    const kept = storedSource(one);
    return kept !== undefined && placeOf(kept) === place;
  });
  if (isRead) {
    const text = `the field goes; its values are read by another one of ${place}`;
    return make(was, field, { kind: "field-renamed", effect: "removes", text });
  }
  return make(was, field, {
    kind: "field-removed",
    effect: "removes",
    text:
      source === undefined
        ? "the field goes"
        : `the field goes: values of ${place} stay stored, unread`,
    hint: source === undefined ? undefined : hintRename(was, source, type),
    check:
      source === undefined || (source.kind === "edge" && source.isReverse)
        ? undefined
        : { kind: "having", source },
  });
}

/** Where exactly one new field could be this one under another name. */
function hintRename(was: NodeType, source: StoredSource, type: NodeType): string | undefined {
  const alike = [...type.fields.values()].filter((field) => {
    const other = storedSource(field);
    if (other === undefined || was.fields.has(field.name) || other.kind !== source.kind)
      return false;
    if (other.isList !== source.isList) return false;
    return other.kind === "value" && source.kind === "value"
      ? other.valueType.name === source.valueType.name
      : other.kind === "edge" && source.kind === "edge" && other.target.name === source.target.name;
  });
  const [field] = alike;
  if (field === undefined || alike.length > 1) return undefined;
  return `renamed? ${field.name}: ${field.type.text} @dgraph(pred: "${placeOf(source)}") keeps its values`;
}
