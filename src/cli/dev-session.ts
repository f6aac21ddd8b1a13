/**
 * What `weft dev` does when files change: the running server is told of the new text, and where that is wrong it keeps
 * the old one, and the terminal says why. One change after another.
 */
import { readFileSync } from "node:fs";
import { relative, resolve, sep } from "node:path";
import { countWords } from "../base/count-words.ts";
import { listResolvers, listWebhooks } from "../codegen/written-types.ts";
import { compileSchema, findSchemaProblems } from "../graphql/service/schema-compile.ts";
import { judgeSchema } from "../graphql/service/schema-verdict.ts";
import { Fault } from "../model/fault.ts";
import { lineOf, printFrame } from "./code-frame.ts";
import { isRefused, nameOfChange, printSchemaPlan } from "./command-schema-plan.ts";
import type { CredentialOptions } from "./credentials.ts";
import { loadFixture } from "./dev-fixtures.ts";
import type { MigrateMode } from "./dev-commands.ts";
import { DevMigrations } from "./dev-migrations.ts";
import type { DevQuestions } from "./dev-questions.ts";
import type { DevProject } from "./dev-project.ts";
import { say } from "./log.ts";
import type { ScriptReport } from "./messages.ts";
import { SchemaClient, type ToldPlan } from "./schema-client.ts";
import { writeSchemaTypes } from "./written-files.ts";

interface DevSessionParts {
  readonly project: DevProject;
  /** For this session's own requests. */
  readonly credentials: CredentialOptions;
  readonly reloadScript: (script: string | undefined) => Promise<ScriptReport>;
  readonly strictRules: boolean;
  readonly migrate: MigrateMode;
  /** Undefined: nobody is there to be asked. */
  readonly questions: DevQuestions | undefined;
  /** Where types are written; undefined: nowhere. */
  readonly types: { readonly dir: string; readonly int64: "number" | "string" } | undefined;
}

export class DevSession {
  readonly #parts: DevSessionParts;
  readonly #client: SchemaClient;
  readonly #migrations: DevMigrations;
  /** The one that is served, as far as this session knows. */
  #sdl: string | undefined;
  /** Migrations are not applied, or the schema would lose data: somebody may change that from outside. */
  #isWaiting = false;
  /** What the file says is not what is served, and that was told. */
  #isStrayed = false;
  #script: { readonly name: string | undefined; readonly resolvers: readonly string[] } | undefined;
  #imports: readonly string[] = [];
  #wantsFixtures = false;
  #told = "";
  #turn: Promise<void> = Promise.resolve();

  constructor(parts: DevSessionParts) {
    this.#parts = parts;
    this.#client = new SchemaClient(parts.credentials);
    const { project, credentials, migrate, questions, strictRules } = parts;
    this.#migrations = new DevMigrations({
      dir: project.migrations,
      mode: migrate,
      credentials,
      questions,
      findProblems: (file, sdl) => findProblems(file, sdl, strictRules),
      again: () =>
        void this.#enqueue(() => this.#attempt(project.migrations, () => this.#takeMigrations())),
    });
  }

  get sdl(): string | undefined {
    return this.#sdl;
  }

  /** `isEmpty`: the store has no data yet, and gets the fixtures. */
  async start(isEmpty: boolean): Promise<void> {
    this.#wantsFixtures = isEmpty;
    const setting = async (): Promise<void> => {
      this.#sdl = await this.#served();
      await this.#attempt(this.#parts.project.migrations, async () => void (await this.#migrate()));
      await this.#attempt(this.#parts.project.schema, () => this.#setSchema());
    };
    await Promise.all([setting(), this.#loadScript()]);
    this.#compareResolvers();
    if (this.#wantsFixtures && this.#sdl !== undefined) await this.#loadFixtures();
  }

  /** All that is looked at for changes. */
  files(): readonly string[] {
    return [...this.#parts.project.files(), ...this.#imports];
  }

  /** Never rejects. */
  changed(files: ReadonlySet<string>): Promise<void> {
    // A step that finds no end is ended by another text.
    if (this.#hasMigration(files)) this.#migrations.interrupt();
    return this.#enqueue(() => this.#take(files));
  }

  /** Whether somebody has set, from outside, what this session was refused. Never rejects. */
  look(): Promise<void> {
    return this.#isWaiting ? this.#enqueue(() => this.#lookOutside()) : this.#turn;
  }

  #enqueue(run: () => Promise<void>): Promise<void> {
    this.#turn = this.#turn.then(run).catch((error: unknown) => {
      // A mistake of this program's: the server goes on, and the next change is another try.
      tell(`weft: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
    });
    return this.#turn;
  }

  async #take(files: ReadonlySet<string>): Promise<void> {
    const { project } = this.#parts;
    const has = (list: readonly string[]): boolean => list.some((file) => files.has(resolve(file)));
    const folder = resolve(project.migrations) + sep;
    const others = new Set([project.schema, ...project.fixtures()].map((file) => resolve(file)));
    if (has([project.schema])) await this.#attempt(project.schema, () => this.#setSchema());
    if (this.#hasMigration(files)) {
      await this.#attempt(project.migrations, () => this.#takeMigrations());
    }
    if ([...files].some((file) => !others.has(file) && !file.startsWith(folder))) {
      await this.#loadScript();
    }
    this.#compareResolvers();
    if (this.#wantsFixtures && this.#sdl !== undefined) await this.#loadFixtures();
    else if (has(project.fixtures())) {
      await this.#loadFixtures(project.fixtures().filter((file) => files.has(resolve(file))));
    }
  }

  #hasMigration(files: ReadonlySet<string>): boolean {
    const folder = resolve(this.#parts.project.migrations) + sep;
    return [...files].some((file) => file.startsWith(folder));
  }

  async #lookOutside(): Promise<void> {
    const { schema } = this.#parts.project;
    await this.#attempt(schema, async () => {
      const served = await this.#served();
      if (served === undefined || served === this.#sdl) return;
      this.#sdl = served;
      this.#isWaiting = served !== readText(schema);
      say(
        `a schema was set from outside${this.#isWaiting ? `, and is not that of ${schema}` : ""}`,
      );
      this.#writeTypes(served);
    });
  }

  /** What goes wrong is told, and the server stays as it was. */
  async #attempt(what: string, run: () => Promise<void>): Promise<void> {
    try {
      await run();
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      tell(`${what}: error: ${error.message}\n`);
    }
  }

  // -------------------------------------------------------------------------------------------------------------
  // The schema

  async #setSchema(): Promise<void> {
    const file = this.#parts.project.schema;
    const sdl = readText(file);
    if (sdl === undefined) {
      tell(`${file} is not there${this.#sdl === undefined ? ": write one" : this.#staying()}\n`);
      return;
    }
    const problems = findProblems(file, sdl, this.#parts.strictRules);
    if (problems !== "") {
      this.#isStrayed = true;
      tell(problems + this.#stayingLine());
      return;
    }
    if (sdl === this.#sdl) {
      this.#isWaiting = false;
      if (this.#isStrayed) say(`${file} is what is served`);
      this.#isStrayed = false;
      this.#writeTypes(sdl);
      return;
    }
    const plan = await this.#client.plan(sdl);
    if (plan.changes.some(isRefused)) {
      this.#isWaiting = true;
      this.#isStrayed = true;
      tell(`${printSchemaPlan(plan)}${this.#howToGoOn(plan)}${this.#stayingLine()}`);
      return;
    }
    // What it warns of is in the log.
    await this.#client.apply(sdl, [], plan.updates);
    if (this.#sdl !== undefined) process.stdout.write(printChanges(plan));
    this.#sdl = sdl;
    this.#isWaiting = false;
    this.#isStrayed = false;
    say(`${file} is set`);
    this.#writeTypes(sdl);
  }

  async #served(): Promise<string | undefined> {
    const schema = (await this.#client.served())?.schema;
    return schema === "" ? undefined : schema;
  }

  #staying(): string {
    return this.#sdl === undefined
      ? "; no schema is served yet"
      : "; the schema of before is served";
  }

  #stayingLine(): string {
    return `weft: ${this.#staying().slice(2)}\n`;
  }

  #howToGoOn({ changes }: ToldPlan): string {
    const refused = changes.filter(isRefused);
    if (refused.some(({ effect }) => effect === "impossible")) return "";
    const { project, credentials } = this.#parts;
    const flags = refused.map((change) =>
      change.kind === "required"
        ? `--backfill "${nameOfChange(change)}=VALUE"`
        : `--force ${nameOfChange(change)}`,
    );
    const words = [...new Set(flags)].join(" ");
    return `To go on all the same:\n  weft schema apply ${project.schema} ${words} --to ${credentials.to}\n`;
  }

  #writeTypes(sdl: string): void {
    const { types } = this.#parts;
    if (types === undefined) return;
    const names = writeSchemaTypes(types.dir, sdl, types.int64);
    if (names.length > 0) say(`types: ${names.join(", ")}`);
  }

  // -------------------------------------------------------------------------------------------------------------
  // Migrations

  /** Whether some were applied. */
  async #migrate(): Promise<boolean> {
    const applied = await this.#migrations.apply();
    this.#isWaiting ||= this.#migrations.isWaiting;
    if (applied.length === 0) return false;
    this.#sdl = await this.#served();
    this.#isWaiting = false;
    return true;
  }

  /** A migration that was saved is served, also where the schema's file says something else. */
  async #takeMigrations(): Promise<void> {
    if (!(await this.#migrate()) || this.#sdl === undefined) return;
    this.#writeTypes(this.#sdl);
    const { schema } = this.#parts.project;
    const written = readText(schema);
    this.#isStrayed = written !== undefined && written !== this.#sdl;
    if (this.#isStrayed) say(`the schema of the migration is served, and not ${schema}`);
  }

  // -------------------------------------------------------------------------------------------------------------
  // Resolvers and fixtures

  async #loadScript(): Promise<void> {
    const name = this.#parts.project.script();
    const report = await this.#parts.reloadScript(name);
    if (!report.ok) {
      for (const { text, place, lineText } of report.problems) {
        const file = place?.file ?? name ?? "resolvers";
        tell(printFrame({ file, at: place, message: text, source: lineText }));
      }
      const before =
        this.#script?.name === undefined ? "there are no resolvers" : "those of before run";
      tell(`weft: ${before}\n`);
      return;
    }
    const { files, resolvers } = report.script;
    const isFirst = this.#script === undefined;
    this.#script = { name, resolvers };
    this.#imports = files.filter((file) => !file.includes("node_modules"));
    if (name === undefined && isFirst) return;
    const count = countWords(resolvers.length, "resolvers");
    say(name === undefined ? "the script is gone: there are no resolvers" : `${name}: ${count}`);
  }

  /** A name that is written in two ways is the commonest mistake. */
  #compareResolvers(): void {
    if (this.#script === undefined || this.#sdl === undefined) return;
    const { name = "resolvers.ts", resolvers } = this.#script;
    const schema = compileSchema(this.#sdl);
    const fields = listResolvers(schema);
    const webhooks = listWebhooks(schema);
    const isMissing = (one: string): boolean => !resolvers.includes(one);
    const idle = resolvers.filter((one) => !fields.includes(one) && !webhooks.includes(one));
    const lines = [
      ...fields
        .filter(isMissing)
        .map((one) => `${one} has @lambda, and ${name} no resolver for it`),
      ...webhooks
        .filter(isMissing)
        .map((one) => `@lambdaOnMutate asks for ${one}, and ${name} has no resolver for it`),
      ...idle.map((one) => `${name} has a resolver ${one}, and the schema ${askedBy(one)} there`),
    ];
    const text = lines.map((line) => `weft: warning: ${line}\n`).join("");
    if (text !== this.#told) tell(text);
    this.#told = text;
  }

  async #loadFixtures(files = this.#parts.project.fixtures()): Promise<void> {
    this.#wantsFixtures = false;
    for (const file of files) {
      await this.#attempt(file, async () => {
        const problem = await loadFixture(file, this.#sdl ?? "", this.#parts.credentials);
        if (problem === undefined) say(`${relative(".", file)} is loaded`);
        else tell(problem);
      });
    }
  }
}

/** What could have asked for a resolver: names of webhooks end in an operation. */
function askedBy(name: string): string {
  return /\.(?:add|update|delete)$/.test(name) ? "no @lambda or @lambdaOnMutate" : "no @lambda";
}

function readText(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}

/** As compilers tell them, each with its line; "" where there are none. */
function findProblems(file: string, sdl: string, strictRules: boolean): string {
  const problems = findSchemaProblems(sdl, true);
  if (problems.length > 0) {
    return problems
      .map(({ message, at }) => {
        const source = at === undefined ? undefined : lineOf(sdl, at.line);
        return printFrame({ file, at, message, source });
      })
      .join("");
  }
  const verdict = judgeSchema(sdl, { hasLambda: true, allowsRuleGaps: !strictRules });
  return verdict.problems.map((text) => `${file}: error: ${text.trim()}\n`).join("");
}

const shownChangesMax = 20;

function printChanges(plan: ToldPlan): string {
  const { changes } = plan;
  const text = printSchemaPlan({ ...plan, changes: changes.slice(0, shownChangesMax) });
  const lines = text.trimEnd().split("\n").slice(0, -1);
  const more = changes.length - shownChangesMax;
  return [...lines, ...(more > 0 ? [`and ${more} more changes`] : []), ""].join("\n");
}

/** Where compilers tell what is wrong. */
function tell(text: string): void {
  process.stderr.write(text);
}
