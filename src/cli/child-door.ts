/** A child's first breath: it waits for its part, then loads only what that needs. */
import type { ToChild, ToSupervisor } from "./messages.ts";

/** Called in a process that the supervisor has started. Ends the process when the supervisor is gone. */
export function runChild(): void {
  // The supervisor decides when a child ends; a Ctrl-C reaches the whole group.
  process.on("SIGINT", () => {});
  process.on("SIGTERM", () => {});
  process.on("disconnect", () => process.exit(0));
  process.once("message", (message: ToChild) => {
    if (message.kind !== "start") return;
    import("./child.ts")
      .then(({ startChild }) => startChild(message))
      .catch((error: unknown) => {
        const line = error instanceof Error ? error.message : String(error);
        const stack =
          error instanceof Error && error.name !== "Fault" ? `\n${error.stack ?? ""}` : "";
        const failed: ToSupervisor = { kind: "failed", line: line + stack };
        process.send?.(failed, () => process.exit(1));
      });
  });
}
