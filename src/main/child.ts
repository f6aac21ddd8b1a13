/** A process of a server: a worker, the writer, a node. */
import { runChild } from "../cli/child-port.ts";
import { closeFilesToOthers } from "../cli/project-mask.ts";

closeFilesToOthers();
runChild(process.argv[3], async (role) => {
  const { loadRole } = await import("../cli/child.ts");
  return loadRole(role);
});
