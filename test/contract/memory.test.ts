import { describe, it } from "vitest";
import { makeSeededRandom } from "../../src/base/random.ts";
import { describeStore } from "../../src/store/contract.ts";
import { openMemoryStore } from "../../src/stores/memory.ts";

const tiny = {
  chunkBytesAim: 64,
  chunkBytesMax: 90,
  partBytesMax: 160,
  cellBytesMax: 40,
  shortEdgesMax: 8,
  shortEdgeBytesMax: 60,
  shortEdgesBack: 4,
  shortEdgeBytesBack: 30,
};

describeStore(
  { describe, it },
  {
    name: "memory",
    open: async (derive) => openMemoryStore({ derive }),
    random: makeSeededRandom,
    rounds: 4,
  },
);

describeStore(
  { describe, it },
  {
    name: "memory, tiny chunks",
    open: async (derive) => openMemoryStore({ derive, tuning: tiny }),
    random: (seed) => makeSeededRandom(seed + 100),
    rounds: 30,
  },
);
