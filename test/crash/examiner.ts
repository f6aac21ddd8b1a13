/** A child that opens damaged stores; another takes its place when one ends it. */
import { fork, type ChildProcess } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { buildChild } from "./child-modules.ts";

export interface Judgement {
  /** "ended": the child was ended by a signal. */
  readonly result: "right" | "refused" | "told" | "wrong" | "ended";
  readonly detail?: string;
}

export class Examiner {
  private readonly dir = buildChild(["damage-child.mjs"]).dir;
  private child: ChildProcess | undefined = undefined;
  private readonly sound: () => string;

  /** `sound`: makes a directory with the store as it was before the damage. */
  constructor(sound: () => string) {
    this.sound = sound;
  }

  async examine(dir: string): Promise<Judgement> {
    const child = (this.child ??= await this.start());
    const judged = await this.ask(child, { dir });
    if (judged.result === "ended") this.child = undefined;
    return judged;
  }

  close(): void {
    this.child?.kill("SIGKILL");
    rmSync(this.dir, { recursive: true, force: true });
  }

  private async start(): Promise<ChildProcess> {
    const child = fork(join(this.dir, "damage-child.mjs"), {
      stdio: ["ignore", "ignore", "ignore", "ipc"],
    });
    const { result, detail } = await this.ask(child, { sound: this.sound() });
    if (result === "ended") throw new Error(`the sound store ends its reader (${detail ?? ""})`);
    return child;
  }

  private ask(child: ChildProcess, question: object): Promise<Judgement> {
    return new Promise((resolve) => {
      const end = (code: number | null, signal: string | null): void =>
        resolve({ result: "ended", detail: signal ?? `exit code ${code ?? ""}` });
      child.once("exit", end);
      child.once("message", (judged: Judgement) => {
        child.off("exit", end);
        resolve(judged);
      });
      child.send(question);
    });
  }
}
