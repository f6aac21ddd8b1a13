/** `weft serve`: the supervisor has no use for the other commands, and is ready sooner without them. */
import { runProgram } from "../cli/program.ts";
import { closeFilesToOthers } from "../cli/project-mask.ts";
import { addServe } from "../cli/serve-command.ts";

closeFilesToOthers();
void runProgram(process.argv, addServe);
