// Goal: who lacks a package that only some need is told which; other failures of it are its own.
import { expect, it } from "vitest";
import { loadOptional } from "./optional-package.ts";

const missing = "no-such-package-of-anybody";

it("says what to install", async () => {
  const load = (): Promise<unknown> => import(/* @vite-ignore */ missing) as Promise<unknown>;
  await expect(loadOptional("--kafka", missing, load)).rejects.toMatchObject({
    code: "E_STARTUP",
    message: `--kafka needs the package ${missing}, which is not there: npm install ${missing} (or npx -p weft-graph -p ${missing} weft changes …)`,
  });
});

it("passes on what else goes wrong", async () => {
  const load = (): Promise<unknown> => Promise.reject(new TypeError("it is broken"));
  await expect(loadOptional("--kafka", "kafkajs", load)).rejects.toThrow("it is broken");
});
