import { Fault } from "../../model/fault.ts";
import type { SchemaProblem } from "./sdl-draft.ts";

/** An SDL whose problems are told one by one, each for itself. */
export class SchemaFault extends Fault {
  readonly problems: readonly string[];
  /** The same for who writes it, with places; undefined where they have none. */
  readonly places: readonly SchemaProblem[] | undefined;

  constructor(problems: readonly string[], places?: readonly SchemaProblem[]) {
    super("E_GRAPHQL_SCHEMA", problems.join("\n"));
    this.problems = problems;
    this.places = places;
  }
}
