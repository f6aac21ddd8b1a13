/**
 * The process of a resolver begins with this text, before anything of the user's is there. It reads no file: runner and
 * script come by message. What goes wrong outside of a call is told and survived.
 *
 * Scripts reach no object that leads out (`runner/globals.ts`), but that is one mistake away from not being so: what
 * could be done with such an object is taken away here, in the whole process. Without these methods a socket cannot be
 * connected, bound or opened, a name not be looked up, another process not be reached, however one comes by it. The
 * channel to the parent goes on: it is open already.
 */
export const firstLine = `
"use strict";
const vm = require("node:vm"), util = require("node:util"), port = process;
const send = port.send.bind(port), on = port.on.bind(port), exit = port.exit.bind(port);
const format = util.formatWithOptions.bind(util), uptime = port.uptime.bind(port);
on("disconnect", () => exit(0));
const tell = (e) => send({ kind: "fault", message: "outside of a call: " + ((e && e.stack) || e) });
on("uncaughtException", tell);
on("unhandledRejection", tell);

const take = (from, names) => {
  for (let at = from; at && at !== Object.prototype; at = Object.getPrototypeOf(at))
    for (const name of names) if (Object.hasOwn(at, name)) delete at[name];
};
const openers = ["connect", "connect6", "bind", "bind6", "listen", "open", "fchmod", "reset"];
const net = require("node:net"), dgram = require("node:dgram"), dns = require("node:dns");
const tcp = net._createServerHandle("127.0.0.1", 0, 4), udp = dgram.createSocket("udp4");
const state = udp[Object.getOwnPropertySymbols(udp).find((one) => one.description === "state symbol")];
const socket = new net.Socket().on("error", () => {});
socket.connect({ path: "/dev/null/nowhere" });
const pipe = socket._handle;
if (typeof tcp === "number" || !state?.handle || !pipe) throw new Error("the network cannot be taken away");
const udpHandle = Object.getPrototypeOf(state.handle), tcpHandle = Object.getPrototypeOf(tcp);
tcp.close();
udp.close();
socket.destroy();
take(tcpHandle, openers);
take(Object.getPrototypeOf(pipe), openers);
take(udpHandle, [...openers, "send", "send6", "connect6", "addMembership", "setBroadcast"]);
take(net.Socket.prototype, ["connect"]);
take(net.Server.prototype, ["listen"]);
take(dgram.Socket.prototype, ["bind", "connect", "send", "sendto", "addMembership"]);
for (const target of [dns, dns.promises, dns.Resolver.prototype, dns.promises.Resolver.prototype])
  for (const name of Object.keys(Object.getOwnPropertyDescriptors(target)))
    if (/^(?:lookup|resolve|reverse|query)/.test(name)) delete target[name];
for (const name of ["kill", "_kill", "_debugProcess", "_debugEnd", "_startProfilerIdleNotifier", "dlopen", "binding",
  "_linkedBinding", "getBuiltinModule", "abort", "exit", "reallyExit", "chdir", "umask", "setuid", "setgid", "seteuid",
  "setegid", "setgroups", "initgroups", "execve", "loadEnvFile", "mainModule"]) delete port[name];

port.once("message", (load) => {
  const runner = new vm.Script("(function () {" + load.runner + ";return runner})", { filename: "weft:runner" }).runInThisContext()();
  runner.startRunner({
    send: (message) => send(message),
    listen: (handler) => on("message", handler),
    evaluate: (script, filename) => new vm.Script(script, { filename }).runInThisContext({ displayErrors: false }),
    format: (values) => format({ customInspect: false, maxStringLength: 10000 }, ...values),
    nowMs: () => uptime() * 1000,
  }, load);
});
`;
