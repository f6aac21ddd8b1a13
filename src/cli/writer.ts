/** The writer: the one process that opens the store for writing. Nothing above the store is loaded here. */
import { systemClock } from "../base/clock.ts";
import type { Logger } from "../base/log.ts";
import { explainDirectory } from "../stores/claim.ts";
import { DiskRoom } from "../stores/disk-room.ts";
import { openWriter, type Writer } from "../stores/open.ts";
import type { StoreIdentity } from "../stores/place.ts";
import { deriveFill } from "../write/fill.ts";
import { scrubOf, type ServeConfig } from "./config.ts";
import { readKeyFile } from "./encryption.ts";
import type { ExchangeNotice } from "./exchange-notice.ts";
import { storeFailedExit } from "./messages.ts";

/** Fault E_STARTUP, one line, when the directory cannot be opened. */
export async function openStoreForWriting(
  config: ServeConfig,
  logger: Logger,
  {
    run,
    identity,
    exchange,
  }: {
    readonly run: string;
    readonly identity: StoreIdentity | undefined;
    readonly exchange: ExchangeNotice;
  },
): Promise<Writer> {
  const { dataDir, store } = config;
  const { mapBytes, minFreeBytes } = store;
  try {
    return await openWriter({
      dir: dataDir,
      encryption: readKeyFile(config.keyFile),
      ...(mapBytes === undefined ? {} : { mapBytesMax: mapBytes }),
      room: new DiskRoom(dataDir, systemClock, minFreeBytes),
      derive: deriveFill,
      retention: { ageMsMax: store.logMinutes * 60_000, bytesMax: store.logBytes },
      logger,
      clock: systemClock,
      journal: { run },
      identity,
      announceExchange: exchange.announce,
      scrub: scrubOf(store),
      onFatal: () => process.exit(storeFailedExit),
    });
  } catch (error) {
    throw explainDirectory(dataDir, error) ?? error;
  }
}
