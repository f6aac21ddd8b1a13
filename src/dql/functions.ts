/**
 * What the lexer and the parser have to know of a function. The functions themselves stand above this module
 * (`exec/functions`); whoever reads a text hands their table in.
 */
export interface FunctionSyntax {
  /** Its first argument: a predicate (or `count(p)`, `val(v)`, `len(v)`), or `none`: all are arguments. */
  readonly subject: "predicate" | "none";
  /**
   * Which literals among its arguments are nothing but that, whatever they say, so that texts which differ in them share
   * a plan: `values` behind the subject, `uids` all of them.
   */
  readonly literals: "values" | "uids" | "none";
  /** Whether it may stand at a root. Filters take any name, and the plan refuses those that it does not know. */
  readonly atRoot: boolean;
  /** What square brackets hold: a list of values, or the nested numbers of a geometry. */
  readonly brackets?: "values" | "coordinates";
  /** Whether its subject may be `len(v)`. */
  readonly takesLength?: boolean;
  /** Whether a query variable in it holds `/expression/flags`. */
  readonly takesRegexp?: boolean;
  /** How many arguments stand behind the subject: `some`, or just `one`. Others are counted by the plan. */
  readonly needs?: "some" | "one";
  /** Keys of the options `key: value` that may stand behind two arguments. */
  readonly options?: readonly string[];
}

/** By name, in lower case. */
export type FunctionSyntaxes = ReadonlyMap<string, FunctionSyntax>;

/** Of names that no function has, and of the words of the grammar: `val`, `len`, `count`, `checkpwd`. */
export const unknownSyntax: FunctionSyntax = {
  subject: "predicate",
  literals: "none",
  atRoot: false,
};

/** For texts in which no call is read: bodies of mutations, whose queries are read later. */
export const noFunctions: FunctionSyntaxes = new Map();
