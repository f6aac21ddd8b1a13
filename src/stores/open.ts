/**
 * Opens stores: the one file that says which engine keeps them. What is outside of this folder imports from here, or
 * from the files beside it that are the same for each engine (`tools/layers.ts` lists them).
 */
export {
  connectStore,
  examineFiles,
  holdsStore,
  openNodeStore,
  openReadOnly,
  openWriter,
  positionKey,
  type LeadingStore,
  type LeadNotice,
  type LeadTerm,
  type LinkSession,
  type NodeLink,
  type NodeLinkHost,
  type NodeStore,
  type NodeStoreOptions,
  type PlacedAnswer,
  type ProcessSession,
  type RowShipper,
  type SlotToken,
  type Writer,
} from "./lmdb.ts";
export { openMemoryStore } from "./memory.ts";
