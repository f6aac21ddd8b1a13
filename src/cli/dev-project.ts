/** What `weft dev` serves: the files of a project, found anew each time that they are asked for. */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";

interface DevPaths {
  readonly schema: string;
  /** undefined: the first of the usual names that is there. */
  readonly script: string | undefined;
  readonly migrations: string;
  /** A file or a folder; undefined: the usual names. */
  readonly fixtures: string | undefined;
}

const scriptNames = ["resolvers.ts", "resolvers.js", "src/resolvers.ts", "src/resolvers.js"];
const fixtureEndings = [".graphql", ".json", ".rdf"];

export class DevProject {
  readonly schema: string;
  readonly migrations: string;
  readonly #script: string | undefined;
  readonly #fixtures: string | undefined;

  constructor(paths: DevPaths) {
    this.schema = paths.schema;
    this.migrations = paths.migrations;
    this.#script = paths.script;
    this.#fixtures = paths.fixtures;
  }

  /** The script of resolvers; one that was named is it even where it is not there. */
  script(): string | undefined {
    return this.#script ?? scriptNames.find((name) => existsSync(name));
  }

  /** In the order in which they are loaded: by their names. */
  fixtures(): readonly string[] {
    if (this.#fixtures !== undefined) return listFixtures(this.#fixtures);
    const single = fixtureEndings.map((ending) => `fixtures${ending}`);
    return [...single.filter((file) => existsSync(file)), ...listFixtures("fixtures")];
  }

  /** Every file of every migration. */
  migrationFiles(): readonly string[] {
    return listFolder(this.migrations).flatMap((name) =>
      listFolder(join(this.migrations, name)).map((file) => join(this.migrations, name, file)),
    );
  }

  /** What is looked at for changes, besides what the script imports. Some may not be there yet. */
  files(): readonly string[] {
    const scripts = this.#script === undefined ? scriptNames : [this.#script];
    return [this.schema, ...scripts, ...this.fixtures(), ...this.migrationFiles()];
  }

  /** Folders in which new files count. */
  folders(): readonly string[] {
    const migrations = listFolder(this.migrations).map((name) => join(this.migrations, name));
    const folders = [".", "src", this.migrations, ...migrations, this.#fixtures ?? "fixtures"];
    return folders.filter((folder) => isFolder(folder));
  }
}

function listFixtures(path: string): readonly string[] {
  if (!isFolder(path)) return existsSync(path) ? [path] : [];
  return listFolder(path)
    .filter((name) => fixtureEndings.some((ending) => name.endsWith(ending)))
    .map((name) => join(path, name));
}

/** [] where it is none. */
function listFolder(path: string): readonly string[] {
  try {
    return readdirSync(path).toSorted();
  } catch {
    return [];
  }
}

function isFolder(path: string): boolean {
  try {
    readdirSync(path);
    return true;
  } catch {
    return false;
  }
}
