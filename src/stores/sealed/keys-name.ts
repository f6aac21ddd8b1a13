/** The file of an encrypted store that holds its keys (`store-keys.ts`). */
export const keysName = "weft.keys";
