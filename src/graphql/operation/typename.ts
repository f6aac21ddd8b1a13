import type { FieldDefinition, ScalarType } from "../schema/compiled-schema.ts";

const stringType: ScalarType = {
  kind: "scalar",
  name: "String",
  description: undefined,
  origin: "specified",
};

/** `__typename`, which every composite type has. */
export const typenameField: FieldDefinition = {
  name: "__typename",
  description: undefined,
  type: { kind: "named", type: stringType, nonNull: true, text: "String" },
  arguments: new Map(),
  printed: [],
  directives: {},
  deprecation: undefined,
  source: { kind: "part" },
};
