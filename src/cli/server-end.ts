/** When a server ends. */
import { closeSync, openSync, readFileSync } from "node:fs";

interface End {
  readonly whenEnding: Promise<string>;
  readonly isEnding: () => boolean;
}

/**
 * A signal, an administrator, or with `withParent` the end of the parent process. A second Ctrl-C does not wait.
 * `reload`: what SIGHUP asks for where the terminal is still there.
 */
export function waitForEnd(
  whenShutDown: Promise<void>,
  reload: () => void,
  withParent: boolean,
): End {
  let reason: string | undefined;
  let isInterrupted = false;
  const whenEnding = new Promise<string>((resolve) => {
    const end = (why: string): void => {
      // A SIGTERM sent just after the first Ctrl-C may be delivered before it, so interrupts alone are counted.
      if (why === "SIGINT" && isInterrupted) process.exit(130);
      isInterrupted ||= why === "SIGINT";
      reason ??= why;
      resolve(reason);
    };
    void whenShutDown.then(() => end("an administrator has asked for the end"));
    process.on("SIGINT", () => end("SIGINT"));
    process.on("SIGTERM", () => end("SIGTERM"));
    const hadTerminal = process.stdout.isTTY || process.stderr.isTTY;
    process.on("SIGHUP", () => {
      if (hadTerminal && !hasTerminal()) end("SIGHUP, and the terminal is gone");
      else reload();
    });
    if (withParent) {
      const before = describeParents();
      const timer = setInterval(() => {
        if (describeParents() !== before) end("the parent process has ended");
      }, 500);
      timer.unref();
    }
  });
  return { whenEnding, isEnding: () => reason !== undefined };
}

/** Whether the terminal that the process was started from is still there. */
function hasTerminal(): boolean {
  try {
    closeSync(openSync("/dev/tty", "r"));
    return true;
  } catch {
    return false;
  }
}

/** Parent and grandparent: a package manager runs its scripts through a shell, and it is the manager that dies. */
function describeParents(): string {
  const parent = process.ppid;
  try {
    const stat = readFileSync(`/proc/${parent}/stat`, "utf8");
    const [, grandparent] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return `${parent} ${grandparent ?? ""}`;
  } catch {
    return String(parent);
  }
}
