/** Something has happened that others wait for, by name of nobody: all are woken. */
export class Wakeup {
  #waiting: (() => void)[] = [];

  raise(): void {
    for (const wake of this.#waiting.splice(0)) wake();
  }

  /** Resolves when it is raised, or after `ms`. */
  wait(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#waiting.push(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }
}
