/** `weft import`: tables and objects into a running server, by a mapping. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { systemClock } from "../base/clock.ts";
import { countWords } from "../base/count-words.ts";
import { systemRandom } from "../base/random.ts";
import type { CompiledSchema } from "../graphql/schema/compiled-schema.ts";
import { compileSchema } from "../graphql/service/schema-compile.ts";
import { Checkpoint } from "../import/checkpoint.ts";
import { draftMapping } from "../import/draft.ts";
import { type DryRunResult, tryImport } from "../import/dry-run.ts";
import { importRows, type ImportResult } from "../import/import.ts";
import { type Mapping, readMapping } from "../import/mapping.ts";
import { RejectedRows } from "../import/rejected-rows.ts";
import { findRowFiles, type RowFile } from "../import/row-files.ts";
import { planRows } from "../import/row-plan.ts";
import { type Client, postOrFail } from "../load/client.ts";
import { Fault } from "../model/fault.ts";
import { openClient } from "./credentials.ts";
import type { ImportFlags } from "./import-command.ts";
import { say } from "./log.ts";
import { showProgress } from "./progress-bar.ts";
import { namespaceOf, readGraphqlFile } from "./schema-files.ts";
import { readServedSchema } from "./served-schema.ts";
import { parseCount } from "./superflag.ts";

export async function runImport(options: ImportFlags): Promise<void> {
  const client = openClient(options);
  if (options.draft) {
    await writeDraft(options, client);
    return;
  }
  const mapping = openMapping(options);
  const files = findFiles(options, mapping.format);
  if (options.dryRun) await showDryRun(options, mapping, files, client);
  else await importAll(options, mapping, files, client);
}

function findFiles(
  { files, format }: ImportFlags,
  otherwise: Mapping["format"],
): readonly RowFile[] {
  return findRowFiles(files.split(",").filter(Boolean), format ?? otherwise);
}

function openMapping({ mapping: path }: ImportFlags): Mapping {
  if (path === undefined) {
    throw new Fault("E_USAGE", "--mapping FILE says what the columns are; --draft writes one");
  }
  if (!existsSync(path)) throw new Fault("E_USAGE", `--mapping: there is no file ${path}`);
  return readMapping(readFileSync(path, "utf8"), path);
}

/** To standard output, or to `--mapping` where nothing lies there. */
async function writeDraft(options: ImportFlags, client: Client): Promise<void> {
  const { type, mapping: path, separator } = options;
  if (type === undefined) throw new Fault("E_USAGE", "--draft wants the type: --type NAME");
  if (path !== undefined && existsSync(path)) {
    throw new Fault("E_USAGE", `--draft: ${path} is there already`);
  }
  const files = findFiles(options, undefined);
  const schema = await findSchema(options, client);
  const draft = await draftMapping({ files, type, schema, separator });
  if (path === undefined) process.stdout.write(draft);
  else {
    writeFileSync(path, draft);
    say(`drafted ${path}`);
  }
}

/** Of the file, or of the server; undefined where that has none. Fault E_STARTUP where it cannot be asked. */
async function findSchema(
  options: ImportFlags,
  client: Client,
): Promise<CompiledSchema | undefined> {
  const sdl = givenSchema(options) ?? (await readServedSchema(client));
  if (sdl !== undefined) return sdl === "" ? undefined : compileSchema(sdl);
  const why = "does not answer, or does not show its GraphQL schema to this sender";
  throw new Fault("E_STARTUP", `${options.to} ${why} (--graphql-schema names a file with it)`);
}

function givenSchema({ graphqlSchema, creds }: ImportFlags): string | undefined {
  if (graphqlSchema === undefined) return undefined;
  const sdl = readGraphqlFile(graphqlSchema, namespaceOf(creds));
  if (sdl !== undefined) return sdl;
  throw new Fault("E_STARTUP", `${graphqlSchema} has no schema of namespace ${namespaceOf(creds)}`);
}

async function needSchema(options: ImportFlags, client: Client): Promise<CompiledSchema> {
  const schema = await findSchema(options, client);
  if (schema !== undefined) return schema;
  throw new Fault("E_STARTUP", "the server has no GraphQL schema yet: --graphql-schema sets one");
}

async function showDryRun(
  options: ImportFlags,
  mapping: Mapping,
  files: readonly RowFile[],
  client: Client,
): Promise<void> {
  const plan = planRows(mapping, await needSchema(options, client));
  const asked = options.graphqlSchema === undefined ? client : undefined;
  const now = new Date(systemClock.nowMs()).toISOString();
  const result = await tryImport({
    plan,
    files,
    client: asked,
    now,
    batchSize: readBatchSize(options),
    shown: 3,
  });
  printDryRun(result);
  if (result.faultCount > 0) process.exitCode = 1;
}

function printDryRun(result: DryRunResult): void {
  for (const example of result.examples) tell(`${example}\n`);
  const { rows, made, updated, kept, linked, faultCount, faults } = result;
  const keptText = kept === 0 ? "" : `, ${print(kept)} left as they are`;
  const links = linked === 0 ? "" : `, ${print(linked)} made for links`;
  tell(
    `${countWords(rows, "rows")}: ${countWords(made, "nodes")} would be made, ${print(updated)} updated${keptText}${links}; ` +
      `${countWords(faultCount, "rows")} would be refused`,
  );
  for (const { place, reason } of faults) tell(`${place}: ${reason}`);
  if (faultCount > faults.length) tell(`… and ${print(faultCount - faults.length)} more`);
}

async function importAll(
  options: ImportFlags,
  mapping: Mapping,
  files: readonly RowFile[],
  client: Client,
): Promise<void> {
  const plan = planRows(mapping, await needSchema(options, client));
  await setSchema(options, client);
  const path = options.progress ?? `${mapping.name}.progress`;
  const checkpoint = new Checkpoint(
    path,
    {
      files: files.map(({ name }) => name),
      type: plan.type.name,
      namespace: namespaceOf(options.creds),
    },
    options.again,
  );
  const rejectedPath = options.rejected ?? nameRejected(mapping, files);
  if (files.some(({ name }) => resolve(name) === resolve(rejectedPath))) {
    throw new Fault("E_USAGE", `--rejected: ${rejectedPath} is one of the files that are read`);
  }
  const rejected =
    options.onError === "skip"
      ? new RejectedRows(rejectedPath, checkpoint.progress.rejectedBytes)
      : undefined;
  const result = await showProgress({ title: "importing", unit: "rows" }, (bar) =>
    importRows({
      plan,
      files,
      client,
      clock: systemClock,
      random: systemRandom,
      checkpoint,
      rejected,
      batchSize: readBatchSize(options),
      inFlightMax: Math.max(1, parseCount("--in-flight", options.inFlight)),
      onProgress: ({ bytesRead, bytesTotal, rowCount }) =>
        bar.update(bytesRead, bytesTotal, rowCount),
    }),
  );
  printResult(result, rejectedPath);
}

function readBatchSize({ batch }: ImportFlags): number {
  return Math.max(1, parseCount("--batch", batch));
}

async function setSchema(options: ImportFlags, client: Client): Promise<void> {
  const sdl = givenSchema(options);
  if (sdl === undefined) return;
  await postOrFail(client, "/admin/schema", "text/plain", sdl);
}

/** Beside the mapping: `people.rejected.csv`. */
function nameRejected({ name: mapping }: Mapping, [first]: readonly RowFile[]): string {
  const file = first === undefined || first.name === "-" ? "stdin" : basename(first.name);
  const name = file.replace(/\.gz$/i, "").replace(/\.[^.]*$/, "");
  const ending = first?.format === "json" ? "ndjson" : (first?.format ?? "csv");
  return join(dirname(mapping), `${name}.rejected.${ending}`);
}

function printResult(result: ImportResult, rejectedPath: string): void {
  const { made, updated, kept, linked, skipped, rejected } = result;
  if (skipped > 0)
    say(`${countWords(skipped, "rows")} ${skipped === 1 ? "was" : "were"} imported before`);
  const keptText = kept === 0 ? "" : `, ${print(kept)} left as they were`;
  const links = linked === 0 ? "" : `, ${print(linked)} made for links`;
  say(`${countWords(made, "nodes")} made, ${print(updated)} updated${keptText}${links}`);
  if (rejected > 0)
    say(
      `${countWords(rejected, "rows")} ${rejected === 1 ? "was" : "were"} refused, see ${rejectedPath}`,
    );
}

function print(count: number): string {
  return count.toLocaleString("en-US");
}

function tell(line: string): void {
  process.stdout.write(`${line}\n`);
}
