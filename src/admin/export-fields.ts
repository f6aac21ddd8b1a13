/** `export`. */
import { fileURLToPath } from "node:url";
import { Fault } from "../model/fault.ts";
import type { Principal } from "../model/principal.ts";
import type { FieldTable } from "./field.ts";
import {
  readCredentials,
  type CredentialsInput,
  type PlaceCredentials,
} from "./place-credentials.ts";

interface ExportWish {
  readonly format: "rdf" | "json";
  readonly namespace: number | "all";
  /** A folder below the server's own for exports, "" for that itself; or `s3://BUCKET/PREFIX`. */
  readonly destination: string;
  /** Of a bucket. */
  readonly credentials: PlaceCredentials | undefined;
}

/** Exports run beside the server's own processes. */
export interface Exports {
  /** The task's id, as `0x1a`. Fault E_TASK for a destination that cannot be. */
  start(wish: ExportWish): Promise<string>;
}

interface ExportInput extends CredentialsInput {
  readonly format?: string | null;
  readonly namespace?: number | null;
  readonly destination?: string | null;
}

export function makeExportFields(exports: Exports | undefined): FieldTable {
  return {
    "Mutation.export": async ({ input }: { input: ExportInput }, { principal }) => {
      if (exports === undefined) throw new Fault("E_NOT_YET", "export is not available yet");
      const format = readFormat(input.format);
      const destination = readDestination(input.destination);
      const namespace = chooseNamespace(principal, input.namespace);
      const credentials = readCredentials(input, "E_TASK");
      const taskId = await exports.start({ format, namespace, destination, credentials });
      const message = `Export queued with ID ${taskId}`;
      return { response: { code: "Success", message }, taskId };
    },
  };
}

function readFormat(format: string | null | undefined): ExportWish["format"] {
  if (format === undefined || format === null || format === "") return "rdf";
  if (format === "rdf" || format === "json") return format;
  throw new Fault("E_TASK", `invalid export format: ${format}`);
}

function readDestination(destination: string | null | undefined): string {
  const text = destination ?? "";
  const [, scheme] = /^([a-z][a-z0-9+.-]*):/i.exec(text) ?? [];
  if (scheme === undefined) return text;
  if (scheme.toLowerCase() === "file") return pathOfUrl(text);
  if (scheme === "s3") return text;
  throw new Fault(
    "E_NOT_YET",
    `an export to ${scheme} is not available yet: name a directory, or s3://BUCKET/PREFIX`,
  );
}

function pathOfUrl(url: string): string {
  try {
    return fileURLToPath(url);
  } catch {
    throw new Fault("E_TASK", `invalid destination: ${url}`);
  }
}

/** The own one; guardians of namespace 0 choose, and −1 are all. */
function chooseNamespace(
  { namespace }: Principal,
  wish: number | null | undefined,
): ExportWish["namespace"] {
  if (wish === undefined || wish === null || namespace !== 0) return namespace;
  return wish < 0 ? "all" : wish;
}
