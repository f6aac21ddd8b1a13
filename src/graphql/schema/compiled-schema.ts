/**
 * The vocabulary of the schema half: one namespace's GraphQL API, compact and immutable, as requests use it.
 * Made by `compileSchema` (schema-compile.ts) from the user's SDL; holds the user's types expanded
 * (reference/graphql 3.4), everything generated from them, and for each field where its value lives. graphql-js objects
 * never appear here (reference/graphql 3): they are made on demand, for introspection alone.
 *
 * All references between types are resolved objects, so that a request follows pointers and looks up no name twice.
 */
import type { ArgumentNode, ConstDirectiveNode, ConstValueNode } from "graphql";
import type { CustomHttp } from "./custom-http.ts";
import type { GivenDirectives } from "./directives/given.ts";
import type { Authorization } from "../../auth/authorization.ts";
import type { Rule } from "../../auth/rule.ts";
import type { IndexSpec } from "../../model/definition.ts";
import type { ValueKind } from "../../model/value.ts";

export interface CompiledSchema {
  /** The user's text, as it is stored. */
  readonly sdl: string;
  /** Every type of the API by its GraphQL name: the user's, the generated and the built-in ones, roots included. */
  readonly types: ReadonlyMap<string, NamedType>;
  /** The user's object types and interfaces that hold data (not `@remote`), in the order of the SDL. */
  readonly nodes: readonly NodeType[];
  /** Root fields by name, in the order in which they are printed. Empty maps where there is no such root. */
  readonly queries: ReadonlyMap<string, RootField>;
  readonly mutations: ReadonlyMap<string, RootField>;
  readonly subscriptions: ReadonlyMap<string, RootField>;
  readonly queryType: ObjectType | undefined;
  readonly mutationType: ObjectType | undefined;
  readonly subscriptionType: ObjectType | undefined;
  /** `__schema` and `__type`, allowed at the query root beside `queries`; answered by `introspect` (introspect.ts). */
  readonly introspectionFields: ReadonlyMap<string, FieldDefinition>;
  /** GivenDirectives by name, for the validation of requests: include, skip, cascade, cacheControl and the SDL's own. */
  readonly directives: ReadonlyMap<string, DirectiveDefinition>;
  readonly meta: SchemaMeta;
  /** Rules of `@auth`; undefined where no type has any. */
  readonly rules: SchemaRules | undefined;
}

/** What the rules of a schema's types ask (reference/graphql 6). */
export interface SchemaRules {
  /** The rules of a type with those of its interfaces. Interfaces: their own, for where nothing implements them. */
  readonly byType: ReadonlyMap<NodeType, TypeRules>;
  /** Types, interfaces and unions whose nodes not every caller sees. */
  readonly hidden: ReadonlySet<NamedType>;
  /** Edges that a rule goes by, of whatever type and operation. */
  readonly followed: FollowedEdges;
  /** The claims that the rules ask for, in alphabetical order. */
  readonly variables: readonly string[];
}

/** Edges that rules follow, by predicate: from the node that has them, and from the one that they lead to. */
export interface FollowedEdges {
  readonly forwards: ReadonlySet<string>;
  readonly backwards: ReadonlySet<string>;
}

export type RuleOperation = "query" | "add" | "update" | "delete" | "password";

export type TypeRules = Readonly<Partial<Record<RuleOperation, Rule<GraphRule>>>>;

/** `query($V: String!) { queryT(filter: …) { f { g } } }`: a T for which all that is asked for exists. */
export interface GraphRule {
  /** The variables that it declares, without `$`: claims that the caller must have. */
  readonly variables: readonly { readonly name: string; readonly type: TypeRef }[];
  readonly level: RuleLevel;
}

/** A field of a graph rule: the nodes that its arguments leave, and what each of them must have. */
export interface RuleLevel {
  readonly target: NamedType;
  readonly given: readonly ArgumentNode[];
  readonly known: ReadonlyMap<string, ArgumentDefinition>;
  readonly fields: readonly {
    readonly field: FieldDefinition;
    /** undefined for fields without a selection. */
    readonly level: RuleLevel | undefined;
  }[];
}

// ---------------------------------------------------------------------------------------------------------------
// Types

export type NamedType =
  ScalarType | EnumType | ObjectType | InterfaceType | UnionType | InputObjectType;

/** What a selection set may be on. */
export type CompositeType = ObjectType | InterfaceType | UnionType;

/** A type whose instances are nodes of the graph. */
export type NodeType = (ObjectType | InterfaceType) & { readonly node: NodeMapping };

/** Who wrote a type: it decides the section of the generated text. */
export type TypeOrigin = "user" | "prelude" | "generated" | "specified";

/** A use of a type. `text` is its SDL form (`[Episode!]!`), which messages quote. */
export type TypeRef = NamedTypeRef | ListTypeRef;

interface NamedTypeRef {
  readonly kind: "named";
  readonly type: NamedType;
  readonly nonNull: boolean;
  readonly text: string;
}

interface ListTypeRef {
  readonly kind: "list";
  readonly element: TypeRef;
  readonly nonNull: boolean;
  readonly text: string;
}

/** The scalars that the API knows; `vector` values are `[Float!]` in GraphQL. */
export type ScalarName =
  "ID" | "Int" | "Int64" | "Float" | "String" | "Boolean" | "DateTime" | "_Any" | "_FieldSet";

export interface ScalarType {
  readonly kind: "scalar";
  readonly name: ScalarName;
  readonly description: string | undefined;
  readonly origin: TypeOrigin;
  /** Of Int64: answered as a text. */
  readonly isText?: true;
}

export interface EnumType {
  readonly kind: "enum";
  readonly name: string;
  readonly description: string | undefined;
  readonly origin: TypeOrigin;
  readonly printed: readonly ConstDirectiveNode[];
  /** By name, in order. */
  readonly values: ReadonlyMap<string, EnumValue>;
  /** Of `TOrderable`, `THasFilter`, `TEmbedding`: the type whose fields it names. */
  readonly of: InputObjectType["of"];
}

export interface EnumValue {
  readonly name: string;
  readonly description: string | undefined;
  /** In `TOrderable`, `THasFilter`, `TEmbedding`: the field it names. */
  readonly field: FieldDefinition | undefined;
}

export interface ObjectType {
  readonly kind: "object";
  readonly name: string;
  readonly description: string | undefined;
  readonly origin: TypeOrigin;
  readonly role: ObjectRole;
  /** The directives as they are printed: what the user wrote, completed (inverses, secrets of interfaces), unknown ones removed. */
  readonly printed: readonly ConstDirectiveNode[];
  readonly interfaces: readonly InterfaceType[];
  /** By name, in printed order. Without the introspection fields: `__typename` is nowhere in this schema. */
  readonly fields: ReadonlyMap<string, FieldDefinition>;
  /** undefined unless instances are nodes. */
  readonly node: NodeMapping | undefined;
}

/** What an object type is for; `node` ones have a NodeMapping. `introspection`: `__Type` and its like. */
export type ObjectRole =
  "node" | "remote" | "root" | "geo" | "payload" | "aggregate" | "service" | "introspection";

export interface InterfaceType {
  readonly kind: "interface";
  readonly name: string;
  readonly description: string | undefined;
  readonly origin: TypeOrigin;
  readonly role: "node" | "remote";
  readonly printed: readonly ConstDirectiveNode[];
  readonly fields: ReadonlyMap<string, FieldDefinition>;
  readonly implementors: readonly ObjectType[];
  readonly node: NodeMapping | undefined;
}

export interface UnionType {
  readonly kind: "union";
  readonly name: string;
  readonly description: string | undefined;
  readonly origin: TypeOrigin;
  readonly printed: readonly ConstDirectiveNode[];
  readonly members: readonly ObjectType[];
  /** `URef`, `UFilter`; undefined for `@remote` unions, and where nothing is left of them. */
  readonly refInput: InputObjectType | undefined;
  readonly filterInput: InputObjectType | undefined;
  readonly isRemote: boolean;
}

export interface InputObjectType {
  readonly kind: "input";
  readonly name: string;
  readonly description: string | undefined;
  readonly origin: TypeOrigin;
  readonly role: InputRole;
  readonly printed: readonly ConstDirectiveNode[];
  readonly fields: ReadonlyMap<string, InputField>;
  /** The type that it adds, patches, refers to, filters or orders; the union of `URef` and `UFilter`. */
  readonly of: ObjectType | InterfaceType | UnionType | undefined;
}

/**
 * add: `AddTInput` · ref: `TRef` · patch: `TPatch` · update: `UpdateTInput` · filter: `TFilter` · order: `TOrder` ·
 * unionRef: `URef` · unionFilter: `UFilter` · search: a field's filter (`StringHashFilter`, `E_hash`, merged ones,
 * `IntFilter`, `PointGeoFilter` …) · geo: `PointRef`, `NearFilter` … · plain: everything else, the user's own.
 */
export type InputRole =
  | "add"
  | "ref"
  | "patch"
  | "update"
  | "filter"
  | "order"
  | "unionRef"
  | "unionFilter"
  | "search"
  | "geo"
  | "plain";

// ---------------------------------------------------------------------------------------------------------------
// Fields

export interface FieldDefinition {
  readonly name: string;
  readonly description: string | undefined;
  readonly type: TypeRef;
  readonly arguments: ReadonlyMap<string, ArgumentDefinition>;
  /** The directives as they are printed: what the user wrote, completed, unknown ones removed. */
  readonly printed: readonly ConstDirectiveNode[];
  /** What they say. */
  readonly directives: GivenDirectives;
  /** The reason of `@deprecated`; undefined where it is not deprecated. */
  readonly deprecation: string | undefined;
  readonly source: FieldSource;
}

/** Where the value of a field comes from. */
export type FieldSource =
  | UidSource
  | ValueSource
  | EdgeSource
  | EdgeAggregateSource
  | AggregateMemberSource
  | PayloadSource
  | { readonly kind: "vectorDistance" }
  /** A part of a composed value: longitude, points, sdl. Read from the parent by its name. */
  | { readonly kind: "part" }
  /** `@lambda` on a field of a type or interface: computed from the parent's own fields. */
  | { readonly kind: "lambda" }
  /** `@custom(http:)` on a field of a type or interface: asked of a service outside, with values of its parent. */
  | { readonly kind: "request"; readonly http: CustomHttp }
  /** Fields of `@remote` types, `@external` ones that are no key: nothing is stored. */
  | { readonly kind: "custom" }
  | { readonly kind: "root" };

/** An `ID` field: the node's uid. */
interface UidSource {
  readonly kind: "uid";
}

/** Scalars and enums, lists of them, geometry and vectors. */
export interface ValueSource {
  readonly kind: "value";
  /** Without language tag: `T.f`, of an interface `I.f`, or as `@dgraph(pred:)` says. */
  readonly predicate: string;
  /** [] for none, ["hi"] for one tag, ["hi", "en", "."] for a preference list, ["."] for any. */
  readonly languages: readonly string[];
  /** How it is stored. Enums are strings; an embedding is a float32vector. */
  readonly valueKind: ValueKind;
  /** A list of values in the store. An embedding is a list in GraphQL alone. */
  readonly isList: boolean;
  /** The scalar, enum or geo type of one value. */
  readonly valueType: ScalarType | EnumType | ObjectType;
  /** undefined unless `@id`. */
  readonly xid: XidRule | undefined;
  /** The arguments of `@search` that serve it, completed (bare default, `@id`'s own): hash, exact, regexp, year … */
  readonly searches: readonly string[];
  /** The indexes that the field asks of its predicate. */
  readonly indexes: readonly IndexSpec[];
  readonly defaults: FieldDefaults;
  readonly isEmbedding: boolean;
  /** Of the field, for those that decide how its value is written. */
  readonly directives: GivenDirectives;
  /** Several languages: in no input, filter or order. */
  readonly isReadOnly: boolean;
  /** The type or interface that declares it: for an implementing type's copy, the interface. */
  readonly declaredIn: string;
}

/** `@id`. In an interface, unique within each implementing type unless `isInterfaceWide`. */
interface XidRule {
  readonly isInterfaceWide: boolean;
}

/** `@default(add: {value}, update: {value})` as written; `$now` is kept for the time of the write. */
interface FieldDefaults {
  readonly add: string | undefined;
  readonly update: string | undefined;
}

/** Fields of object, interface and union types. */
export interface EdgeSource {
  readonly kind: "edge";
  /** The forward predicate's name, without `~`. */
  readonly predicate: string;
  /** `@dgraph(pred: "~p")`: read against the direction, and read-only. */
  readonly isReverse: boolean;
  readonly isList: boolean;
  readonly target: ObjectType | InterfaceType | UnionType;
  /** The other side of `@hasInverse`: a field of the target (an edge itself). */
  readonly inverse: FieldDefinition | undefined;
  readonly declaredIn: string;
}

/** `fAggregate` beside a list edge `f`. */
interface EdgeAggregateSource {
  readonly kind: "edgeAggregate";
  readonly edge: FieldDefinition;
}

/** Fields of `TAggregateResult`. */
export interface AggregateMemberSource {
  readonly kind: "aggregateMember";
  readonly function: "count" | "min" | "max" | "sum" | "avg";
  /** The aggregated field; undefined for count. */
  readonly field: FieldDefinition | undefined;
}

/** Fields of `AddTPayload` and its like. */
export interface PayloadSource {
  readonly kind: "payload";
  readonly part: "nodes" | "numUids" | "msg";
}

export interface ArgumentDefinition {
  readonly name: string;
  readonly description: string | undefined;
  readonly type: TypeRef;
  readonly defaultValue: ConstValueNode | undefined;
  /** Of `getT`, `checkTPassword`, `querySimilarTById`: the field that it looks up; undefined for others. */
  readonly field: FieldDefinition | undefined;
}

export interface InputField {
  readonly name: string;
  readonly description: string | undefined;
  readonly type: TypeRef;
  readonly defaultValue: ConstValueNode | undefined;
  readonly printed: readonly ConstDirectiveNode[];
  readonly role: InputFieldRole;
  /** role field: the node's field that it writes or filters. */
  readonly field: FieldDefinition | undefined;
  /** role member: the member of the union. */
  readonly member: ObjectType | undefined;
}

/**
 * field: a field of the node · secret: the password of `@secret` · and, or, not, has: of `TFilter` · member,
 * memberTypes: of `URef`, `UFilter` · plain: the rest (eq, in, near, min, set, remove, asc, the user's own …).
 */
export type InputFieldRole =
  "field" | "secret" | "and" | "or" | "not" | "has" | "member" | "memberTypes" | "plain";

// ---------------------------------------------------------------------------------------------------------------
// Nodes and roots

/** How the instances of an object type or interface lie in the graph, and what is generated for it. */
export interface NodeMapping {
  /** Its `dgraph.type`: the GraphQL name, or as `@dgraph(type:)` says. */
  readonly typeName: string;
  /** All values of `dgraph.type` of a new node: its own, then its interfaces' in the order of `implements`. */
  readonly typeNames: readonly string[];
  /** The `ID` field. */
  readonly id: FieldDefinition | undefined;
  /** The `@id` fields, in field order. */
  readonly xids: readonly FieldDefinition[];
  readonly secret: SecretField | undefined;
  /** Fields with an `@embedding`. */
  readonly embeddings: readonly FieldDefinition[];
  /** Generated inputs; undefined where there are none (reference/graphql 3.2, and emptied ones). */
  readonly addInput: InputObjectType | undefined;
  readonly refInput: InputObjectType | undefined;
  readonly patchInput: InputObjectType | undefined;
  readonly filterInput: InputObjectType | undefined;
  readonly orderInput: InputObjectType | undefined;
  readonly aggregateType: ObjectType | undefined;
  /** The written rules; compiled, they are in `CompiledSchema.rules`. */
  readonly auth: GivenDirectives["auth"];
  /** Its mutations that resolvers are told of (`@lambdaOnMutate`); those of its interfaces are told by themselves. */
  readonly watched: ReadonlySet<WatchedOperation> | undefined;
  /** The name of the field of `@key`, by which other services know its nodes; undefined for none. */
  readonly key: string | undefined;
}

/** What `@lambdaOnMutate` tells of. */
export type WatchedOperation = "add" | "update" | "delete";

/** `@secret(field:, pred:)`: written through inputs, read by `checkTPassword` alone. */
interface SecretField {
  readonly name: string;
  readonly predicate: string;
}

export type RootFieldKind =
  | "get"
  | "query"
  | "aggregate"
  | "similarById"
  | "similarByEmbedding"
  | "checkPassword"
  | "add"
  | "update"
  | "delete"
  | "custom"
  | "lambda"
  | "entities"
  | "service";

/** A field of Query, Mutation or Subscription. The same objects are in the `fields` of the root types. */
export interface RootField extends FieldDefinition {
  readonly kind: RootFieldKind;
  /** The type it is generated for; undefined for custom, lambda, entities, service. */
  readonly of: NodeType | undefined;
}

// ---------------------------------------------------------------------------------------------------------------
// GivenDirectives and comment lines

export interface DirectiveDefinition {
  readonly name: string;
  readonly description: string | undefined;
  /** Locations as in SDL: QUERY, FIELD, FRAGMENT_SPREAD, OBJECT … */
  readonly locations: readonly string[];
  readonly arguments: ReadonlyMap<string, ArgumentDefinition>;
}

/** `# Dgraph.…` lines (reference/graphql 1.6). */
export interface SchemaMeta {
  /** How callers are told apart; undefined: nobody shows a token. */
  readonly authorization: Authorization | undefined;
  /** Origins of `Dgraph.Allow-Origin`; empty when there is no such line (every origin may then read). */
  readonly allowOrigins: readonly string[];
  readonly secrets: ReadonlyMap<string, string>;
}
