/**
 * Migrations in files: a folder for each, named `0001-what-it-does`, of which each file is a step (docs/schema-changes.md):
 * `before.dql`, `storage.dql`, `schema.graphql`, `after.dql`; `down.dql` is for the way back.
 */
import { createHash } from "node:crypto";
import * as fs from "node:fs";
import { join } from "node:path";
import { Fault } from "../model/fault.ts";

export interface Migration {
  readonly name: string;
  /** Of all files that belong to it. */
  readonly hash: string;
  /** DQL that is run before the schemas are changed. */
  readonly before: string | undefined;
  /** For /alter. */
  readonly storage: string | undefined;
  /** The whole GraphQL schema from then on. */
  readonly schema: string | undefined;
  /** DQL that is run after. */
  readonly after: string | undefined;
  /** DQL that is run before the schema of the migration before is set again. */
  readonly down: string | undefined;
  /** Losses that are meant, as --force names them. */
  readonly force: readonly string[];
}

const files = {
  before: "before.dql",
  storage: "storage.dql",
  schema: "schema.graphql",
  after: "after.dql",
  down: "down.dql",
} as const;
const forceFile = "force";
const namePattern = /^\d{4,}-[\w-]+$/;

/** In the order of their numbers. Fault E_STARTUP where the folder is not what it should be. */
export function readMigrations(folder: string): readonly Migration[] {
  if (!fs.existsSync(folder)) {
    throw new Fault("E_STARTUP", `there is no folder ${folder}: weft schema new NAME makes it`);
  }
  const names = fs
    .readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .toSorted();
  const seen = new Set<number>();
  return names.map((name) => {
    if (!namePattern.test(name)) {
      throw new Fault("E_STARTUP", `${join(folder, name)}: a migration is named as 0001-first`);
    }
    const number = Number.parseInt(name, 10);
    if (seen.has(number)) {
      throw new Fault("E_STARTUP", `${folder} has two migrations of number ${number}`);
    }
    seen.add(number);
    return readMigration(folder, name);
  });
}

function readMigration(folder: string, name: string): Migration {
  const read = (file: string): string | undefined => {
    const path = join(folder, name, file);
    return fs.existsSync(path) ? fs.readFileSync(path, "utf8") : undefined;
  };
  const texts = {
    before: read(files.before),
    storage: read(files.storage),
    schema: read(files.schema),
    after: read(files.after),
    down: read(files.down),
  };
  const force = read(forceFile);
  const known = new Set<string>([...Object.values(files), forceFile]);
  const odd = fs.readdirSync(join(folder, name)).find((file) => !known.has(file));
  if (odd !== undefined) {
    throw new Fault("E_STARTUP", `${join(folder, name, odd)} is no step of a migration`);
  }
  const hash = createHash("sha256")
    .update(JSON.stringify([texts, force ?? null]))
    .digest("hex")
    .slice(0, 16);
  const names = (force ?? "").split(/\s+/).filter((word) => word !== "");
  return { name, hash, ...texts, force: names };
}

/** Makes the folder of the next migration, with `schema` to begin with; returns its path. */
export function makeMigration(folder: string, title: string, schema: string | undefined): string {
  const slug = title
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replaceAll(/^-+|-+$/g, "");
  if (slug === "") throw new Fault("E_STARTUP", `"${title}" has no letters to name a migration by`);
  fs.mkdirSync(folder, { recursive: true });
  const last = readMigrations(folder).at(-1);
  const number = last === undefined ? 1 : Number.parseInt(last.name, 10) + 1;
  const path = join(folder, `${String(number).padStart(4, "0")}-${slug}`);
  fs.mkdirSync(path);
  if (schema !== undefined) fs.writeFileSync(join(path, files.schema), schema);
  return path;
}
