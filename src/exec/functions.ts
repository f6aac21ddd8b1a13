/**
 * The functions of DQL. A new one is a file in `functions/` and a line here: the lexer and the parser, plans,
 * explanations, roots and filters all find it by this table.
 */
import type { FunctionSyntaxes } from "../dql/functions.ts";
import type { BuildCall, FunctionTable } from "../plan/builder.ts";
import type { CallKind, CallPlan, CallPlans } from "../plan/plan.ts";
import { compareCount } from "./functions/compare-count.ts";
import { compareLen } from "./functions/compare-len.ts";
import { compareVal } from "./functions/compare-val.ts";
import { compare } from "./functions/compare.ts";
import type { CallFunction } from "./functions/function.ts";
import { geo } from "./functions/geo.ts";
import { has } from "./functions/has.ts";
import { match } from "./functions/match.ts";
import { nothingCall } from "./functions/nothing.ts";
import { refusedCall } from "./functions/refused.ts";
import { regexp } from "./functions/regexp.ts";
import { similar } from "./functions/similar.ts";
import { terms } from "./functions/terms.ts";
import { uidIn } from "./functions/uid-in.ts";
import { uid } from "./functions/uid.ts";

/** One for each kind of plan that a call can have: the compiler misses none. */
const byKind: { readonly [K in CallKind]: CallFunction<CallPlans[K]> } = {
  compare,
  compareCount,
  compareLen,
  compareVal,
  geo,
  has,
  match,
  nothing: nothingCall,
  refused: refusedCall,
  regexp,
  similar,
  terms,
  uid,
  uidIn,
};

/** What a call does. Looked up once for a level or a column, never for a row. */
export function functionOf(call: CallPlan): CallFunction {
  return byKind[call.kind];
}

const forms = Object.values(byKind).flatMap((one: CallFunction) => one.forms);

const builders = new Map<string, BuildCall>(
  forms.flatMap(({ subject, names, build }) =>
    Object.keys(names).map((name) => [`${subject} ${name}`, build] as const),
  ),
);

/** By name, for the lexer and the parser. */
export const syntaxes: FunctionSyntaxes = new Map(
  forms.flatMap(({ names }) => Object.entries(names)),
);

/** For plans. */
export const functionTable: FunctionTable = {
  find: (subject, name) => builders.get(`${subject} ${name}`),
  of: functionOf,
};
