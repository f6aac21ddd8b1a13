/** GraphQL documents in types: tokens to operations, fragments and selections. These types are published as they stand here. */
import type { DocumentTokens } from "./document-tokens.ts";

/** A member of a selection. */
export type Selected = FieldSelection | Spread | InlineFragment;

export interface FieldSelection {
  readonly kind: "field";
  readonly name: string;
  /** Under which it is answered. */
  readonly key: string;
  /** With `@include` or `@skip`. */
  readonly isOptional: boolean;
  /** Names of its arguments. */
  readonly given: string;
  /** null: it has none. */
  readonly selection: readonly Selected[] | null;
}

export interface Spread {
  readonly kind: "spread";
  readonly name: string;
  readonly isOptional: boolean;
}

export interface InlineFragment {
  readonly kind: "inline";
  /** null: of the type around it. */
  readonly on: string | null;
  readonly isOptional: boolean;
  readonly selection: readonly Selected[];
}

export interface Fragment {
  readonly name: string;
  readonly on: string;
  readonly selection: readonly Selected[];
}

interface Variable {
  readonly name: string;
  /** As written: `[ID!]!`. */
  readonly type: string;
  readonly hasDefault: boolean;
}

export interface ParsedDocument {
  /** Its first operation; null where there are fragments alone. */
  readonly operation: {
    readonly kind: "query" | "mutation" | "subscription";
    readonly variables: Variable;
    readonly selection: readonly Selected[];
  } | null;
  /** A union. */
  readonly fragments: Fragment;
  /** The first of them, of a document without an operation. */
  readonly first: Fragment | null;
}

export type Parsed<Text extends string> = Definitions<DocumentTokens<Text>>;

type Definitions<
  Given extends readonly string[],
  Operation = null,
  Fragments = never,
  First = null,
> = Given extends readonly ["{", ...infer Rest extends string[]]
  ? Selections<Rest> extends [infer Selection, infer Behind extends string[]]
    ? Definitions<
        Behind,
        FirstOf<Operation, { kind: "query"; variables: never; selection: Selection }>,
        Fragments,
        First
      >
    : never
  : Given extends readonly [
        infer Kind extends "query" | "mutation" | "subscription",
        ...infer Rest extends string[],
      ]
    ? OperationParts<Rest> extends [infer Variables, infer Selection, infer Behind extends string[]]
      ? Definitions<
          Behind,
          FirstOf<Operation, { kind: Kind; variables: Variables; selection: Selection }>,
          Fragments,
          First
        >
      : never
    : Given extends readonly [
          "fragment",
          infer Name extends string,
          "on",
          infer On extends string,
          ...infer Rest extends string[],
        ]
      ? OperationParts<Rest> extends [unknown, infer Selection, infer Behind extends string[]]
        ? Definitions<
            Behind,
            Operation,
            Fragments | { name: Name; on: On; selection: Selection },
            FirstOf<First, { name: Name; on: On; selection: Selection }>
          >
        : never
      : Given extends readonly []
        ? { operation: Operation; fragments: Fragments; first: First }
        : never;

type FirstOf<A, B> = A extends null ? B : A;

/** Behind the kind of an operation, or the type of a fragment. */
type OperationParts<Given extends readonly string[], Variables = never> = Given extends readonly [
  "{",
  ...infer Rest extends string[],
]
  ? Selections<Rest> extends [infer Selection, infer Behind]
    ? [Variables, Selection, Behind]
    : never
  : Given extends readonly ["(", ...infer Rest extends string[]]
    ? VariableList<Rest> extends [infer Found, infer Behind extends string[]]
      ? OperationParts<Behind, Found>
      : never
    : Given extends readonly [`@${string}`, "(", ...infer Rest extends string[]]
      ? OperationParts<Arguments<Rest>[1], Variables>
      : // A name, or a directive.
        Given extends readonly [string, ...infer Rest extends string[]]
        ? OperationParts<Rest, Variables>
        : never;

type VariableList<Given extends readonly string[], Out = never> = Given extends readonly [
  ")",
  ...infer Rest,
]
  ? [Out, Rest]
  : Given extends readonly [`$${infer Name}`, ":", ...infer Rest extends string[]]
    ? TakeType<Rest> extends [infer Type, infer Behind extends string[]]
      ? Behind extends readonly ["=", ...string[]]
        ? VariableList<AfterDefault<Behind>, Out | { name: Name; type: Type; hasDefault: true }>
        : VariableList<Behind, Out | { name: Name; type: Type; hasDefault: false }>
      : never
    : Given extends readonly [string, ...infer Rest extends string[]]
      ? VariableList<Rest, Out>
      : never;

type TakeType<Given extends readonly string[], Out extends string = ""> = Given extends readonly [
  infer First extends string,
  ...infer Rest extends string[],
]
  ? First extends ")" | "=" | `$${string}` | `@${string}`
    ? [Out, Given]
    : TakeType<Rest, `${Out}${First}`>
  : never;

type AfterDefault<Given extends readonly string[]> = Given extends readonly [
  ")" | `$${string}`,
  ...string[],
]
  ? Given
  : Given extends readonly [string, ...infer Rest extends string[]]
    ? AfterDefault<Rest>
    : [];

/** Up to the brace that closes them. */
type Selections<
  Given extends readonly string[],
  Out extends readonly unknown[] = [],
> = Given extends readonly ["}", ...infer Rest]
  ? [Out, Rest]
  : Given extends readonly ["...", "on", infer On extends string, ...infer Rest extends string[]]
    ? Inline<On, Rest, Out>
    : Given extends readonly ["...", "{" | `@${string}`, ...string[]]
      ? Given extends readonly ["...", ...infer Rest extends string[]]
        ? Inline<null, Rest, Out>
        : never
      : Given extends readonly ["...", infer Name extends string, ...infer Rest extends string[]]
        ? Directives<Rest> extends [infer IsOptional, infer Behind extends string[]]
          ? Selections<Behind, [...Out, { kind: "spread"; name: Name; isOptional: IsOptional }]>
          : never
        : Given extends readonly [
              infer Key extends string,
              ":",
              infer Name extends string,
              ...infer Rest extends string[],
            ]
          ? Field<Key, Name, Rest, Out>
          : Given extends readonly [infer Name extends string, ...infer Rest extends string[]]
            ? Field<Name, Name, Rest, Out>
            : never;

type Inline<
  On extends string | null,
  Given extends readonly string[],
  Out extends readonly unknown[],
> =
  Directives<Given> extends [infer IsOptional, ["{", ...infer Rest extends string[]]]
    ? Selections<Rest> extends [infer Selection, infer Behind extends string[]]
      ? Selections<
          Behind,
          [...Out, { kind: "inline"; on: On; isOptional: IsOptional; selection: Selection }]
        >
      : never
    : never;

type Field<
  Key extends string,
  Name extends string,
  Given extends readonly string[],
  Out extends readonly unknown[],
> =
  FieldArguments<Given> extends [infer Names, infer Rest extends string[]]
    ? Directives<Rest> extends [infer IsOptional, infer Behind extends string[]]
      ? Behind extends readonly ["{", ...infer Inner extends string[]]
        ? Selections<Inner> extends [infer Selection, infer Next extends string[]]
          ? Selections<Next, [...Out, MadeField<Key, Name, IsOptional, Names, Selection>]>
          : never
        : Selections<Behind, [...Out, MadeField<Key, Name, IsOptional, Names, null>]>
      : never
    : never;

interface MadeField<Key, Name, IsOptional, Given, Selection> {
  readonly kind: "field";
  readonly name: Name;
  readonly key: Key;
  readonly isOptional: IsOptional;
  readonly given: Given;
  readonly selection: Selection;
}

type FieldArguments<Given extends readonly string[]> = Given extends readonly [
  "(",
  ...infer Rest extends string[],
]
  ? Arguments<Rest>
  : [never, Given];

/** [names, what follows]. Values hold no parentheses, but objects and lists. */
type Arguments<
  Given extends readonly string[],
  Names = never,
  Depth extends readonly 1[] = [],
> = Given extends readonly [")", ...infer Rest extends string[]]
  ? [Names, Rest]
  : Given extends readonly ["{" | "[", ...infer Rest extends string[]]
    ? Arguments<Rest, Names, [...Depth, 1]>
    : Given extends readonly ["}" | "]", ...infer Rest extends string[]]
      ? Arguments<Rest, Names, Depth extends readonly [1, ...infer Outer extends 1[]] ? Outer : []>
      : Given extends readonly [infer Name extends string, ":", ...infer Rest extends string[]]
        ? Arguments<Rest, Depth extends readonly [] ? Names | Name : Names, Depth>
        : Given extends readonly [string, ...infer Rest extends string[]]
          ? Arguments<Rest, Names, Depth>
          : [Names, []];

/** [whether one of them may leave the field out, what follows]. */
type Directives<
  Given extends readonly string[],
  IsOptional extends boolean = false,
> = Given extends readonly ["@include" | "@skip", "(", ...infer Rest extends string[]]
  ? Directives<Arguments<Rest>[1], true>
  : Given extends readonly [`@${string}`, "(", ...infer Rest extends string[]]
    ? Directives<Arguments<Rest>[1], IsOptional>
    : Given extends readonly [`@${string}`, ...infer Rest extends string[]]
      ? Directives<Rest, IsOptional>
      : [IsOptional, Given];
