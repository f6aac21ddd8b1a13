/** Opens the store of its first argument beside its writer, again and again, as often as its second says. */
import { openReadOnly } from "./stores/lmdb.js";

const [dir, times] = process.argv.slice(2);
for (let i = 0; i < Number(times); i++) {
  const store = await openReadOnly(dir);
  store.snapshot().close();
  await store.close();
}
