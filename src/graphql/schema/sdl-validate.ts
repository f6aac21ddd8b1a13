/**
 * SDL text → validated draft of the user's types, in the order of reference/graphql 1.5 that decides which problem is
 * seen.
 */
import { assert } from "../../base/assert.ts";
import { checkSdl, findSdlProblems } from "./sdl-check.ts";
import {
  baseName,
  makeType,
  type SchemaDraft,
  type DraftDirective,
  type DraftType,
  type SchemaProblem,
} from "./sdl-draft.ts";
import { addedDeclarations } from "./directives/table.ts";
import { expandInterfaces } from "./sdl-expand.ts";
import { checkSdlNames } from "./sdl-type-names.ts";
import { isProblem, parseSdl, type ParsedSdl } from "./sdl-parse.ts";
import { federationText, preludeText, specifiedText } from "./sdl-prelude.ts";
import { checkRules } from "./sdl-rules.ts";
import type { TypeOrigin } from "./compiled-schema.ts";

/**
 * The draft, or all problems of the first stage that has any. Comment lines are not looked at. `hasLambda`: there is a
 * server for `@lambda`.
 */
export function readSdl(sdl: string, hasLambda: boolean): SchemaDraft | readonly SchemaProblem[] {
  if (sdl === "") return [{ message: "No schema specified", at: undefined }];
  const parsed = parseSdl(sdl, "user");
  if (isProblem(parsed)) return [parsed];
  const named = checkSdlNames(parsed.types);
  if (named.length > 0) return named;
  const expanded = expandInterfaces(parsed.types);
  if (expanded !== undefined) return [expanded];
  const draft = makeDraft(parsed, hasLambda);
  const invalid = checkSdl(draft);
  if (invalid !== undefined) return [invalid];
  const problems = checkRules(draft);
  return problems.length > 0 ? problems : draft;
}

/**
 * Every problem that can be told: those of each stage that the ones before leave in a state to be looked at. `at` is
 * undefined for what has no place.
 */
export function findAllProblems(sdl: string, hasLambda: boolean): readonly SchemaProblem[] {
  const parsed = parseSdl(sdl, "user");
  if (isProblem(parsed)) return [parsed];
  const named = checkSdlNames(parsed.types);
  const expanded = expandInterfaces(parsed.types);
  if (expanded !== undefined) return [...named, expanded];
  const draft = makeDraft(parsed, hasLambda);
  const invalid = [...named, ...findSdlProblems(draft)];
  // Rules are stated of schemas that are valid GraphQL.
  return invalid.length > 0 ? invalid : checkRules(draft);
}

export function isDraft(read: SchemaDraft | readonly SchemaProblem[]): read is SchemaDraft {
  return "types" in read;
}

/** The user's types with those that every schema knows behind them. */
function makeDraft(parsed: ParsedSdl, hasLambda: boolean): SchemaDraft {
  const types = new Map<string, DraftType>();
  const directives = new Map<string, DraftDirective>();
  const add = (part: ParsedSdl): void => {
    for (const type of part.types) if (!types.has(type.name)) types.set(type.name, type);
    for (const directive of part.directives)
      if (!directives.has(directive.name)) directives.set(directive.name, directive);
  };
  add(parsed);
  for (const part of builtinParts()) add(part);
  const declarations = addedDeclarations(findFieldDirectives(parsed.types));
  if (declarations !== "") add(readBuiltin(declarations, "prelude"));
  if (usesFederation(parsed.types)) add(makeFederation(parsed.types));
  const provided = findProvided(parsed.types);
  return { types, directives, user: parsed.types, hasLambda, provided };
}

/** The names of all directives at fields. */
function findFieldDirectives(types: readonly DraftType[]): ReadonlySet<string> {
  return new Set(
    types.flatMap(({ fields }) =>
      fields.flatMap(({ written }) => written.map(({ name }) => name.value)),
    ),
  );
}

let builtins: readonly ParsedSdl[] | undefined;

/** Parsed once; nothing changes them. */
function builtinParts(): readonly ParsedSdl[] {
  builtins ??= [readBuiltin(preludeText, "prelude"), readBuiltin(specifiedText, "specified")];
  return builtins;
}

export function readBuiltin(text: string, origin: TypeOrigin): ParsedSdl {
  const parsed = parseSdl(text, origin);
  assert(!isProblem(parsed), "a built-in SDL parses");
  return parsed;
}

/**
 * `@key` brings the definitions of Apollo federation in, and so does `extend type`, which needs one
 * (reference/graphql 2.12).
 */
function usesFederation(types: readonly DraftType[]): boolean {
  return types.some(
    (type) => type.directives.key !== undefined || type.directives.extends !== undefined,
  );
}

function makeFederation(types: readonly DraftType[]): ParsedSdl {
  const entity = makeType("union", "_Entity", "prelude");
  for (const type of types) if (type.directives.key !== undefined) entity.members.push(type.name);
  const parsed = readBuiltin(federationText, "prelude");
  return { types: [...parsed.types, entity], directives: parsed.directives };
}

function findProvided(types: readonly DraftType[]): Map<string, Set<string>> {
  const provided = new Map<string, Set<string>>();
  for (const type of types) {
    if (type.directives.remote !== undefined) continue;
    for (const field of type.fields) {
      const names = field.directives.provides?.fields ?? "";
      if (names === "") continue;
      const target = baseName(field.type);
      const known = provided.get(target) ?? new Set();
      for (const name of names.split(/\s+/)) if (name !== "") known.add(name);
      provided.set(target, known);
    }
  }
  return provided;
}
