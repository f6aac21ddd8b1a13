/** The data file that a process beside the writer reads, and the one that is to be exchanged for it. */
import { join } from "node:path";
import type { Environment, OtherFile } from "./environment.ts";
import { asideName } from "./exchange.ts";
import type { ExchangedFile } from "./link-client.ts";

export class ReadFile implements ExchangedFile {
  readonly #dir: string;
  /** undefined: it is not open yet, and will be in a pause. */
  #environment: Environment | undefined = undefined;
  #other: OtherFile | undefined = undefined;

  constructor(dir: string) {
    this.#dir = dir;
  }

  opened(environment: Environment): void {
    this.#environment = environment;
  }

  get isInPlace(): boolean {
    return this.#environment?.isInPlace !== false;
  }

  prepare(): void {
    this.forget();
    this.#other = this.#environment?.openOther(join(this.#dir, asideName));
  }

  use(): void {
    this.#other?.use();
    this.#other = undefined;
  }

  forget(): void {
    void this.#other?.close();
    this.#other = undefined;
  }
}
