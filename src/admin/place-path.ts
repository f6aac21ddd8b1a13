/** The path that a location names; undefined where it names a place of another kind. */
import { fileURLToPath } from "node:url";

export function pathOfLocation(location: string): string | undefined {
  if (!location.includes("://")) return location;
  try {
    return location.startsWith("file://") ? fileURLToPath(location) : undefined;
  } catch {
    return undefined;
  }
}
