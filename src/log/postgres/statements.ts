/**
 * What the log asks of PostgreSQL: plain tables and statements, which others that speak its protocol take, too. Rows are
 * never updated but the lease's, so that READ COMMITTED is enough.
 */
import type { SealedRecord } from "../replicated-log.ts";

export const tables: readonly string[] = [
  `CREATE TABLE IF NOT EXISTS weft_log (cell int4, seq int8, sum bytea, head bytea, body bytea,
     PRIMARY KEY (cell, seq))`,
  `CREATE TABLE IF NOT EXISTS weft_part (cell int4, id bytea, n int4, made int8, bytes bytea,
     PRIMARY KEY (cell, id, n))`,
  `CREATE TABLE IF NOT EXISTS weft_lease (cell int4 PRIMARY KEY, term int8, beat int8, node text,
     address text, lasts int8, proof int8)`,
  `CREATE TABLE IF NOT EXISTS weft_wish (cell int4, node text, address text, term int8, count int8, reaches text,
     PRIMARY KEY (cell, node))`,
];

export const addLease = `INSERT INTO weft_lease (cell, term, beat, node, address, lasts, proof)
  VALUES ($1, 0, 0, '', '', 0, 0) ON CONFLICT DO NOTHING`;

interface SqlStatement {
  readonly text: string;
  readonly values: readonly unknown[];
}

/** A row of `weft_log` as an append makes it; `parts`: how many of its body lie apart, which is then empty here. */
export interface SqlRecord {
  readonly record: SealedRecord;
  readonly body: Buffer;
  readonly parts: number;
}

/** All rows or none, and only behind the record that the first of them names. */
export function appendStatement(
  cell: number,
  rows: readonly [SqlRecord, ...SqlRecord[]],
): SqlStatement {
  const values: unknown[] = [cell];
  const add = (value: unknown, type: string): string => `$${values.push(value)}::${type}`;
  const [{ record: first }] = rows;
  const tuples = rows.map(({ record: { seq, sum, head }, body }) => {
    const cells = [add(seq, "int8"), add(sum, "bytea"), add(head, "bytea"), add(body, "bytea")];
    return `(${cells.join(", ")})`;
  });
  const before =
    first.seq === 1
      ? "NOT EXISTS (SELECT 1 FROM weft_log WHERE cell = $1)"
      : `EXISTS (SELECT 1 FROM weft_log WHERE cell = $1 AND seq = ${add(first.seq - 1, "int8")} AND sum = ${add(first.prev, "bytea")})`;
  const whole = rows
    .filter(({ parts }) => parts > 0)
    .map(({ record: { sum }, parts }) => {
      const counted = `SELECT count(*) FROM weft_part WHERE cell = $1 AND id = ${add(sum, "bytea")}`;
      return ` AND (${counted}) = ${add(parts, "int8")}`;
    });
  const text = `INSERT INTO weft_log (cell, seq, sum, head, body)
    SELECT $1::int4, v.seq, v.sum, v.head, v.body FROM (VALUES ${tuples.join(", ")}) AS v (seq, sum, head, body)
    WHERE ${before}${whole.join("")}`;
  return { text, values };
}

export const addPart = `INSERT INTO weft_part (cell, id, n, made, bytes) VALUES ($1, $2, $3, $4, $5)
  ON CONFLICT DO NOTHING`;

/** The rows of an append and what is before them. */
export const readSums = `SELECT seq, sum FROM weft_log
  WHERE cell = $1 AND seq BETWEEN $2::int8 - 1 AND $3::int8 ORDER BY seq`;

/** Committed behind all that can be seen; acknowledged, so is that. */
export const prove = "UPDATE weft_lease SET proof = proof + 1 WHERE cell = $1";

export const selectRecords = `SELECT seq, head, body FROM (
    SELECT seq, head, body, sum(octet_length(body) + 146) OVER (ORDER BY seq) - octet_length(body) - 146 AS before
    FROM weft_log WHERE cell = $1 AND seq > $2 ORDER BY seq LIMIT 512) AS next
  WHERE before < $3 ORDER BY seq`;

export const readParts = "SELECT bytes FROM weft_part WHERE cell = $1 AND id = $2 ORDER BY n";

export const readEnds = "SELECT min(seq) AS first, max(seq) AS last FROM weft_log WHERE cell = $1";

export const trimRows = `WITH gone AS (
    DELETE FROM weft_log WHERE cell = $1 AND seq < $2 AND seq < (SELECT max(seq) FROM weft_log WHERE cell = $1)
    RETURNING sum)
  DELETE FROM weft_part WHERE cell = $1 AND id IN (SELECT sum FROM gone)`;

/** Parts of records that never came to be. */
export const sweepParts = `DELETE FROM weft_part WHERE cell = $1 AND made < $2
  AND NOT EXISTS (SELECT 1 FROM weft_log WHERE weft_log.cell = $1 AND weft_log.sum = weft_part.id)`;

export const readLease = "SELECT term, beat, node, address, lasts FROM weft_lease WHERE cell = $1";
export const takeLease = `UPDATE weft_lease SET term = $4, beat = 0, node = $5, address = $6, lasts = $7
  WHERE cell = $1 AND term = $2 AND beat = $3`;
export const beatLease = `UPDATE weft_lease SET beat = beat + 1
  WHERE cell = $1 AND term = $2 AND beat >= 0`;
export const giveUpLease = "UPDATE weft_lease SET beat = -1 WHERE cell = $1 AND term = $2";

export const putWish = `INSERT INTO weft_wish (cell, node, address, term, count, reaches) VALUES ($1, $2, $3, $4, $5, $6)
  ON CONFLICT (cell, node) DO UPDATE SET address = excluded.address, term = excluded.term, count = excluded.count, reaches = excluded.reaches`;
export const readWishes =
  "SELECT node, address, term, count, reaches FROM weft_wish WHERE cell = $1";

/** All of a cell, which only a test's may be. */
export const removeCell: readonly string[] = [
  "weft_log",
  "weft_part",
  "weft_lease",
  "weft_wish",
].map((table) => `DELETE FROM ${table} WHERE cell = $1`);
