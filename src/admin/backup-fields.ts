/** `backup`, `listBackups` and `restore`: what they are asked is checked; this release does not do them. */
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Fault } from "../model/fault.ts";
import type { FieldTable } from "./field.ts";

export function makeBackupFields(): FieldTable {
  return {
    "Query.listBackups": ({ input }: { input: { location: string } }) => {
      findPlace(input.location, `Error: cannot read manifests at location ${input.location}`);
      throw notYet("listBackups");
    },
    "Mutation.backup": ({ input }: { input: { destination: string } }) => {
      if (input.destination === "") {
        throw new Fault("E_BACKUP", "you must specify a 'destination' value");
      }
      throw notYet("backup");
    },
    "Mutation.restore": ({ input }: { input: { location: string } }) => {
      findPlace(input.location, "failed to verify backup: while retrieving manifests");
      throw notYet("restore");
    },
  };
}

/** Other machines' places are not looked at. */
function findPlace(location: string, failing: string): void {
  const path = pathOf(location);
  if (path === undefined || existsSync(path)) return;
  const why = `getManifestWithoutUpgrade: The uri path: "${path}" doesn't exists`;
  throw new Fault("E_BACKUP", `${failing}: ${why}`);
}

function pathOf(location: string): string | undefined {
  if (!location.includes("://")) return location;
  try {
    return location.startsWith("file://") ? fileURLToPath(location) : undefined;
  } catch {
    return undefined;
  }
}

function notYet(name: string): Fault {
  return new Fault("E_NOT_YET", `${name} is not available yet`);
}
