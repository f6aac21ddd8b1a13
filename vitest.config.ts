import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["src/**/*.test.ts", "test/**/*.test.ts", "tools/**/*.test.ts", "bench/**/*.test.ts"],
    setupFiles: ["test/support/seed.ts"],
    // A night has time: WEFT_RUNS gives each property more cases.
    testTimeout: process.env["WEFT_RUNS"] === undefined ? 60_000 : 3_600_000,
    hookTimeout: 60_000,
    maxWorkers: 2,
  },
});
