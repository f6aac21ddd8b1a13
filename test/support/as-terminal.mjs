// Loaded before a command (`node --import`): its standard output is a pipe that passes for a terminal.
process.stdout.isTTY = true;
process.stdout.columns = 120;
