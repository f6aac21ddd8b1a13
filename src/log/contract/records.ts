/** Records for tests, without a leader. */
import { chainStart, type ChainPoint } from "../chain.ts";
import { packBody, sealLogRecord } from "../record.ts";
import type { SealedRecord } from "../replicated-log.ts";

const history = Buffer.from("a store of tests".slice(0, 16));

/** The record behind a place; `rows` tells it from others there. */
async function makeRecord(after: ChainPoint, rows: Uint8Array): Promise<SealedRecord> {
  return sealLogRecord(
    {
      history,
      seq: after.seq + 1,
      term: 1,
      kind: after.seq === 0 ? "begin" : "rows",
      rowFormat: 1,
      prev: after.sum,
      durable: 0,
      firstTs: 0,
      lastTs: 0,
      wallMs: 0,
    },
    await packBody({ keys: new Uint8Array(0), rows }),
  );
}

/** As many records as texts, one behind the other. */
export async function makeRecords(
  texts: readonly string[],
  after: Pick<ChainPoint, "seq" | "sum"> = chainStart,
): Promise<readonly SealedRecord[]> {
  const made: SealedRecord[] = [];
  for (const text of texts) {
    const { seq, sum } = made.at(-1) ?? after;
    made.push(await makeRecord({ seq, sum, term: 1 }, Buffer.from(text)));
  }
  return made;
}
