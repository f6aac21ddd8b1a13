/** The recipes of `docs/clients.md`, read from the page and run as programs with the packages of `node_modules`. */
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../e2e/server.ts";

const page = readFileSync(join(root, "docs", "clients.md"), "utf8");

/** A block begins with its file's name in a comment; what it prints may stand below it. */
const block = /```(?:js|yaml|html)\n(?:\/\/|#|<!--) ([\w.-]+)(?: -->)?\n([^`]*(?:`[^`]+`[^`]*)*?)```\n+(?:```text( unordered)?\n([^`]+)```)?/g; // prettier-ignore

export interface Recipe {
  readonly file: string;
  readonly text: string;
  /** What it prints; undefined: it is used by others. */
  readonly output: string | undefined;
  /** Whether its lines may come in any order. */
  readonly isUnordered: boolean;
}

export const recipes: readonly Recipe[] = [...page.matchAll(block)].map(
  ([, file = "", text = "", unordered, output]) => ({
    file,
    text,
    output,
    isUnordered: unordered !== undefined,
  }),
);

/** The SDL that the recipes ask. */
export const recipeSchema = /```graphql schema\n([^`]+)```/.exec(page)?.[1] ?? "";

/** Recipes as files, in a folder from which the packages are found. */
export class Kitchen {
  readonly folder: string;
  readonly #url: string;
  readonly #grpc: string;

  /** `grpc`: where the server takes calls of gRPC, for the recipes that make some. */
  constructor(url: string, grpc = "") {
    this.#url = url;
    this.#grpc = grpc;
    const parent = join(root, "node_modules", ".cache");
    mkdirSync(parent, { recursive: true });
    this.folder = mkdtempSync(join(parent, "weft-recipes-"));
    for (const { file, text } of recipes) this.write(file, text);
  }

  /** The addresses of the page are those of the server of the test. */
  write(file: string, text: string): void {
    const host = new URL(this.#url).host;
    writeFileSync(
      join(this.folder, file),
      text.replaceAll("127.0.0.1:8080", host).replaceAll("127.0.0.1:9080", this.#grpc),
    );
  }

  /** What the program prints; rejects with what it says where it fails, or does not end. */
  run(file: string, args: readonly string[] = []): Promise<string> {
    return new Promise((resolve, reject) => {
      const options = { cwd: this.folder, timeout: 30_000 };
      const one = spawn(process.execPath, [file, ...args], options);
      let printed = "";
      let complaint = "";
      one.stdout.on("data", (chunk: Buffer) => (printed += chunk.toString()));
      one.stderr.on("data", (chunk: Buffer) => (complaint += chunk.toString()));
      one.once("close", (code) => {
        if (code === 0) resolve(printed);
        else reject(new Error(`${file} ended with ${code}: ${printed}${complaint}`));
      });
    });
  }

  clean(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}
