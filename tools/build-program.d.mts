import type { BuildOptions, BuildResult } from "esbuild";

export const native: readonly string[];
export const optional: readonly string[];
export const compact: BuildOptions;
export function buildProgram(options: BuildOptions): Promise<readonly BuildResult[]>;
