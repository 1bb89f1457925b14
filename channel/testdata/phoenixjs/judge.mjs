// The official Phoenix client against the server half. Prints one JSON object a
// line; the Go test does its part when it reads the line that asks for it.
import { Socket } from "phoenix";
import WebSocket from "ws";

const say = (step, detail = null) => console.log(JSON.stringify({ step, detail }));
let ticket = 0;

const socket = new Socket(process.env.JUDGE_ENDPOINT, {
  transport: WebSocket,
  params: () => ({ ticket: `js-${++ticket}` }),
  reconnectAfterMs: () => 50,
  rejoinAfterMs: () => 50,
});
socket.onClose((event) => say("closed", event.code));
socket.connect();

const settle = (push) =>
  new Promise((resolve) => {
    for (const status of ["ok", "error", "timeout"]) push.receive(status, (response) => resolve({ status, response }));
  });

const channel = socket.channel("terminal:js", { capacidades: ["exec", "pty"] });
const received = [];
const arrived = [];
channel.on("exec", (payload) => { received.push(payload); arrived.shift()?.(); });
channel.on("note", (payload) => say("broadcast", payload));
channel.onError(() => say("channel error"));
channel.onClose(() => say("channel closed"));

let joins = 0;
await new Promise((resolve) => channel.join().receive("ok", (response) => { say("joined", response); if (++joins === 1) resolve(); }));

const refused = socket.channel("terminal:refuse", {});
say("refused", await settle(refused.join()));
refused.leave();

say("reply", await settle(channel.push("echo", { text: "é<&>" })));
say("error reply", await settle(channel.push("fail", {})));

const pushed = new Promise((resolve) => arrived.push(resolve));
say("push and reply", await settle(channel.push("push_then_reply", { id: "c1" })));
await pushed;
say("pushed", received);

const binary = await settle(channel.push("echo", new Uint8Array([222, 173, 190, 239]).buffer));
say("binary reply", Buffer.from(binary.response).toString("hex"));

const other = socket.channel("terminal:other", {});
await settle(other.join());
const left = new Promise((resolve) => other.onClose(resolve));
other.leave();
await left;
say("left");

process.stdin.on("data", (command) => {
  if (String(command).trim() === "quit") {
    channel.leave();
    socket.disconnect(() => process.exit(0), 1000);
  }
});
say("ready");
