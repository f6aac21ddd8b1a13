/** When nothing may be written: several may want it at once, and who wants to write waits for the end of them all. */
export class Pauses {
  private readonly begun = new Set<object>();
  private readonly waiting: (() => void)[] = [];
  private readonly onEnd: () => void;

  /** `onEnd`: the last one has ended. */
  constructor(onEnd: () => void) {
    this.onEnd = onEnd;
  }

  get isOn(): boolean {
    return this.begun.size > 0;
  }

  /** Ends with the call of what it gives; later calls do nothing. */
  begin(): () => void {
    const pause = {};
    this.begun.add(pause);
    return () => {
      if (!this.begun.delete(pause) || this.isOn) return;
      for (const go of this.waiting.splice(0)) go();
      this.onEnd();
    };
  }

  /** What follows its end at once is outside of all pauses. */
  async whenOver(): Promise<void> {
    while (this.isOn) await new Promise<void>((resolve) => this.waiting.push(resolve));
  }
}
