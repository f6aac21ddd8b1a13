/** Where backups lie. A name is a path with slashes. */
export interface BackupPlace {
  /** undefined where there is none. */
  sizeOf(name: string): Promise<number | undefined>;
  /** Durable, or not there. */
  put(name: string, bytes: Uint8Array): Promise<void>;
  /** undefined where there is none. */
  get(name: string): Promise<Buffer | undefined>;
  /** Names below a folder, without it. */
  list(folder: string): Promise<readonly string[]>;
  remove(name: string): Promise<void>;
  /** `nowMs`: since 1970. Fault E_BACKUP while somebody else writes there. Call the result to let go. */
  claim(nowMs: number): Promise<() => Promise<void>>;
}
