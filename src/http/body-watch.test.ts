// Goal: a sender that dawdles is told apart from a process that was busy.
import { describe, expect, it } from "vitest";
import { BodyWatch, type Watched } from "./body-watch.ts";

class Body implements Watched {
  size = 0;
  markSize = 0;
  markMs = 0;
  isDry = true;
  isEnded = false;

  endSlow(): void {
    this.isEnded = true;
  }
}

/** A watch at a time that the test moves: 100 bytes a second over four. */
function begin() {
  const time = { ms: 1 };
  const clock = { nowMs: () => 0, tickMs: () => time.ms };
  const watch = new BodyWatch(clock, { bytesPerSecond: 100, windowMs: 4000 });
  const body = new Body();
  watch.add(body);
  const pass = (seconds: number, bytes: number): boolean => {
    for (let i = 0; i < seconds; i++) {
      time.ms += 1000;
      body.size += bytes;
      watch.look();
    }
    return body.isEnded;
  };
  return { body, pass, time, watch };
}

describe("a watch over bodies", () => {
  it("ends one that brings too little over a window", () => {
    const { pass } = begin();
    expect(pass(20, 110)).toBe(false);
    expect(pass(8, 20)).toBe(true);
  });

  it("goes on when bytes wait to be read, and when it was late itself", () => {
    const { body, pass, time, watch } = begin();
    body.isDry = false;
    expect(pass(10, 0)).toBe(false);
    body.isDry = true;
    pass(1, 0);
    time.ms += 10_000;
    watch.look();
    expect(body.isEnded).toBe(false);
    expect(pass(8, 0)).toBe(true);
  });
});
