/** `weft schema new`, `up`, `down`, `status`: migrations of a folder, as the journal of a server knows them. */
import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { Fault } from "../model/fault.ts";
import { runUntilEmpty } from "./backfill.ts";
import { printSchemaPlan } from "./command-schema-plan.ts";
import { say } from "./log.ts";
import { inProject } from "./project-mask.ts";
import { makeMigration, readMigrations, type Migration } from "./migration-files.ts";
import { SchemaClient, type MigrationList } from "./schema-client.ts";
import type { MigrateOptions, MigrateToOptions, SchemaNewOptions } from "./schema-commands.ts";

export async function runSchemaNew(title: string, options: SchemaNewOptions): Promise<void> {
  const served = options.empty ? undefined : await new SchemaClient(options).served();
  const path = inProject(() => makeMigration(options.dir, title, served?.schema));
  say(`${path} is made: change its schema.graphql, and add before.dql or after.dql as needed`);
}

export async function runSchemaStatus(options: MigrateOptions): Promise<void> {
  const client = new SchemaClient(options);
  const journal = await client.migrations();
  const migrations = existsSync(options.dir) ? readMigrations(options.dir) : [];
  const states = listStates(migrations, journal);
  if (options.json) {
    process.stdout.write(`${JSON.stringify({ migrations: states, running: journal.running })}\n`);
  } else {
    const width = Math.max(0, ...states.map(({ name }) => name.length));
    for (const { name, state, appliedAt } of states) {
      process.stdout.write(`${name.padEnd(width)}  ${state}${appliedAt && ` ${appliedAt}`}\n`);
    }
    if (states.length === 0) process.stdout.write("there are no migrations\n");
    await tellDrift(client, migrations, journal);
  }
  if (states.some(({ state }) => state === "changed" || state === "missing")) process.exitCode = 1;
}

/** Whether somebody set a schema beside the migrations. */
async function tellDrift(
  client: SchemaClient,
  migrations: readonly Migration[],
  { applied }: MigrationList,
): Promise<void> {
  const names = new Set(applied.map(({ name }) => name));
  const wanted = lastSchema(migrations.filter(({ name }) => names.has(name)));
  if (wanted === undefined) return;
  const served = await client.served();
  if (served?.schema === wanted) return;
  process.stdout.write("the schema that is served is not that of the last migration\n");
}

interface MigrationState {
  readonly name: string;
  /** changed: its files are not those that were applied. missing: applied, and not in the folder. */
  readonly state: "applied" | "pending" | "begun" | "changed" | "missing";
  readonly appliedAt: string;
}

function listStates(
  migrations: readonly Migration[],
  { applied, running }: MigrationList,
): readonly MigrationState[] {
  const byName = new Map(applied.map((one) => [one.name, one]));
  const states = migrations.map(({ name, hash }): MigrationState => {
    const done = byName.get(name);
    byName.delete(name);
    if (running?.name === name) return { name, state: "begun", appliedAt: "" };
    if (done === undefined) return { name, state: "pending", appliedAt: "" };
    const state = done.hash === hash ? "applied" : "changed";
    return { name, state, appliedAt: done.appliedAt };
  });
  const missing = [...byName.values()].map(({ name, appliedAt }): MigrationState => {
    return { name, state: "missing", appliedAt };
  });
  return [...states, ...missing].toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

export async function runSchemaUp(options: MigrateToOptions): Promise<void> {
  const client = new SchemaClient(options);
  const migrations = readMigrations(options.dir);
  const journal = await client.migrations();
  refuseStrayed(listStates(migrations, journal));
  const names = new Set(journal.applied.map(({ name }) => name));
  if (journal.running !== null) names.delete(journal.running.name);
  const pending = migrations.filter(({ name }) => !names.has(name));
  const wanted = cutAt(pending, options.upTo, migrations);
  const latest = migrations.findLast(({ name }) => names.has(name));
  const early = pending.find(({ name }) => latest !== undefined && name < latest.name);
  if (early !== undefined && latest !== undefined) {
    throw new Fault("E_STARTUP", `${early.name} comes before ${latest.name}, which is applied`);
  }
  for (const migration of wanted) {
    const { before, storage, schema, after, force } = migration;
    const run = (file: string, dql: string | undefined): Promise<void> =>
      runDql(client, `${migration.name} ${file}`, dql, options.isStopped);
    await runSteps(client, migration, "UP", journal, [
      async () => run("before.dql", before),
      async () => {
        if (storage !== undefined) await client.alter(storage);
      },
      async () => setSchema(client, schema, [...force, ...options.force], options.warns),
      async () => run("after.dql", after),
    ]);
    say(`${migration.name} is applied`);
  }
  if (wanted.length === 0) say("nothing to do: all migrations are applied");
}

export async function runSchemaDown(options: MigrateOptions): Promise<void> {
  const client = new SchemaClient(options);
  const migrations = readMigrations(options.dir);
  const journal = await client.migrations();
  refuseStrayed(listStates(migrations, journal));
  const last = journal.running ?? journal.applied.at(-1);
  const migration = migrations.find(({ name }) => name === last?.name);
  if (migration === undefined) {
    say("nothing to do: no migration is applied");
    return;
  }
  const earlier = lastSchema(migrations.filter(({ name }) => name < migration.name));
  if (migration.schema !== undefined && earlier === undefined) {
    throw new Fault(
      "E_STARTUP",
      `${migration.name} has the first schema: there is none to go back to`,
    );
  }
  const schema = migration.schema === undefined ? undefined : earlier;
  await runSteps(client, migration, "DOWN", journal, [
    async () => runDql(client, `${migration.name} down.dql`, migration.down),
    async () => setSchema(client, schema, options.force),
  ]);
  say(`${migration.name} is taken back`);
}

function lastSchema(migrations: readonly Migration[]): string | undefined {
  return migrations.findLast(({ schema }) => schema !== undefined)?.schema;
}

function refuseStrayed(states: readonly MigrationState[]): void {
  const odd = states.find(({ state }) => state === "changed" || state === "missing");
  if (odd === undefined) return;
  const what =
    odd.state === "changed" ? "was changed since it was applied" : "is applied, and not there";
  throw new Fault("E_STARTUP", `${odd.name} ${what}: what is stored is not what the files say`);
}

function cutAt(
  pending: readonly Migration[],
  to: string | undefined,
  all: readonly Migration[],
): readonly Migration[] {
  if (to === undefined) return pending;
  const last = all.find(({ name }) => name === to || Number.parseInt(name, 10) === Number(to));
  if (last === undefined) throw new Fault("E_USAGE", `--up-to ${to}: there is no such migration`);
  return pending.filter(({ name }) => name <= last.name);
}

/** Well within the time after which another runner may go on. */
const heartbeatMs = 20_000;

/**
 * Each step is recorded before it: who goes on after an end repeats the one that was under way. Where the files were
 * changed since, or the way is another one, all steps are done again.
 */
async function runSteps(
  client: SchemaClient,
  { name, hash }: Migration,
  direction: "UP" | "DOWN",
  { running }: MigrationList,
  steps: readonly (() => Promise<void>)[],
): Promise<void> {
  const runner = randomUUID();
  const report = (step: number, state: "RUNNING" | "STOPPED" | "DONE") =>
    client.report({ name, hash, direction, runner, step, state });
  const isSame = running?.name === name && running.hash === hash && running.direction === direction;
  for (let step = isSame ? running.step : 0; step < steps.length; step++) {
    await report(step, "RUNNING");
    const beat = setInterval(() => void report(step, "RUNNING").catch(() => {}), heartbeatMs);
    try {
      await steps[step]?.();
    } catch (error) {
      clearInterval(beat);
      await report(step, "STOPPED").catch(() => {});
      throw error;
    } finally {
      clearInterval(beat);
    }
  }
  await report(steps.length, "DONE");
}

async function runDql(
  client: SchemaClient,
  title: string,
  dql: string | undefined,
  isStopped?: () => boolean,
): Promise<void> {
  if (dql !== undefined) await runUntilEmpty(client.client, title, dql, 0, isStopped);
}

async function setSchema(
  client: SchemaClient,
  schema: string | undefined,
  force: readonly string[],
  warns = true,
): Promise<void> {
  if (schema === undefined) return;
  const plan = await client.plan(schema);
  // What an ended run has set already changes no more.
  const names = new Set(plan.changes.flatMap(({ type, field }) => [type, `${type}.${field}`]));
  const known = force.filter((one) => names.has(one));
  process.stdout.write(printSchemaPlan(plan, known));
  const { warnings } = await client.apply(schema, known, plan.updates);
  if (warns) for (const warning of warnings) say(`warning: ${warning}`);
}
