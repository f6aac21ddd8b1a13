/** All commands. */
import { runCli } from "../cli/cli.ts";
import { closeFilesToOthers } from "../cli/project-mask.ts";

closeFilesToOthers();
void runCli(process.argv);
