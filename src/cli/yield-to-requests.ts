/** Work beside a server gives way to what it answers. */
import { constants, setPriority } from "node:os";

/** `pid`: by default this process. */
export function yieldToRequests(pid?: number): void {
  try {
    setPriority(pid ?? 0, constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // It has ended already, or the system knows no priorities.
  }
}
