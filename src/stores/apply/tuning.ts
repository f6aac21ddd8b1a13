import { chunkBytesAim, chunkBytesMax, openBytesMax } from "../../codec/chunk.ts";
import {
  cellBytesMax,
  partBytesMax,
  shortEdgeBytesBack,
  shortEdgeBytesMax,
  shortEdgesBack,
  shortEdgesMax,
} from "../../codec/record.ts";

/** The sizes of reference/storage 3, 4. Tests make them tiny, so that few rows meet every border. */
export interface Tuning {
  readonly chunkBytesAim: number;
  readonly chunkBytesMax: number;
  readonly openBytesMax: number;
  readonly partBytesMax: number;
  readonly cellBytesMax: number;
  readonly shortEdgesMax: number;
  readonly shortEdgeBytesMax: number;
  readonly shortEdgesBack: number;
  readonly shortEdgeBytesBack: number;
}

export const defaultTuning: Tuning = {
  chunkBytesAim,
  chunkBytesMax,
  openBytesMax,
  partBytesMax,
  cellBytesMax,
  shortEdgesMax,
  shortEdgeBytesMax,
  shortEdgesBack,
  shortEdgeBytesBack,
};
