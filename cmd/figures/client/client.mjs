// A minimal client of the same contract, as one writes it on the official Phoenix package and child_process: a fresh
// ticket a connection, one channel, commands and terminals. Terminals go through script(1) of util-linux, which gives
// them a tty: node-pty, the module for it, compiles native code when installed on Linux. It keeps no journal, has no
// policy and abandons what runs when it ends.
import { spawn } from "node:child_process";
import { Socket } from "phoenix";
import WebSocket from "ws";

const { BRABO_API_URL: api, BRABO_ACCOUNT_TOKEN: token, PROJECT: project, ROOT: root } = process.env;
const shell = process.env.SHELL || "/bin/sh";
const resultLimit = 32768; // bytes
const commandDeadline = 15000; // ms
const waits = [1, 2, 5, 10, 30]; // seconds after so many failures in a row

async function address() {
  const answer = await fetch(`${api}/projects/${encodeURIComponent(project)}/runner-ticket`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}` },
  });
  if (answer.status !== 201) throw new Error(`ticket: HTTP ${answer.status}`);
  return answer.json();
}

function run(channel, { ref, command, cwd, env }) {
  const child = spawn(shell, ["-c", command], {
    cwd: cwd || root,
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  const kept = [];
  let size = 0;
  let timedOut = false;
  const take = (data) => {
    if (size < resultLimit) kept.push(data.subarray(0, resultLimit - size));
    size += data.length;
  };
  child.stdout.on("data", take);
  child.stderr.on("data", take);
  const timer = setTimeout(() => {
    timedOut = true;
    process.kill(-child.pid, "SIGTERM");
  }, commandDeadline);
  child.on("close", (code) => {
    clearTimeout(timer);
    channel.push("exec_result", { ref, exitCode: timedOut ? -1 : (code ?? -1), output: Buffer.concat(kept).toString(), timedOut });
  });
}

function terminals(channel) {
  const open = new Map();
  channel.on("pty_open", ({ sessionRef }) => {
    const child = spawn("script", ["-qfc", shell, "/dev/null"], { cwd: root, env: { ...process.env, TERM: "xterm-256color" } });
    open.set(sessionRef, child);
    child.stdout.on("data", (data) => channel.push("pty_data", { sessionRef, data: data.toString("base64") }));
    channel.push("pty_opened", { sessionRef });
  });
  channel.on("pty_input", ({ sessionRef, data }) => open.get(sessionRef)?.stdin.write(Buffer.from(data, "base64")));
  channel.on("pty_close", ({ sessionRef }) => open.get(sessionRef)?.kill());
  return () => open.forEach((child) => child.kill());
}

// session serves one connection and reports whether it had joined.
async function session() {
  const { ticket, engineWsUrl } = await address();
  return new Promise((resolve) => {
    let joined = false;
    const socket = new Socket(engineWsUrl, { transport: WebSocket, params: { ticket }, reconnectAfterMs: () => 1 << 30 });
    const channel = socket.channel(`terminal:${project}`, { capacidades: ["exec", "pty"] });
    const closeTerminals = terminals(channel);
    const end = () => {
      closeTerminals();
      socket.disconnect();
      resolve(joined);
    };
    channel.on("exec", (message) => run(channel, message));
    socket.onClose(end);
    socket.onError(end);
    socket.connect();
    channel
      .join()
      .receive("ok", () => {
        joined = true;
        channel.push("workspace_confirm", { path: root });
      })
      .receive("error", end)
      .receive("timeout", end);
  });
}

process.on("SIGTERM", () => process.exit(0));
for (let failures = 0; ; ) {
  const joined = await session().catch(() => false);
  failures = joined ? 0 : failures + 1;
  if (failures > 0) await new Promise((resolve) => setTimeout(resolve, waits[Math.min(failures, waits.length) - 1] * 1000));
}
