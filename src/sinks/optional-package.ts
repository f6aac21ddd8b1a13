/** Packages that only some need, and so install themselves beside this one. */
import { Fault } from "../model/fault.ts";

/** Fault E_STARTUP, which says what to install, where it is not there. */
export async function loadOptional<T>(
  flag: string,
  name: string,
  load: () => Promise<T>,
): Promise<T> {
  try {
    return await load();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "ERR_MODULE_NOT_FOUND" && code !== "MODULE_NOT_FOUND") throw error;
    const text = `${flag} needs the package ${name}, which is not there: npm install ${name} (or npx -p weft-graph -p ${name} weft changes …)`;
    throw new Fault("E_STARTUP", text, { cause: error });
  }
}
