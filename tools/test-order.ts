import { relative } from "node:path";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Tests here start processes and wait for them, for most of their time; the others compute. */
const waiting = /^test\/(?:clients|e2e|isolation|nemesis|seed)\//;

/** Files that wait and files that compute take turns, so that both cores have work and nobody waits for long. */
export class MixedOrder extends BaseSequencer {
  override async sort(specs: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(specs);
    const isWaiting = ({ moduleId }: TestSpecification): boolean =>
      waiting.test(relative(this.ctx.config.root, moduleId).replaceAll("\\", "/"));
    return takeTurns(
      sorted.filter(isWaiting),
      sorted.filter((spec) => !isWaiting(spec)),
    );
  }
}

/** One of each in turn, and then what is left of the longer. */
export function takeTurns<T>(some: readonly T[], others: readonly T[]): T[] {
  const count = Math.max(some.length, others.length);
  return Array.from({ length: count }, (_, i) => [
    ...some.slice(i, i + 1),
    ...others.slice(i, i + 1),
  ]).flat();
}
