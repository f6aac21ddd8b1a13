/** Sizes so small that few rows meet every border. */
export const tinyTuning = {
  chunkBytesAim: 64,
  chunkBytesMax: 90,
  openBytesMax: 30,
  partBytesMax: 160,
  cellBytesMax: 40,
  shortEdgesMax: 8,
  shortEdgeBytesMax: 60,
  shortEdgesBack: 4,
  shortEdgeBytesBack: 30,
};
