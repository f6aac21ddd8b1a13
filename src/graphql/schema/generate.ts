/** Generation (reference/graphql 3): the validated draft of the user's types → the draft of the whole API, in place. */
import { addEnum, addFilter, addHasFilter, addOrder, addUnionFilter } from "./generate-filters.ts";
import { addMutationInputs, addUnionRef, removeEmptyInputs } from "./generate-inputs.ts";
import { declaredFields, isNodeDraft, switchesOf } from "./generate-parts.ts";
import {
  addAggregateType,
  addFieldArguments,
  addMutations,
  addPayloads,
  addQueries,
  type Roots,
} from "./generate-roots.ts";
import {
  listRef,
  makeArgument,
  makeField,
  makeType,
  namedRef,
  type SchemaDraft,
  type DraftField,
  type DraftType,
} from "./sdl-draft.ts";

/** Adds the generated types and the root types; a root without fields is not in `draft.types`. */
export function generateApi(draft: SchemaDraft): Roots {
  const roots: Roots = {
    query: takeRoot(draft, "Query"),
    mutation: takeRoot(draft, "Mutation"),
    subscription: takeRoot(draft, "Subscription"),
  };
  for (const field of roots.query.fields)
    if (field.directives.withSubscription !== undefined && field.directives.custom !== undefined)
      roots.subscription.fields.push(field);

  addEntityQueries(draft, roots.query);

  const nodes = draft.user.filter(isNodeDraft);
  for (const type of draft.user)
    if (type.kind === "union" && type.directives.remote === undefined) {
      addUnionRef(draft, type);
      addUnionFilter(draft, type);
    }
  for (const type of nodes) {
    addVectorDistance(draft, type);
    addHasFilter(draft, type);
    addMutationInputs(draft, type);
    addFilter(draft, type);
    addOrder(draft, type);
  }
  for (const type of nodes) {
    addPayloads(draft, type);
    addAggregateType(draft, type);
    addQueries(draft, type, roots);
  }
  for (const type of nodes) addFieldArguments(draft, type);
  removeEmptyInputs(draft);
  for (const type of nodes) addMutations(draft, type, roots.mutation);
  for (const root of [roots.query, roots.mutation, roots.subscription])
    if (root.fields.length > 0) draft.types.set(root.name, root);
    else draft.types.delete(root.name);
  return roots;
}

/** The user's own root type with its custom fields, or a new one. */
function takeRoot(draft: SchemaDraft, name: string): DraftType {
  const own = draft.types.get(name);
  const root = own ?? makeType("object", name, "generated");
  root.objectRole = "root";
  for (const field of root.fields) {
    const kind = field.directives.lambda !== undefined ? "lambda" : "custom";
    field.purpose ??= { kind: "root", root: kind, of: undefined };
  }
  return root;
}

/** What a federation's gateway asks for (reference/graphql 2.12). */
function addEntityQueries(draft: SchemaDraft, query: DraftType): void {
  if (!draft.types.has("_Entity")) return;
  const entities = makeField("_entities", listRef(namedRef("_Entity"), true), {
    kind: "root",
    root: "entities",
    of: undefined,
  });
  entities.arguments = [makeArgument("representations", listRef(namedRef("_Any", true), true))];
  const service = makeField("_service", namedRef("_Service", true), {
    kind: "root",
    root: "service",
    of: undefined,
  });
  query.fields.push(entities, service);
}

/**
 * Types with vectors tell the distance, and name their vectors in an enum (reference/graphql 2.7); so they do when only
 * an interface of theirs can be searched, for they must have its fields.
 */
function addVectorDistance(draft: SchemaDraft, type: DraftType): void {
  const vectors = vectorsOf(type);
  if (vectors.length === 0) return;
  const searched = [type, ...type.interfaces.map((name) => draft.types.get(name))].some(
    (each) => each !== undefined && switchesOf(each).get && vectorsOf(each).length > 0,
  );
  if (!searched) return;
  if (switchesOf(type).get) addEnum(draft, type, `${type.name}Embedding`, vectors);
  const distance = makeField("vector_distance", namedRef("Float"), { kind: "vectorDistance" });
  type.fields = [...type.fields, distance];
}

function vectorsOf(type: DraftType): readonly DraftField[] {
  return declaredFields(type).filter((field) => field.directives.embedding !== undefined);
}
