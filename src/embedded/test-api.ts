/** A database for tests. These types are published as they stand here, beside those of `api.ts`. */
import type { EmbeddedDatabase, OpenOptions } from "./api.ts";

export interface TestOptions<Schema = unknown> extends Omit<OpenOptions, "data" | "now"> {
  /** Puts in what each test begins with. */
  readonly fixtures?: ((database: EmbeddedDatabase<Schema>) => Promise<unknown>) | undefined;
  /** When the clock of the database begins; else it is the system's, until it is set. */
  readonly now?: Date | string | number | undefined;
}

/** Time as the database sees it. Once set, it stands still. */
export interface TestTime {
  readonly now: Date;
  set(time: Date | string | number): void;
  /** Milliseconds. */
  advance(ms: number): void;
}

export interface TestDatabase<Schema = unknown> extends EmbeddedDatabase<Schema> {
  readonly time: TestTime;
  /** Empties it, sets the first schema again, and runs the fixtures; time begins anew. */
  reset(): Promise<void>;
  /** The same database as a user sees it: requests carry a token with these claims, by the schema's own secret. */
  as(
    claims: Readonly<Record<string, unknown>>,
  ): Pick<EmbeddedDatabase<Schema>, "graphql" | "request" | "subscribe">;
  /** Such a token, and the header that carries it. It ends after an hour of the database's time. */
  tokenOf(claims: Readonly<Record<string, unknown>>): {
    readonly header: string;
    readonly token: string;
  };
}

export type OpenTestDatabase = <Schema = unknown>(
  options?: TestOptions<Schema>,
) => Promise<TestDatabase<Schema>>;
