/** The port for a process beside the writer: it reads the file itself and commits through the link. */
import { must } from "../../base/assert.ts";
import { join } from "node:path";
import { systemClock } from "../../base/clock.ts";
import type { Logger } from "../../base/log.ts";
import type {
  FillJob,
  FillResult,
  PlacedRows,
  Snapshot,
  Store,
  SweepRequest,
  SweepResult,
} from "../../store/store.ts";
import { decodeState, stateKey, type StoreState } from "../commit/state.ts";
import { readLog, readSlots, walkLog } from "../read-log.ts";
import type { StoreCipher } from "../sealed/store-cipher.ts";
import { openWhilePaused } from "./beside-writer.ts";
import type { Environment } from "./environment.ts";
import { dataName } from "./header.ts";
import { HeardLead } from "./heard-lead.ts";
import { LinkClient } from "./link-client.ts";
import {
  encodeFill,
  encodeNumbers,
  encodePlaced,
  encodeSweep,
  frameKind,
} from "./link-protocol.ts";
import { ReadFile } from "./read-file.ts";
import { Scrub, type ScrubPolicy } from "./scrub.ts";
import { verifyPages } from "./verify.ts";

interface LinkedStoreOptions {
  readonly dir: string;
  readonly storeId: string;
  readonly waitMs: number;
  readonly logger: Logger;
  readonly scrub: ScrubPolicy;
  /** Of a store that is encrypted. */
  readonly cipher: StoreCipher | undefined;
  /** Of one of several machines. */
  readonly onLead: ((leads: boolean) => void) | undefined;
  /** How long reads wait for what was acknowledged on any machine; undefined: they take what this one has. */
  readonly currentMs: number | undefined;
}

/** Why no number of an answer is missing. */
const shortAnswer = "the writer's answer has all its numbers";

/** Fault E_STORE_UNAVAILABLE when no writer answers for `waitMs`. */
export async function connectThroughLink(options: LinkedStoreOptions): Promise<Store> {
  const listeners = new Set<(commitTs: number) => void>();
  let whenLost = (): void => {};
  const lead = new HeardLead(options.onLead);
  const file = new ReadFile(options.dir);
  const client = openLink(options, {
    file,
    lead,
    onNotice: (commitTs) => {
      for (const listener of listeners) listener(commitTs);
    },
    onLost: () => whenLost(),
  });
  const environment = await openWhilePaused(client, options.dir, options.cipher);
  file.opened(environment);
  const scrub = beginScrub(environment, options);
  // Uids are leased upwards, by the next writer, too: none below is handed out any more, so using one costs no question.
  let passedUid = 0;
  const reserve = async (uid: number): Promise<void> => {
    const [next] = await client.askNumbers(frameKind.reserve, encodeNumbers(uid));
    passedUid = Math.max(passedUid, must(next, shortAnswer));
  };
  return {
    snapshot: () => {
      lead.assertServes();
      return environment.snapshot();
    },
    ...(options.currentMs === undefined
      ? {}
      : {
          whenCurrent: () => {
            lead.assertServes();
            return lead.isCertain() ? undefined : client.askCurrent();
          },
        }),
    commit: async (change) => ({ commitTs: await client.commit(change) }),
    lease: async (count) => {
      const uid = await client.lease(count);
      passedUid = Math.max(passedUid, uid + count);
      return uid;
    },
    reserve: (uid) => (uid < passedUid ? undefined : reserve(uid)),
    fill: (job) => fillThrough(client, job),
    sweep: (request) => sweepThrough(client, request),
    place: (slice) => placeThrough(client, slice),
    onCommit: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    readLog,
    walkLog,
    claimSlot: (onLost) => {
      whenLost = onLost ?? whenLost;
      return client.claimSlot();
    },
    slots: () => environment.read(readSlots),
    describe: () => describeState(environment),
    close: async () => {
      scrub.close();
      client.close();
      await environment.close();
    },
  };
}

async function sweepThrough(client: LinkClient, request: SweepRequest): Promise<SweepResult> {
  const [done] = await client.askNumbers(frameKind.sweep, encodeSweep(request));
  return { done: done === 1 };
}

async function placeThrough(client: LinkClient, slice: PlacedRows): Promise<void> {
  await client.askNumbers(frameKind.place, encodePlaced(slice));
}

interface LinkEvents {
  readonly file: ReadFile;
  readonly lead: HeardLead;
  readonly onNotice: (commitTs: number) => void;
  /** The process is not what it was: it ends, and is started anew. */
  readonly onLost: () => void;
}

function openLink(
  { dir, storeId, waitMs, currentMs }: LinkedStoreOptions,
  { file, lead, onNotice, onLost }: LinkEvents,
): LinkClient {
  return new LinkClient({
    dir,
    storeId,
    waitMs,
    ...(currentMs === undefined ? {} : { currentMs }),
    onNotice,
    onSlotLost: onLost,
    onLead: (notice) => lead.hear(notice),
    onWelcome: () => {
      // It was exchanged while there was no link: what is read is not the newest state any more.
      if (!file.isInPlace) onLost();
    },
    file,
  });
}

async function fillThrough(client: LinkClient, job: FillJob): Promise<FillResult> {
  const [after, done, tookMs] = await client.askNumbers(frameKind.fill, encodeFill(job));
  return { after: must(after, shortAnswer), done: done === 1, tookMs: must(tookMs, shortAnswer) };
}

function describeState(environment: Environment): ReturnType<Store["describe"]> {
  const { commitTs, nextUid } = environment.read(readState);
  return {
    engine: "lmdb",
    commitTs,
    maxUid: nextUid - 1,
    bytesUsed: environment.bytesUsed(),
    bytesMax: 0,
    damageCount: environment.damageCount,
  };
}

function readState(snapshot: Snapshot): StoreState {
  let state = decodeState(undefined);
  void snapshot.readMany([stateKey], (_i, row) => {
    state = decodeState(row);
  });
  return state;
}

/** Where the file is small, all of it is verified at once. */
function beginScrub(
  environment: Environment,
  { dir, logger, scrub: policy }: LinkedStoreOptions,
): Scrub {
  const dataPath = join(dir, dataName);
  const pin = environment.pin();
  try {
    const { isWhole, damagedRows, isOrdered } = verifyPages(dir, dataPath);
    environment.trust.isVerified = isWhole;
    environment.trust.isOrdered = isOrdered;
    for (const problem of damagedRows) environment.noteDamage(problem, logger);
  } finally {
    pin.release();
  }
  return new Scrub({ environment, clock: systemClock, logger, policy });
}
