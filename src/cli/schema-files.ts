/** Schemas that a load is given: plain, packed, or as an export has them. */
import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { Fault } from "../model/fault.ts";

/** Of the standard input, where it is "-". Fault E_STARTUP where it cannot be read. */
export function readSdlText(file: string): string {
  try {
    return readFileSync(file === "-" ? 0 : file, "utf8");
  } catch (error) {
    throw new Fault("E_STARTUP", `${file} cannot be read`, { cause: error });
  }
}

/** Fault E_STARTUP where it cannot be read. */
export function readSchemaFile(file: string): string {
  try {
    const bytes = readFileSync(file);
    return (bytes[0] === 0x1f && bytes[1] === 0x8b ? gunzipSync(bytes) : bytes).toString("utf8");
  } catch (error) {
    throw new Fault("E_STARTUP", `${file} cannot be read`, { cause: error });
  }
}

interface ExportedSchema {
  readonly namespace: number;
  readonly schema: string;
}

/** Whose schema of an export is meant: that of the login, `--creds "…; namespace=7"`. */
export function namespaceOf(creds: string | undefined): number {
  const given = /namespace\s*=\s*(?<number>\d+)/.exec(creds ?? "")?.groups?.["number"];
  return Number(given ?? 0);
}

/** The SDL of a namespace; undefined where an export has none of it. */
export function readGraphqlFile(file: string, namespace: number): string | undefined {
  const text = readSchemaFile(file);
  if (!/^\s*\[/.test(text)) return text;
  try {
    const all = JSON.parse(text) as readonly ExportedSchema[];
    return all.find((one) => one.namespace === namespace)?.schema;
  } catch (error) {
    throw new Fault("E_STARTUP", `${file} is neither SDL nor what an export has`, { cause: error });
  }
}
