import { Fault } from "../../model/fault.ts";

/** An SDL whose problems are told one by one, each for itself. */
export class SchemaFault extends Fault {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super("E_GRAPHQL_SCHEMA", problems.join("\n"));
    this.problems = problems;
  }
}
