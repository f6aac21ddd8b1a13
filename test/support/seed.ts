/**
 * Property tests run the same cases each time, so that a change is judged by what it changed; `WEFT_SEED=N` runs
 * others (`npm run nightly` a new one each night). What another seed finds becomes a test of its own.
 */
import fc from "fast-check";

fc.configureGlobal({ seed: Number(process.env["WEFT_SEED"] ?? 20_250) });
