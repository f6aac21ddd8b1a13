/**
 * Packages that are loaded when they are first used: many processes never use them, and each one would read and compile
 * them at its start. The sources take them as installed; a build puts each into a file of its own (`tools/build.mjs`).
 */
import { createRequire } from "node:module";

const require = createRequire(import.meta.url);
const isBuilt = !import.meta.url.endsWith(".ts");

export class LatePackage<Exports> {
  readonly #name: string;
  readonly #isInstalled: boolean;
  #loaded: Exports | undefined;

  /** The build has to know the name of one that is not installed with this package. */
  constructor(name: string, { isInstalled = false }: { readonly isInstalled?: boolean } = {}) {
    this.#name = name;
    this.#isInstalled = isInstalled;
  }

  load(): Exports {
    const loadFrom: (place: string) => Exports = require;
    const isApart = isBuilt && !this.#isInstalled;
    return (this.#loaded ??= loadFrom(isApart ? `./late/${this.#name}.cjs` : this.#name));
  }
}
