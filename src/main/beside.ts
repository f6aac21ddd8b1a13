/** A process of a server that answers no requests. */
import { runChild } from "../cli/child-port.ts";
import { closeFilesToOthers } from "../cli/project-mask.ts";

closeFilesToOthers();
const role = process.argv[3];
if (role === "snapshot") {
  void import("../cli/snapshot-child.ts").then(({ runSnapshotChild }) => runSnapshotChild());
} else {
  runChild(role, async (name) => {
    const { loadRoleBeside } = await import("../cli/child-beside.ts");
    return loadRoleBeside(name);
  });
}
