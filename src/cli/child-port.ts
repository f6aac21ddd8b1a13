/** A child's first breath: it loads what its role needs, and begins when the supervisor says so. */
import type { Role, ToChild, ToSupervisor } from "./messages.ts";

type Start = (start: ToChild & { readonly kind: "start" }) => Promise<void>;

/**
 * Called in a process that the supervisor has started, with its role and what loads it. Ends the process when the
 * supervisor is gone.
 */
export function runChild(name: string | undefined, load: (role: Role) => Promise<Start>): void {
  // The supervisor decides when a child ends; a Ctrl-C reaches the whole group.
  process.on("SIGINT", () => {});
  process.on("SIGTERM", () => {});
  process.on("disconnect", () => process.exit(0));
  const loading = load(name as Role);
  loading.catch(fail);
  process.once("message", (message: ToChild) => {
    if (message.kind !== "start") return;
    loading.then((start) => start(message)).catch(fail);
  });
}

function fail(error: unknown): void {
  const line = error instanceof Error ? error.message : String(error);
  const isOurs = error instanceof Error && error.name !== "Fault";
  const failed: ToSupervisor = {
    kind: "failed",
    line: isOurs ? `${line}\n${error.stack ?? ""}` : line,
    isDamage: (error as { readonly code?: unknown } | undefined)?.code === "E_STORE_CORRUPT",
  };
  process.send?.(failed, () => process.exit(1));
}
