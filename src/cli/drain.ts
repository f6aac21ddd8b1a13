/** How a child ends when its supervisor says so. */

interface Closable {
  close(): Promise<void>;
}

/** Requests under way are answered, then the store is closed in order. */
export async function drain(worker: Closable | undefined, store: Closable): Promise<void> {
  try {
    await worker?.close();
    await store.close();
  } finally {
    process.exit(0);
  }
}
