import { defineConfig } from "vitest/config";
import { alone } from "./tools/alone.ts";
import { MixedOrder } from "./tools/test-order.ts";

const include = ["src", "test", "tools", "bench"].map((folder) => `${folder}/**/*.test.ts`);

export default defineConfig({
  test: {
    setupFiles: ["test/support/seed.ts"],
    // Many times what a test takes: a machine may have other work. A night has time: WEFT_RUNS gives each property more
    // cases.
    testTimeout: process.env["WEFT_RUNS"] === undefined ? 180_000 : 3_600_000,
    hookTimeout: 180_000,
    // One more than the cores of a small machine: files that wait for processes leave them to the others.
    maxWorkers: 3,
    sequence: { sequencer: MixedOrder },
    projects: [
      {
        extends: true,
        test: {
          name: "shared",
          include,
          exclude: ["**/node_modules/**", ...alone],
          isolate: false,
        },
      },
      { extends: true, test: { name: "alone", include: [...alone] } },
    ],
  },
});
