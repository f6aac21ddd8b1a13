/** What the commands about schemas ask of a server. */
import type { Client } from "../load/client.ts";
import { Fault } from "../model/fault.ts";
import { openClient, type CredentialOptions } from "./credentials.ts";

/** The type SchemaChange of /admin. */
export interface ToldChange {
  readonly kind: string;
  readonly effect: "safe" | "index" | "changes" | "removes" | "breaks" | "impossible";
  readonly type: string;
  readonly typeName: string;
  readonly field: string | null;
  readonly predicate: string | null;
  readonly text: string;
  readonly hint: string | null;
  readonly nodes: number;
  readonly examples: readonly string[];
}

export interface ToldPlan {
  readonly updates: number;
  readonly changes: readonly ToldChange[];
  readonly warnings: readonly string[];
}

interface ServedSchema {
  readonly schema: string;
  readonly warnings: readonly string[];
}

export interface MigrationList {
  readonly applied: readonly { name: string; hash: string; appliedAt: string }[];
  readonly running: {
    readonly name: string;
    readonly hash: string;
    readonly direction: "UP" | "DOWN";
    readonly step: number;
    readonly until: string;
  } | null;
}

interface MigrationReport {
  readonly name: string;
  readonly hash: string;
  readonly direction: "UP" | "DOWN";
  readonly runner: string;
  readonly step: number;
  readonly state: "RUNNING" | "STOPPED" | "DONE";
}

const changeFields = "kind effect type typeName field predicate text hint nodes examples";
const migrationFields =
  "applied { name hash appliedAt } running { name hash direction step until }";

export class SchemaClient {
  readonly client: Client;

  constructor(options: CredentialOptions) {
    this.client = openClient(options);
  }

  async served(): Promise<ServedSchema | undefined> {
    const { getGQLSchema } = await this.#ask<{ getGQLSchema: ServedSchema | null }>(
      "{ getGQLSchema { schema warnings } }",
      {},
    );
    return getGQLSchema ?? undefined;
  }

  async plan(schema: string): Promise<ToldPlan> {
    const query = `query($schema: String!) { schemaPlan(schema: $schema) { updates changes { ${changeFields} } warnings } }`;
    return (await this.#ask<{ schemaPlan: ToldPlan }>(query, { schema })).schemaPlan;
  }

  async apply(schema: string, force: readonly string[], updates: number): Promise<ServedSchema> {
    const query =
      "mutation($input: ApplyGQLSchemaInput!) { applyGQLSchema(input: $input) { gqlSchema { schema warnings } } }";
    const input = { schema, force, updates };
    type Applied = { applyGQLSchema: { gqlSchema: ServedSchema } };
    return (await this.#ask<Applied>(query, { input })).applyGQLSchema.gqlSchema;
  }

  async migrations(): Promise<MigrationList> {
    const query = `{ migrations { ${migrationFields} } }`;
    return (await this.#ask<{ migrations: MigrationList }>(query, {})).migrations;
  }

  async report(input: MigrationReport): Promise<MigrationList> {
    const query = `mutation($input: ReportMigrationInput!) { reportMigration(input: $input) { ${migrationFields} } }`;
    return (await this.#ask<{ reportMigration: MigrationList }>(query, { input })).reportMigration;
  }

  async alter(schema: string): Promise<void> {
    const { messages } = await this.client.post("/alter", "application/dql", schema);
    const [message] = messages;
    if (message !== undefined) throw new Fault("E_STARTUP", message);
  }

  async #ask<T>(query: string, variables: object): Promise<T> {
    const body = JSON.stringify({ query, variables });
    const { messages, json } = await this.client.post("/admin", "application/json", body);
    if (messages.length > 0) throw new Fault("E_STARTUP", messages.join("\n"));
    return (json as { data: T }).data;
  }
}
