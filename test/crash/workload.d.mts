import type { Change } from "../../src/store/store.ts";

export function numberedKey(number: number): Uint8Array;
export function numberedChange(number: number): Change;
