/**
 * What a GraphQL document asks and answers, worked out by the compiler from its text and the types that `weft types`
 * writes. These types are published as they stand here.
 */
import type { Fragment, InlineFragment, Parsed, ParsedDocument, Selected, FieldSelection, Spread } from "./document-syntax.ts"; // prettier-ignore

/** What `weft types` writes of a schema. References of types are as SDL writes them: `[Task!]!`. */
export interface SchemaTypes {
  /** The names of the types of operations. */
  readonly roots: Readonly<Record<"query" | "mutation" | "subscription", string>>;
  /** Type or interface → field → its type. */
  readonly fields: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** `Type.field` → names of its arguments. */
  readonly arguments: Readonly<Record<string, string>>;
  /** Interface or union → the types that it can be. */
  readonly possible: Readonly<Record<string, string>>;
  /** Scalar or enum → its values in answers. */
  readonly outputs: Readonly<Record<string, unknown>>;
  /** Scalar, enum or input → its values in variables. */
  readonly inputs: Readonly<Record<string, unknown>>;
}

/** A document that knows its types: of `documents()`, of codegen's client preset (nodes or strings), gql.tada, and their like. */
export interface TypedDocument<Data, Variables> {
  /** Never there: it carries the types. */
  readonly __apiType?: ((variables: Variables) => Data) | undefined;
}

/** What `documents()` makes: a text that knows its types and the fragments in it. */
export interface DocumentText<Data, Variables, Fragments = never> extends TypedDocument<
  Data,
  Variables
> {
  toString(): string;
  /** Never there: it carries the types. */
  readonly __fragments?: (() => Fragments) | undefined;
}

/** The data of a document: of a text, or of one that knows its types. */
export type DataOf<Document, Schema = unknown, Given = never> = Document extends string
  ? string extends Document
    ? Record<string, unknown>
    : DataOfParsed<Parsed<Document>, Schema, Given>
  : Document extends { readonly __apiType?: ((variables: never) => infer Data) | undefined }
    ? Data
    : never;

/** The variables of a document. */
export type VariablesOf<Document, Schema = unknown> = Document extends string
  ? string extends Document
    ? Record<string, unknown>
    : VariablesOfParsed<Parsed<Document>, Schema>
  : Document extends {
        readonly __apiType?: ((variables: infer Variables) => unknown) | undefined;
      }
    ? Variables
    : never;

type DataOfParsed<Document, Schema, Given> = Document extends ParsedDocument
  ? Schema extends SchemaTypes
    ? Document["operation"] extends null
      ? Document["first"] extends infer First extends Fragment
        ? ObjectOf<Schema, First["on"], First["selection"][number], Document["fragments"] | Given>
        : never
      : ObjectOf<
          Schema,
          Schema["roots"][NonNullable<Document["operation"]>["kind"]],
          NonNullable<Document["operation"]>["selection"][number],
          Document["fragments"] | Given
        >
    : never
  : never;

// ---------------------------------------------------------------------------------------------------------------
// Answers

type ValueOf<Schema extends SchemaTypes, Ref, Selection, Fragments> = Ref extends `${infer Inner}!`
  ? Present<Schema, Inner, Selection, Fragments>
  : Present<Schema, Ref, Selection, Fragments> | null;

type Present<
  Schema extends SchemaTypes,
  Ref,
  Selection,
  Fragments,
> = Ref extends `[${infer Element}]`
  ? ValueOf<Schema, Element, Selection, Fragments>[]
  : Ref extends keyof Schema["outputs"]
    ? Schema["outputs"][Ref]
    : ObjectOf<Schema, Ref, Selection, Fragments>;

/** Of an interface or a union with fragments: one object for each type that it can be. `Selection` is a union. */
type ObjectOf<
  Schema extends SchemaTypes,
  Type,
  Selection,
  Fragments,
> = Type extends keyof Schema["possible"]
  ? Extract<Selection, Spread | InlineFragment> extends never
    ? MembersOf<Schema, Type, Selection, Schema["possible"][Type]>
    : Schema["possible"][Type] extends infer One
      ? One extends string
        ? MembersOf<Schema, One, Flat<Schema, One, Selection, Fragments>, One, Fragments>
        : never
      : never
  : MembersOf<Schema, Type, Flat<Schema, Type, Selection, Fragments>, Type, Fragments>;

/** Fields of a selection that concern a type, those of fragments too. */
type Flat<
  Schema extends SchemaTypes,
  Type,
  Selection,
  Fragments,
  IsOptional = false,
> = Selection extends FieldSelection
  ? IsOptional extends true
    ? Omit<Selection, "isOptional"> & { readonly isOptional: true }
    : Selection
  : Selection extends InlineFragment
    ? IsOf<Schema, Type, Selection["on"]> extends true
      ? Flat<
          Schema,
          Type,
          Selection["selection"][number],
          Fragments,
          Either<IsOptional, Selection["isOptional"]>
        >
      : never
    : Selection extends Spread
      ? Extract<Fragments, { readonly name: Selection["name"] }> extends infer Found extends
          Fragment
        ? IsOf<Schema, Type, Found["on"]> extends true
          ? Flat<
              Schema,
              Type,
              Found["selection"][number],
              Fragments,
              Either<IsOptional, Selection["isOptional"]>
            >
          : never
        : never
      : never;

type Either<A, B> = A extends true ? true : B;

type IsOf<Schema extends SchemaTypes, Type, On> = On extends null | Type
  ? true
  : On extends keyof Schema["possible"]
    ? Type extends Schema["possible"][On]
      ? true
      : false
    : false;

type MembersOf<Schema extends SchemaTypes, Type, Fields, Typename, Fragments = never> = Simple<
  {
    readonly [Key in KeyOf<Extract<Fields, { readonly isOptional: false }>>]: MemberOf<
      Schema,
      Type,
      Extract<Fields, { readonly key: Key }>,
      Typename,
      Fragments
    >;
  } & {
    readonly [
      Key in Exclude<KeyOf<Fields>, KeyOf<Extract<Fields, { readonly isOptional: false }>>>
    ]?: MemberOf<Schema, Type, Extract<Fields, { readonly key: Key }>, Typename, Fragments>;
  }
>;

type KeyOf<Fields> = Fields extends { readonly key: infer Key extends string } ? Key : never;

/** `Fields`: all that are answered under one key; their selections are merged. */
type MemberOf<Schema extends SchemaTypes, Type, Fields, Typename, Fragments> =
  NameOf<Fields> extends "__typename"
    ? Typename
    : Type extends keyof Schema["fields"]
      ? NameOf<Fields> extends keyof Schema["fields"][Type]
        ? ValueOf<Schema, Schema["fields"][Type][NameOf<Fields>], SelectionOf<Fields>, Fragments>
        : never
      : never;

type NameOf<Fields> = Fields extends { readonly name: infer Name } ? Name : never;
type SelectionOf<Fields> = Fields extends { readonly selection: infer Selection extends readonly Selected[] } ? Selection[number] : never; // prettier-ignore
/** As one object, as the editor shows it. */
type Simple<T> = T extends infer Whole ? { [Key in keyof Whole]: Whole[Key] } : never;

// ---------------------------------------------------------------------------------------------------------------
// Variables

/** None of what cannot be read: that is told of the document. */
type VariablesOfParsed<Document, Schema> = [Document] extends [never]
  ? object
  : Document extends ParsedDocument
    ? Schema extends SchemaTypes
      ? NonNullable<Document["operation"]>["variables"] extends infer Variables
        ? Simple<
            {
              readonly [
                One in Variables as One extends {
                  readonly type: `${string}!`;
                  readonly hasDefault: false;
                  readonly name: infer Name extends string;
                }
                  ? Name
                  : never
              ]: InputOf<Schema, One extends { readonly type: infer Ref } ? Ref : never>;
            } & {
              readonly [
                One in Variables as One extends {
                  readonly type: `${string}!`;
                  readonly hasDefault: false;
                }
                  ? never
                  : One extends { readonly name: infer Name extends string }
                    ? Name
                    : never
              ]?:
                InputOf<Schema, One extends { readonly type: infer Ref } ? Ref : never> | undefined;
            }
          >
        : never
      : never
    : never;

type InputOf<Schema extends SchemaTypes, Ref> = Ref extends `${infer Inner}!`
  ? PresentInput<Schema, Inner>
  : PresentInput<Schema, Ref> | null;

type PresentInput<Schema extends SchemaTypes, Ref> = Ref extends `[${infer Element}]`
  ? readonly InputOf<Schema, Element>[]
  : Ref extends keyof Schema["inputs"]
    ? Schema["inputs"][Ref]
    : never;

// ---------------------------------------------------------------------------------------------------------------
// What is wrong

/** Shown by the compiler where a document does not fit its schema. */
interface DocumentFault<Message> {
  readonly fault: Message;
}

/** `unknown` where nothing is wrong, so that `Text & Checked<…>` is the text. */
export type Checked<Document, Schema, Given = never> = Document extends string
  ? string extends Document
    ? unknown
    : Schema extends SchemaTypes
      ? FaultsOf<Parsed<Document>, Schema, Given> extends infer Faults
        ? [Faults] extends [never]
          ? unknown
          : DocumentFault<Faults>
        : never
      : unknown
  : unknown;

type FaultsOf<Document, Schema extends SchemaTypes, Given> = [Document] extends [never]
  ? "the document is no GraphQL, or longer than the compiler can read"
  : Document extends ParsedDocument
    ? | (Document["operation"] extends infer Operation extends NonNullable<
          ParsedDocument["operation"]
        >
          ? | SelectionFaults<
                Schema,
                Schema["roots"][Operation["kind"]],
                Operation["selection"][number],
                Document["fragments"] | Given
              >
            | VariableFaults<Schema, Operation["variables"]>
          : never)
      | FragmentFaults<Schema, Document["fragments"], Document["fragments"] | Given>
    : "the document is no GraphQL, or longer than the compiler can read";

type FragmentFaults<Schema extends SchemaTypes, One, Fragments> = One extends Fragment
  ? One["on"] extends keyof Schema["fields"] | keyof Schema["possible"]
    ? SelectionFaults<Schema, One["on"], One["selection"][number], Fragments>
    : `there is no type ${One["on"]}`
  : never;

type VariableFaults<Schema extends SchemaTypes, Variables> = Variables extends {
  readonly type: infer Ref extends string;
  readonly name: infer Name extends string;
}
  ? BareName<Ref> extends infer Bare extends string
    ? Bare extends keyof Schema["inputs"]
      ? never
      : `$${Name}: there is no input type ${Bare}`
    : never
  : never;

type BareName<Ref extends string> = Ref extends `${infer Inner}!`
  ? BareName<Inner>
  : Ref extends `[${infer Inner}]`
    ? BareName<Inner>
    : Ref;

type SelectionFaults<Schema extends SchemaTypes, Type, Selection, Fragments> = Type extends string
  ? Selection extends FieldSelection
    ? FieldFaults<Schema, Type, Selection, Fragments>
    : Selection extends InlineFragment
      ? Selection["on"] extends infer On extends string
        ? On extends keyof Schema["fields"] | keyof Schema["possible"]
          ? SelectionFaults<Schema, On, Selection["selection"][number], Fragments>
          : `there is no type ${On}`
        : SelectionFaults<Schema, Type, Selection["selection"][number], Fragments>
      : Selection extends Spread
        ? Extract<Fragments, { readonly name: Selection["name"] }> extends never
          ? `there is no fragment ${Selection["name"]}`
          : never
        : never
  : never;

type FieldFaults<
  Schema extends SchemaTypes,
  Type extends string,
  One extends FieldSelection,
  Fragments,
> = One["name"] extends "__typename"
  ? never
  : One["name"] extends keyof FieldsOf<Schema, Type>
    ? | GivenFaults<Schema, Type, One>
      | ShapeFaults<
          Schema,
          `${Type}.${One["name"]}`,
          BareName<FieldsOf<Schema, Type>[One["name"]] & string>,
          One,
          Fragments
        >
    : `${Type} has no field ${One["name"]}`;

type FieldsOf<Schema extends SchemaTypes, Type> = Type extends keyof Schema["fields"]
  ? Schema["fields"][Type]
  : object;

type GivenFaults<
  Schema extends SchemaTypes,
  Type extends string,
  One extends FieldSelection,
> = One["given"] extends infer Name
  ? Name extends string
    ? `${Type}.${One["name"]}` extends infer Place extends string
      ? Place extends keyof Schema["arguments"]
        ? Name extends Schema["arguments"][Place]
          ? never
          : `${Place} has no argument ${Name}`
        : `${Place} has no argument ${Name}`
      : never
    : never
  : never;

type ShapeFaults<
  Schema extends SchemaTypes,
  Place extends string,
  Type extends string,
  One extends FieldSelection,
  Fragments,
> = Type extends keyof Schema["outputs"]
  ? One["selection"] extends null
    ? never
    : `${Place} is a ${Type}: nothing can be selected of it`
  : One["selection"] extends infer Selection extends readonly Selected[]
    ? SelectionFaults<Schema, Type, Selection[number], Fragments>
    : `${Place} is a ${Type}: say which of its fields`;
