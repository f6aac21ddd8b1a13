/** Whether a store is where it was opened, for a process that opens none: LMDB is not loaded here. */
import { readHeader } from "./lmdb/header.ts";
import { readPlace, type StoreIdentity } from "./lmdb/place.ts";

export { explainMove, findMove, findStoreMove, readPlace } from "./lmdb/place.ts";
export type { Place, StoreIdentity } from "./lmdb/place.ts";

/** Of the store that is open in `dir`. */
export async function readIdentity(dir: string): Promise<StoreIdentity> {
  return { ...(await readPlace(dir)), storeId: readHeader(dir).storeId };
}
