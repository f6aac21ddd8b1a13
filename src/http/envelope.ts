/**
 * The members around an answer of the native endpoints (reference/dql 1.3, 1.4, 5.1), written as text in the
 * reference's order.
 */
import { Buffer } from "node:buffer";
import type { CommitAnswer, Latency, MutateAnswer, QueryAnswer } from "../engine/engine.ts";
import { printUid } from "../model/uid.ts";
import { quoteJsonForHtml } from "./reply.ts";

const dataOpen = Buffer.from('{"data":');
const mutateOpen = Buffer.from('{"data":{"code":"Success","message":"Done","queries":');
const nullBytes = Buffer.from("null");

/**
 * The whole answer of /query. The bytes of `data` are copied once and never looked at.
 */
export function encodeQueryAnswer(
  answer: QueryAnswer,
  { touched, question: reportName = "profile", hash }: QueryExtras,
): Buffer {
  const metrics = printMetrics(answer.numUids, touched);
  const report = answer.report === undefined ? "" : `,"${reportName}":${answer.report}`;
  const tail = `,"extensions":{${printLatency(answer.latency)},"txn":{"start_ts":${answer.startTs}${printHash(hash)}}${metrics}${report}}}`;
  return joinParts(dataOpen, answer.data, tail);
}

/** What stands beside the data of a query. */
interface QueryExtras {
  readonly touched: number;
  /** The extension that a report about the plan becomes. */
  readonly question: string | undefined;
  /** Of the start time, where ACL is on. */
  readonly hash: string | undefined;
}

function printHash(hash: string | undefined): string {
  return hash === undefined ? "" : `,"hash":"${hash}"`;
}

/** The whole answer of /mutate; members in alphabetical order. */
export function encodeMutateAnswer(answer: MutateAnswer, hash?: string): Buffer {
  const tail = `,"uids":${printUids(answer.uids)}},"extensions":{${printLatency(answer.latency)},"txn":${printTxn(answer, hash)}}}`;
  return joinParts(mutateOpen, answer.queries ?? nullBytes, tail);
}

/** One buffer of three parts. */
function joinParts(head: Buffer, middle: Uint8Array, tail: string): Buffer {
  const behind = head.length + middle.length;
  const body = Buffer.allocUnsafe(behind + Buffer.byteLength(tail));
  body.set(head, 0);
  body.set(middle, head.length);
  body.write(tail, behind);
  return body;
}

export function encodeCommitAnswer(answer: CommitAnswer): string {
  const txn = `{"start_ts":${answer.startTs},"commit_ts":${answer.commitTs}}`;
  return `{"data":{"code":"Success","message":"Done"},"extensions":{"txn":${txn}}}`;
}

/** What /alter and /admin/schema answer. */
export const doneBody = '{"data":{"code":"Success","message":"Done"}}';
/** What an abort answers: without `data`. */
export const abortBody = '{"code":"Success","message":"Done"}';

/** The sum that Dgraph-TouchedUids and `_total` tell. */
export function countTouched(numUids: ReadonlyMap<string, number>): number {
  let total = 0;
  for (const count of numUids.values()) total += count;
  return total;
}

function printMetrics(numUids: ReadonlyMap<string, number>, total: number): string {
  let text = `,"metrics":{"num_uids":{"_total":${total}`;
  const names = numUids.size > 1 ? [...numUids.keys()].sort() : numUids.keys();
  for (const name of names) text += `,${quoteJsonForHtml(name)}:${numUids.get(name) ?? 0}`;
  return `${text}}}`;
}

/** Members that are zero are left out, as the reference does. */
function printLatency(latency: Latency): string {
  let text = "";
  if (latency.parsingNs > 0) text += `"parsing_ns":${latency.parsingNs},`;
  if (latency.processingNs > 0) text += `"processing_ns":${latency.processingNs},`;
  if (latency.encodingNs > 0) text += `"encoding_ns":${latency.encodingNs},`;
  if (latency.assignTimestampNs > 0) text += `"assign_timestamp_ns":${latency.assignTimestampNs},`;
  return `"server_latency":{${text}"total_ns":${latency.totalNs}}`;
}

function printUids(uids: ReadonlyMap<string, number> | undefined): string {
  if (uids === undefined) return "null";
  const labels = [...uids.keys()].sort();
  return `{${labels.map((label) => `${quoteJsonForHtml(label)}:"${printUid(uids.get(label) ?? 0)}"`).join(",")}}`;
}

function printTxn(answer: MutateAnswer, hash: string | undefined): string {
  const members: string[] = [];
  if (answer.startTs !== 0) members.push(`"start_ts":${answer.startTs}`);
  if (answer.commitTs !== 0) members.push(`"commit_ts":${answer.commitTs}`);
  if (hash !== undefined) members.push(`"hash":"${hash}"`);
  if (answer.keys !== undefined && answer.keys.length > 0) {
    members.push(`"keys":${printStrings(answer.keys)}`);
  }
  if (answer.preds.length > 0) members.push(`"preds":${printStrings(answer.preds)}`);
  return `{${members.join(",")}}`;
}

function printStrings(list: readonly string[]): string {
  return `[${list.map(quoteJsonForHtml).join(",")}]`;
}
