import { describe, it } from "vitest";
import { makeSeededRandom } from "../../src/base/random.ts";
import { describeStore } from "../../src/store/contract.ts";
import { openMemoryStore } from "../../src/stores/memory.ts";
import { tinyTuning } from "./tiny-tuning.ts";

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
    open: async (derive) => openMemoryStore({ derive, tuning: tinyTuning }),
    random: (seed) => makeSeededRandom(seed + 100),
    rounds: 30,
  },
);
