/** Draft of the whole API → CompiledSchema: names become references, fields learn where their values lie. */
import { assert } from "../../base/assert.ts";
import type { ValueKind } from "../../model/value.ts";
import type {
  ArgumentDefinition,
  CompiledSchema,
  DirectiveDefinition,
  EdgeSource,
  EnumValue,
  FieldDefinition,
  FieldSource,
  InputField,
  InputObjectType,
  NodeMapping,
  NodeType,
  ObjectType,
  RootField,
  SchemaMeta,
  TypeRef,
  ValueSource,
} from "./compiled-schema.ts";
import { isNodeDraft } from "./generate-parts.ts";
import type { Roots } from "./generate-roots.ts";
import { geoTypes, isCustomField } from "./sdl-names.ts";
import {
  baseName,
  printRef,
  type SchemaDraft,
  type DraftArgument,
  type DraftField,
  type DraftRef,
  type DraftType,
} from "./sdl-draft.ts";
import { indexesOf, searchesOf } from "./directives/search.ts";
import {
  isForeign,
  isKeyField,
  isReadOnlyLanguage,
  nodeTypeName,
  predicateOf,
  secretOf,
} from "./graph-names.ts";
import { introspectionRootText } from "./sdl-prelude.ts";
import { readBuiltin } from "./sdl-validate.ts";
import { type Int64Form, makeShell, type Mutable, type OpenType } from "./type-shell.ts";

type MutableField = Mutable<FieldDefinition>;

export function linkSchema(
  sdl: string,
  draft: SchemaDraft,
  roots: Roots,
  { meta, int64 }: { readonly meta: SchemaMeta; readonly int64: Int64Form },
): CompiledSchema {
  const linker = new Linker(draft, int64);
  linker.run();
  const root = (type: DraftType): ReadonlyMap<string, RootField> => linker.rootFields(type);
  return {
    sdl,
    types: linker.types,
    nodes: draft.user.filter(isNodeDraft).map((type) => linker.node(type.name)),
    queries: root(roots.query),
    mutations: root(roots.mutation),
    subscriptions: root(roots.subscription),
    queryType: linker.objectNamed("Query"),
    mutationType: linker.objectNamed("Mutation"),
    subscriptionType: linker.objectNamed("Subscription"),
    introspectionFields: linker.introspectionFields(),
    directives: linker.directives(),
    meta,
    rules: undefined,
  };
}

class Linker {
  readonly types = new Map<string, OpenType>();
  readonly #draft: SchemaDraft;
  /** Uses of types by their text: one object for each. */
  readonly #refs = new Map<string, TypeRef>();

  readonly #int64: Int64Form;

  constructor(draft: SchemaDraft, int64: Int64Form) {
    this.#draft = draft;
    this.#int64 = int64;
  }

  /** Shells first, then fields, then what refers to fields. */
  run(): void {
    for (const type of this.#draft.types.values())
      this.types.set(type.name, makeShell(type, this.#printed(type.written), this.#int64));
    for (const type of this.#draft.types.values()) this.#linkSupertypes(type);
    for (const type of this.#draft.types.values())
      if (type.kind === "object" || type.kind === "interface") this.#linkFields(type);
    for (const type of this.#draft.types.values()) this.#linkReferences(type);
    for (const type of this.#draft.types.values()) if (isNodeDraft(type)) this.#linkNode(type);
  }

  // ------------------------------------------------------------------------------------------- looking up

  #type(name: string): OpenType {
    const type = this.types.get(name);
    assert(type !== undefined, "a validated schema names only types that it has");
    return type;
  }

  objectNamed(name: string): ObjectType | undefined {
    const type = this.types.get(name);
    return type?.kind === "object" ? type : undefined;
  }

  #inputNamed(name: string): InputObjectType | undefined {
    const type = this.types.get(name);
    return type?.kind === "input" ? type : undefined;
  }

  node(name: string): NodeType {
    const type = this.#type(name);
    assert(
      (type.kind === "object" || type.kind === "interface") && type.node !== undefined,
      "a type that holds data has its mapping",
    );
    return type as NodeType;
  }

  #fieldOf(typeName: string | undefined, fieldName: string | undefined): MutableField | undefined {
    if (typeName === undefined || fieldName === undefined) return undefined;
    const type = this.types.get(typeName);
    if (type?.kind !== "object" && type?.kind !== "interface") return undefined;
    return type.fields.get(fieldName);
  }

  #ref(ref: DraftRef): TypeRef {
    const text = printRef(ref);
    const known = this.#refs.get(text);
    if (known !== undefined) return known;
    const made: TypeRef =
      ref.kind === "named"
        ? { kind: "named", type: this.#type(ref.name), nonNull: ref.nonNull, text }
        : { kind: "list", element: this.#ref(ref.element), nonNull: ref.nonNull, text };
    this.#refs.set(text, made);
    return made;
  }

  rootFields(root: DraftType): ReadonlyMap<string, RootField> {
    const type = this.objectNamed(root.name);
    return (type?.fields ?? new Map()) as ReadonlyMap<string, RootField>;
  }

  introspectionFields(): ReadonlyMap<string, FieldDefinition> {
    const fields = new Map<string, FieldDefinition>();
    const [root] = readBuiltin(introspectionRootText, "specified").types;
    assert(root !== undefined, "the introspection root is defined");
    for (const field of root.fields) fields.set(field.name, this.#field(root, field));
    return fields;
  }

  directives(): ReadonlyMap<string, DirectiveDefinition> {
    const found = new Map<string, DirectiveDefinition>();
    for (const directive of this.#draft.directives.values())
      found.set(directive.name, {
        name: directive.name,
        description: directive.description,
        locations: directive.locations,
        arguments: this.#arguments(directive.arguments, undefined),
      });
    return found;
  }

  // ------------------------------------------------------------------------------------------- filling

  #linkSupertypes(draft: DraftType): void {
    const type = this.#type(draft.name);
    if (type.kind === "union") type.members = draft.members.map((name) => this.#object(name));
    if (type.kind !== "object") return;
    type.interfaces = draft.interfaces.map((name) => {
      const parent = this.#type(name);
      assert(parent.kind === "interface", "a validated type implements interfaces alone");
      parent.implementors = [...parent.implementors, type];
      return parent;
    });
  }

  #object(name: string): ObjectType {
    const type = this.objectNamed(name);
    assert(type !== undefined, "a validated union has object types alone");
    return type;
  }

  #linkFields(draft: DraftType): void {
    const type = this.#type(draft.name);
    if (type.kind !== "object" && type.kind !== "interface") return;
    const fields = new Map<string, FieldDefinition>();
    for (const field of draft.fields) fields.set(field.name, this.#field(draft, field));
    type.fields = fields;
  }

  #field(owner: DraftType, draft: DraftField): FieldDefinition {
    const field: MutableField = {
      name: draft.name,
      description: draft.description,
      type: this.#ref(draft.type),
      arguments: noArguments,
      printed: this.#printed(draft.written),
      directives: draft.directives,
      deprecation: draft.directives.deprecated?.reason,
      source: this.#source(owner, draft),
    };
    const purpose = draft.purpose;
    if (purpose?.kind !== "root") return field;
    const of = purpose.of === undefined ? undefined : (this.#type(purpose.of) as NodeType);
    const root: RootField = { ...field, kind: purpose.root, of };
    return root;
  }

  /** Directives that only the user knows are dropped. */
  #printed(written: DraftType["written"]): DraftType["written"] {
    return written.filter((each) => this.#draft.directives.get(each.name.value)?.origin !== "user");
  }

  #arguments(
    drafts: readonly DraftArgument[],
    of: string | undefined,
  ): ReadonlyMap<string, ArgumentDefinition> {
    if (drafts.length === 0) return noArguments;
    const found = new Map<string, ArgumentDefinition>();
    for (const draft of drafts)
      found.set(draft.name, {
        name: draft.name,
        description: draft.description,
        type: this.#ref(draft.type),
        defaultValue: draft.defaultValue,
        field: this.#fieldOf(of, draft.field),
      });
    return found;
  }

  #source(owner: DraftType, field: DraftField): FieldSource {
    const purpose = field.purpose;
    switch (purpose?.kind) {
      case "vectorDistance":
        return { kind: "vectorDistance" };
      case "payload":
        return { kind: "payload", part: purpose.part };
      case "root":
        return { kind: "root" };
      case "aggregateMember":
        return { kind: "aggregateMember", function: purpose.function, field: undefined };
      case "edgeAggregate":
        // Filled by #linkReferences, like every reference to a field.
        return { kind: "part" };
      default:
        return isNodeDraft(owner) ? this.#nodeSource(owner, field) : outsideSource(owner);
    }
  }

  #nodeSource(owner: DraftType, field: DraftField): FieldSource {
    if (field.directives.lambda !== undefined) return { kind: "lambda" };
    const http = field.directives.custom?.http;
    if (http !== undefined) return { kind: "request", http };
    if (isCustomField(field) || isForeign(this.#draft, owner, field)) return { kind: "custom" };
    const typeName = baseName(field.type);
    const isForeignKey = field.directives.external !== undefined && isKeyField(owner, field);
    if (typeName === "ID" && !isForeignKey) return { kind: "uid" };
    const target = this.#type(typeName);
    const isObject =
      target.kind === "object" || target.kind === "interface" || target.kind === "union";
    const { name, isReverse } = predicateOf(this.#draft, owner, field);
    if (isObject && !geoTypes.has(typeName))
      return {
        kind: "edge",
        predicate: name,
        isReverse,
        isList: field.type.kind === "list",
        target: target as EdgeSource["target"],
        inverse: undefined,
        declaredIn: field.inheritedFrom ?? owner.name,
      };
    return this.#valueSource(owner, field);
  }

  #valueSource(owner: DraftType, field: DraftField): ValueSource {
    const { name, languages } = predicateOf(this.#draft, owner, field);
    const typeName = baseName(field.type);
    const { default: defaults, id } = field.directives;
    const isEmbedding = field.directives.embedding !== undefined;
    const isXid = id !== undefined || typeName === "ID";
    return {
      kind: "value",
      predicate: name,
      languages,
      valueKind: isEmbedding ? "float32vector" : (valueKinds.get(typeName) ?? "string"),
      isList: field.type.kind === "list" && !isEmbedding,
      valueType: this.#type(typeName) as ValueSource["valueType"],
      xid: isXid ? { isInterfaceWide: id?.isInterfaceWide === true } : undefined,
      searches: searchesOf(field),
      indexes: indexesOf(field, this.#type(typeName).kind === "enum"),
      defaults: {
        add: defaults?.add,
        update: defaults?.update,
      },
      isEmbedding,
      directives: field.directives,
      isReadOnly: isReadOnlyLanguage(field),
      declaredIn: field.inheritedFrom ?? owner.name,
    };
  }

  // ------------------------------------------------------------------------------------------- references

  #linkReferences(draft: DraftType): void {
    const type = this.#type(draft.name);
    switch (type.kind) {
      case "object":
      case "interface":
        for (const field of draft.fields) this.#linkField(draft, field);
        break;
      case "input":
        type.fields = this.#inputFields(draft);
        type.of = this.#inputOwner(draft);
        break;
      case "enum":
        type.values = this.#enumValues(draft);
        type.of = this.#inputOwner(draft);
        break;
      case "union":
        type.refInput = this.#inputNamed(`${draft.name}Ref`);
        type.filterInput = this.#inputNamed(`${draft.name}Filter`);
        break;
      case "scalar":
        break;
    }
  }

  #linkField(owner: DraftType, draft: DraftField): void {
    const field = this.#fieldOf(owner.name, draft.name);
    if (field === undefined) return;
    const purpose = draft.purpose;
    field.arguments = this.#arguments(
      draft.arguments,
      purpose?.kind === "root" ? purpose.of : undefined,
    );
    if (purpose?.kind === "edgeAggregate") {
      const edge = this.#fieldOf(owner.name, purpose.edge);
      assert(edge !== undefined, "an aggregate stands beside its edge");
      field.source = { kind: "edgeAggregate", edge };
    } else if (purpose?.kind === "aggregateMember") {
      field.source = {
        kind: "aggregateMember",
        function: purpose.function,
        field: this.#fieldOf(owner.of, purpose.field),
      };
    } else if (field.source.kind === "edge") {
      const name = draft.directives.hasInverse?.field ?? "";
      const inverse = this.#fieldOf(field.source.target.name, name);
      if (inverse !== undefined) field.source = { ...field.source, inverse };
    }
  }

  #inputFields(draft: DraftType): ReadonlyMap<string, InputField> {
    const fields = new Map<string, InputField>();
    for (const field of draft.fields) {
      const purpose = field.purpose?.kind === "input" ? field.purpose : undefined;
      const isMember = purpose?.role === "member";
      fields.set(field.name, {
        name: field.name,
        description: field.description,
        type: this.#ref(field.type),
        defaultValue: field.defaultValue,
        printed: this.#printed(field.written),
        role: purpose?.role ?? "plain",
        field: isMember ? undefined : this.#fieldOf(draft.of, purpose?.target),
        member:
          isMember && purpose.target !== undefined ? this.objectNamed(purpose.target) : undefined,
      });
    }
    return fields;
  }

  #inputOwner(draft: DraftType): InputObjectType["of"] {
    const of = draft.of === undefined ? undefined : this.types.get(draft.of);
    if (of?.kind === "object" || of?.kind === "interface" || of?.kind === "union") return of;
    return undefined;
  }

  #enumValues(draft: DraftType): ReadonlyMap<string, EnumValue> {
    const values = new Map<string, EnumValue>();
    for (const { name, description, field } of draft.values)
      values.set(name, { name, description, field: this.#fieldOf(draft.of, field) });
    return values;
  }

  #linkNode(draft: DraftType): void {
    const type = this.#type(draft.name);
    if (type.kind !== "object" && type.kind !== "interface") return;
    const own = nodeTypeName(draft);
    const typeNames = [own];
    for (const name of draft.interfaces) {
      const parent = this.#draft.types.get(name);
      if (parent !== undefined) typeNames.push(nodeTypeName(parent));
    }
    const fields = [...type.fields.values()];
    const node: NodeMapping = {
      typeName: own,
      typeNames,
      id: fields.find((field) => field.source.kind === "uid"),
      xids: fields.filter(
        (field) => field.source.kind === "value" && field.source.xid !== undefined,
      ),
      secret: secretOf(this.#draft, draft),
      embeddings: fields.filter(
        (field) => field.source.kind === "value" && field.source.isEmbedding,
      ),
      addInput: this.#inputNamed(`Add${draft.name}Input`),
      refInput: this.#inputNamed(`${draft.name}Ref`),
      patchInput: this.#inputNamed(`${draft.name}Patch`),
      filterInput: this.#inputNamed(`${draft.name}Filter`),
      orderInput: this.#inputNamed(`${draft.name}Order`),
      aggregateType: this.objectNamed(`${draft.name}AggregateResult`),
      auth: draft.directives.auth,
      watched: draft.directives.lambdaOnMutate?.watched,
      key: draft.directives.key?.fields,
    };
    type.node = node;
  }
}

const noArguments: ReadonlyMap<string, ArgumentDefinition> = new Map();

/** GraphQL type → stored kind; enums are strings. */
const valueKinds: ReadonlyMap<string, ValueKind> = new Map([
  ["ID", "string"],
  ["Boolean", "bool"],
  ["Int", "int"],
  ["Int64", "int"],
  ["Float", "float"],
  ["String", "string"],
  ["DateTime", "datetime"],
  ["Point", "geo"],
  ["Polygon", "geo"],
  ["MultiPolygon", "geo"],
]);

/** Fields of types that are no nodes: parts of values, or what a remote service answers. */
function outsideSource(owner: DraftType): FieldSource {
  return { kind: owner.origin === "user" ? "custom" : "part" };
}
