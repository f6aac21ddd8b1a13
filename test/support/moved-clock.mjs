// For `node --import`: the wall clock of this process is that of the system, moved by as many milliseconds as the file
// WEFT_TEST_CLOCK holds. The clock that only rises is not touched.
import { readFileSync } from "node:fs";

const file = process.env.WEFT_TEST_CLOCK;
const SystemDate = Date;
const lookMs = 10;
let movedMs = 0;
let lookedMs = -Infinity;

function moved() {
  const tick = performance.now();
  if (file !== undefined && tick - lookedMs > lookMs) {
    lookedMs = tick;
    movedMs = Number(readFileSync(file, "utf8"));
  }
  return movedMs;
}

globalThis.Date = class MovedDate extends SystemDate {
  constructor(...args) {
    if (args.length === 0) super(SystemDate.now() + moved());
    else super(...args);
  }

  static now() {
    return SystemDate.now() + moved();
  }
};
