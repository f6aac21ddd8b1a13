/** `weft export`: a store at one commit as files, beside a running server or without one. */
import { openBucketPlace } from "../backup/open-place.ts";
import {
  exportToFiles,
  exportToObjects,
  exportToStream,
  printGraphqlSchemas,
  printSchemas,
  readSchema,
  type ExportProgress,
} from "../export/export.ts";
import { readNamespaces } from "../graph/schema-rows.ts";
import { Fault } from "../model/fault.ts";
import type { Snapshot } from "../store/store.ts";
import { openReadOnly } from "../stores/open.ts";
import type { ExportFlags } from "./store-commands.ts";
import { readEncryption } from "./encryption.ts";
import { complain, say } from "./log.ts";
import { showProgress } from "./progress-bar.ts";

export async function runExport(options: ExportFlags): Promise<void> {
  const store = await openReadOnly(options.data, {
    encryption: readEncryption(options.encryption),
  });
  const snapshot = store.snapshot();
  try {
    const namespaces = await chooseNamespaces(snapshot, options.namespace);
    if (options.to === "-") await writeToStdout(snapshot, namespaces, options);
    else await writeToFiles({ snapshot, storeId: store.storeId }, namespaces, options);
  } finally {
    snapshot.close();
    await store.close();
  }
}

/** Ascending, each once. Fault E_USAGE for what is no number; one that is not there is told later. */
async function chooseNamespaces(snapshot: Snapshot, text: string): Promise<readonly number[]> {
  if (text === "all") return await readNamespaces(snapshot);
  const numbers = text.split(",").map((part) => {
    const trimmed = part.trim();
    if (/^(?:\d+|0x[\da-f]+)$/i.test(trimmed)) return Number(trimmed);
    throw new Fault("E_USAGE", `--namespace: "${trimmed}" is no number of a namespace`);
  });
  return [...new Set(numbers)].sort((a, b) => a - b);
}

async function writeToFiles(
  source: { readonly snapshot: Snapshot; readonly storeId: string },
  namespaces: readonly number[],
  { to, format }: ExportFlags,
): Promise<void> {
  const { hidden, files } = await showProgress(
    { title: "exporting", unit: "facts" },
    async (bar) => {
      const wish = {
        ...source,
        format,
        namespaces,
        onProgress: ({ share, facts }: ExportProgress) => bar.update(share, 1, facts),
      };
      const exported = to.startsWith("s3:")
        ? await exportToObjects(
            wish,
            openBucketPlace(to, process.env, "exports (as s3://bucket/weft)"),
          )
        : await exportToFiles({ ...wish, dir: to, say: (line) => bar.say(line) });
      bar.update(1, 1, exported.facts);
      return exported;
    },
  );
  say(`${files.join(", ")} in ${to}, as of commit ${source.snapshot.ts}`);
  if (hidden > 0) complain(`left out ${hidden} values that their predicates' types cannot show`);
}

async function writeToStdout(
  snapshot: Snapshot,
  namespaces: readonly number[],
  { format, only }: ExportFlags,
): Promise<void> {
  const write = async (text: Uint8Array | string): Promise<void> => {
    if (process.stdout.write(text)) return;
    await new Promise<void>((resolve) => process.stdout.once("drain", resolve));
  };
  if (only === "data") {
    await exportToStream({ snapshot, format, namespaces, onProgress() {} }, write);
    return;
  }
  const schemas = await Promise.all(namespaces.map((one) => readSchema(snapshot, one)));
  await write(
    only === "schema" ? printSchemas(schemas) : await printGraphqlSchemas(snapshot, schemas),
  );
}
