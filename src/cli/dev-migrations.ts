/**
 * Migrations of a project that is developed: applied to its store at the start and on save. What would lose stored data
 * is asked for first. The last one may be changed: it is applied again, on what it has made before.
 */
import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { Fault } from "../model/fault.ts";
import { runSchemaUp } from "./command-migrate.ts";
import { isRefused, nameOfChange } from "./command-schema-plan.ts";
import type { CredentialOptions } from "./credentials.ts";
import type { MigrateMode } from "./dev-commands.ts";
import type { DevQuestions } from "./dev-questions.ts";
import { say } from "./log.ts";
import { readMigrations, type Migration } from "./migration-files.ts";
import { SchemaClient } from "./schema-client.ts";

interface DevMigrationsParts {
  readonly dir: string;
  readonly mode: MigrateMode;
  readonly credentials: CredentialOptions;
  /** Undefined: nobody is there to be asked. */
  readonly questions: DevQuestions | undefined;
  /** What is wrong with a migration's schema, as it is told; "" for nothing. */
  readonly findProblems: (file: string, sdl: string) => string;
  /** Applies them again, with what was agreed to, in its turn. */
  readonly again: () => void;
}

export class DevMigrations {
  readonly #parts: DevMigrationsParts;
  readonly #client: SchemaClient;
  /** The hashes of migrations that somebody has agreed to, whatever they lose. */
  readonly #agreed = new Set<string>();

  #round = 0;

  /** Whether something is not applied yet: somebody may do that from outside. */
  isWaiting = false;

  constructor(parts: DevMigrationsParts) {
    this.#parts = parts;
    this.#client = new SchemaClient(parts.credentials);
  }

  /** What runs now ends before its next batch; it is not applied then. */
  interrupt(): void {
    this.#round++;
  }

  /** The names of those that were applied now. Fault E_STARTUP where the folder, or what one does, is not in order. */
  async apply(): Promise<readonly string[]> {
    const { dir, mode, questions } = this.#parts;
    questions?.withdraw();
    this.isWaiting = false;
    if (!existsSync(dir)) return [];
    const { pending, changed } = await this.#find();
    const problems = pending.map((one) => this.#problemsOf(one)).join("");
    if (problems !== "") {
      process.stderr.write(problems);
      return [];
    }
    if (pending.length === 0) return [];
    this.isWaiting = true;
    if (mode === "off") {
      say(
        `${namesOf(pending)}: not applied yet. When it is as it should be:\n  ${this.#command()}`,
      );
      return [];
    }
    const lossy = pending.find((one) => !this.#isAgreed(one) && deletes(one));
    if (lossy !== undefined) {
      this.#ask(lossy, `${lossy.name} deletes what is stored`);
      return [];
    }
    if (changed !== undefined) await this.#forget(changed);
    for (const migration of pending) {
      if (!(await this.#run(migration))) return [];
    }
    this.isWaiting = false;
    return pending.map(({ name }) => name);
  }

  /** `changed`: of those that are pending, the one that was applied in another form. */
  async #find(): Promise<{
    readonly pending: readonly Migration[];
    readonly changed: Migration | undefined;
  }> {
    const migrations = readMigrations(this.#parts.dir);
    const { applied, running } = await this.#client.migrations();
    const byName = new Map(applied.map(({ name, hash }) => [name, hash]));
    const latest =
      applied
        .map(({ name }) => name)
        .toSorted()
        .at(-1) ?? "";
    const missing = applied.find(({ name }) => !migrations.some((one) => one.name === name));
    if (missing !== undefined) throw stray(`${missing.name} is applied, and not there`);
    const changed = migrations.find(({ name, hash }) => (byName.get(name) ?? hash) !== hash);
    if (changed !== undefined && changed.name !== latest) {
      throw stray(`${changed.name} was changed, and ${latest} was applied after it`);
    }
    const pending = migrations.filter(
      (one) => one === changed || one.name === running?.name || !byName.has(one.name),
    );
    const early = pending.find(({ name }) => name < latest);
    if (early !== undefined) throw stray(`${early.name} comes before ${latest}, which is applied`);
    return { pending, changed: running?.name === changed?.name ? undefined : changed };
  }

  #problemsOf({ name, schema }: Migration): string {
    const file = `${this.#parts.dir}/${name}/schema.graphql`;
    return schema === undefined ? "" : this.#parts.findProblems(file, schema);
  }

  /** The journal knows it no more; what it has made stays, and its steps find it. */
  async #forget({ name, hash }: Migration): Promise<void> {
    const report = { name, hash, direction: "DOWN", runner: randomUUID(), step: 0 } as const;
    await this.#client.report({ ...report, state: "RUNNING" });
    await this.#client.report({ ...report, state: "DONE" });
  }

  /** False where it would lose something that nobody has agreed to. */
  async #run(migration: Migration): Promise<boolean> {
    const { dir, credentials } = this.#parts;
    const round = this.#round;
    const isStopped = (): boolean => this.#round !== round;
    // The server's log, on the same terminal, has the warnings.
    const told = { json: false, warns: false };
    const options = { ...credentials, dir, ...told, upTo: migration.name, isStopped };
    try {
      await runSchemaUp({ ...options, force: [] });
      return true;
    } catch (error) {
      if (isStopped()) {
        say(`${migration.name} was changed meanwhile`);
        return false;
      }
      const losses = error instanceof Fault ? await this.#findLosses(migration) : undefined;
      if (losses === undefined) throw error;
      if (!this.#isAgreed(migration)) {
        this.#ask(migration, `${migration.name} would lose stored data, as is told above`, losses);
        return false;
      }
      await runSchemaUp({ ...options, force: losses });
      return true;
    }
  }

  /** What `--force` has to name; undefined where that is not what stands in the way, or no force helps. */
  async #findLosses({ schema, force }: Migration): Promise<readonly string[] | undefined> {
    if (schema === undefined) return undefined;
    const { changes } = await this.#client.plan(schema);
    const refused = changes.filter((one) => isRefused(one) && !force.includes(nameOfChange(one)));
    if (refused.length === 0 || refused.some(({ effect }) => effect === "impossible")) {
      return undefined;
    }
    return refused.map((one) => nameOfChange(one));
  }

  #isAgreed({ hash }: Migration): boolean {
    return this.#parts.mode === "all" || this.#agreed.has(hash);
  }

  /** `losses`: what the command would have to name. */
  #ask({ hash }: Migration, why: string, losses: readonly string[] = []): void {
    const { questions, again } = this.#parts;
    if (questions === undefined) {
      say(
        `${why}: not applied. weft dev --migrate all does, and so does\n  ${this.#command(losses)}`,
      );
      return;
    }
    questions.ask(`weft: ${why}. Apply it?`, () => {
      this.#agreed.add(hash);
      again();
    });
  }

  #command(force: readonly string[] = []): string {
    const { dir, credentials } = this.#parts;
    const flags = force.map((name) => ` --force ${name}`).join("");
    return `weft schema up --dir ${dir}${flags} --to ${credentials.to}`;
  }
}

function stray(what: string): Fault {
  return new Fault("E_STARTUP", `${what}: weft dev --reset begins anew, with all of them`);
}

function namesOf(migrations: readonly Migration[]): string {
  return migrations.map(({ name }) => name).join(", ");
}

/** Whether its steps delete what is stored, or say that they may lose some. */
function deletes({ before, storage, after, force }: Migration): boolean {
  const dql = [before, after, storage].map((text) => withoutTexts(text ?? "")).join("\n");
  return force.length > 0 || /\bdelete\s*\{|"delete"|\bdrop/i.test(dql);
}

/** Comments and the contents of strings are no steps. */
function withoutTexts(dql: string): string {
  return dql.replaceAll(/"(?!delete")(?:[^"\\\n]|\\.)*"|#.*/g, '""');
}
