/** Databases for tests: each in memory, with fixtures, a clock that can be set, and users' tokens. */
import { createHmac } from "node:crypto";
import { systemClock } from "../base/clock.ts";
import { makeCompactToken } from "../base/compact-token.ts";
import type { DqlCall, EmbeddedDatabase } from "./api.ts";
import { showingFaults } from "./database-error.ts";
import { openEmbedded } from "./open.ts";
import type { Resolvers } from "./resolvers.ts";
import type { OpenTestDatabase, TestDatabase, TestOptions, TestTime } from "./test-api.ts";
import { readTokenForm, type TokenForm } from "./token-form.ts";

export const openTestDatabase: OpenTestDatabase = <Schema>(options: TestOptions<Schema> = {}) =>
  // The types of documents are the compiler's affair: what runs is the same for all schemas.
  openUntyped(options as TestOptions) as Promise<TestDatabase<Schema>>;

async function openUntyped(options: TestOptions): Promise<TestDatabase> {
  const time = new DatabaseTime(options.now);
  const resolvers = await showingFaults(() => openTestResolvers(options));
  const begin = (): Promise<EmbeddedDatabase> =>
    openWithFixtures(options, () => time.nowMs, resolvers);
  let current = await begin().catch(async (error: unknown) => {
    await resolvers?.close();
    throw error;
  });
  const form = readTokenForm(options.schema ?? "");
  const tokenOf = (claims: Readonly<Record<string, unknown>>): { header: string; token: string } =>
    signClaims(form, claims, time.nowMs);
  const database: TestDatabase = {
    graphql: (...asked) => current.graphql(...asked),
    request: (...asked) => current.request(...asked),
    subscribe: (...asked) => current.subscribe(...asked),
    dql: ((...asked: Parameters<DqlCall>) => current.dql(...asked)) as DqlCall,
    mutate: (mutation) => current.mutate(mutation),
    transaction: (work) => current.transaction(work),
    setSchema: (schema) => current.setSchema(schema),
    alter: (schema) => current.alter(schema),
    dropData: () => current.dropData(),
    close: async () => {
      await current.close();
      await resolvers?.close();
    },
    time,
    async reset() {
      await current.close();
      time.restart();
      current = await begin();
    },
    tokenOf,
    as: (claims) => ({
      graphql: (document, variables, given) =>
        current.graphql(document, variables, withToken(given, tokenOf(claims))),
      request: (document, variables, given) =>
        current.request(document, variables, withToken(given, tokenOf(claims))),
      subscribe: (document, variables, given) =>
        current.subscribe(document, variables, withToken(given, tokenOf(claims))),
    }),
  };
  return database;
}

/** One for all databases of the file: a process of resolvers takes longer to start than a database. */
async function openTestResolvers({ lambda }: TestOptions): Promise<Resolvers | undefined> {
  if (lambda === undefined) return undefined;
  const { openResolvers } = await import("./resolvers.ts");
  return await openResolvers(lambda);
}

async function openWithFixtures(
  options: TestOptions,
  now: () => number,
  resolvers: Resolvers | undefined,
): Promise<EmbeddedDatabase> {
  const { schema, dqlSchema, lambdaUrl, outgoing, fixtures } = options;
  const database = await showingFaults(() =>
    openEmbedded({ schema, dqlSchema, lambdaUrl, outgoing, now }, resolvers),
  );
  try {
    await fixtures?.(database);
    return database;
  } catch (error) {
    await database.close();
    throw error;
  }
}

type Given = NonNullable<Parameters<EmbeddedDatabase["graphql"]>[2]>;

function withToken(
  given: Given | undefined,
  { header, token }: { readonly header: string; readonly token: string },
): Given {
  return { ...given, headers: { ...given?.headers, [header]: token } };
}

/** The system's, until it is set. */
class DatabaseTime implements TestTime {
  readonly #firstMs: number | undefined;
  #setMs: number | undefined;

  constructor(first: TestOptions["now"]) {
    this.#firstMs = first === undefined ? undefined : new Date(first).getTime();
    this.#setMs = this.#firstMs;
  }

  get nowMs(): number {
    return this.#setMs ?? systemClock.nowMs();
  }

  get now(): Date {
    return new Date(this.nowMs);
  }

  set(time: Date | string | number): void {
    const ms = new Date(time).getTime();
    if (Number.isNaN(ms)) throw new TypeError(`${String(time)} is no time`);
    this.#setMs = ms;
  }

  advance(ms: number): void {
    this.#setMs = this.nowMs + ms;
  }

  restart(): void {
    this.#setMs = this.#firstMs;
  }
}

const lifeSeconds = 3600;

function signClaims(
  form: TokenForm | string,
  claims: Readonly<Record<string, unknown>>,
  nowMs: number,
): { readonly header: string; readonly token: string } {
  if (typeof form === "string") throw new TypeError(form);
  const { header, namespace, hash, algorithm, key, audience } = form;
  const exp = Math.floor(nowMs / 1000) + lifeSeconds;
  const body = {
    exp,
    ...(audience === undefined ? {} : { aud: audience }),
    ...(namespace === undefined ? claims : { [namespace]: claims }),
  };
  const token = makeCompactToken(algorithm, body, (text) =>
    createHmac(hash, key).update(text).digest("base64url"),
  );
  return { header, token };
}
