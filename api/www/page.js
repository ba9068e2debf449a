"use strict";

const WORDS = {
  en: {
    assignment: "Assignment", conditions: "Conditions", plan: "Plan", certificates: "Certificates", units: "Units",
    cluster: "Cluster", machine: "Machine", server: "API server", version: "Kubernetes",
    none: "none", expired: "expired", days: "days left", hours: "hours left", minutes: "minutes left", cpus: "CPUs",
    silence: "kubexmd does not answer, so nothing is known of this host now. On it: systemctl status kubexmd",
    phases: {
      unconfigured: "No management cluster is known to this host yet: give kubexmd a bootstrap kubeconfig.",
      enrolling: "The host asks the management cluster for a certificate and registers itself.",
      waiting: "The host is registered and waits until a cluster wants it.",
      joining: "A cluster wants this host: it is being made a node.",
      joined: "The host is a node of its cluster and was seen Ready.",
      releasing: "The host leaves its cluster and becomes what it was before.",
      failed: "It cannot go on without a change or a person; a condition says why.",
      held: "What the management cluster asks does not fit what is here: the host stays as it is until a person decides; a condition says why.",
      paused: "Somebody asked to leave this host alone.",
    },
    stations: { waiting: "waiting", joining: "joining", joined: "joined", releasing: "releasing" },
  },
  zh: {
    assignment: "分配", conditions: "状态条件", plan: "计划", certificates: "证书", units: "系统单元",
    cluster: "集群", machine: "机器", server: "API 服务器", version: "Kubernetes",
    none: "无", expired: "已过期", days: "天后到期", hours: "小时后到期", minutes: "分钟后到期", cpus: "CPU",
    silence: "kubexmd 没有应答，因此无法得知本机现在的状态。请在本机执行：systemctl status kubexmd",
    phases: {
      unconfigured: "本机还不知道管理集群：请为 kubexmd 提供引导 kubeconfig。",
      enrolling: "本机正在向管理集群申请证书并注册。",
      waiting: "本机已注册，等待被集群选用。",
      joining: "已被集群选用，正在成为节点。",
      joined: "本机已是集群的节点，并且曾处于 Ready 状态。",
      releasing: "本机正在离开集群，恢复到原来的样子。",
      failed: "无法继续，需要更改设置或人工处理；原因见状态条件。",
      held: "管理集群的要求与本机现状不符：本机保持原样，等待人工决定；原因见状态条件。",
      paused: "有人要求暂时不要改动本机。",
    },
    stations: { waiting: "等待", joining: "加入中", joined: "已加入", releasing: "释放中" },
  },
};
const LANGUAGE = navigator.language.startsWith("zh") ? "zh" : "en";
const SAY = WORDS[LANGUAGE];
const COLOUR = {
  True: "good", done: "good", skipped: "good", undone: "good", active: "good",
  False: "bad", failed: "bad", refused: "bad", prepared: "busy", running: "busy", activating: "busy",
};
const PERIOD_MS = 1000, PATIENCE_MS = 5000;

const at = (id) => document.getElementById(id);

// Whatever the daemon says is shown as text: nothing here becomes markup.
function element(tag, text, className) {
  const made = document.createElement(tag);
  made.textContent = text;
  if (className) made.className = className;
  return made;
}

function marked(word, text, note) {
  const item = document.createElement("li");
  item.append(element("span", word, "mark " + (COLOUR[word] || "")), " ", element("span", text));
  if (note) item.append(element("div", note, COLOUR[word] === "bad" ? "bad" : "dim"));
  return item;
}

function fill(id, items) {
  at(id).replaceChildren(...(items.length ? items : [element("li", SAY.none, "dim")]));
}

function remaining(until) {
  const minutes = Math.floor((Date.parse(until) - Date.now()) / 60000);
  if (Number.isNaN(minutes)) return "";
  if (minutes < 0) return SAY.expired;
  if (minutes < 120) return minutes + " " + SAY.minutes;
  if (minutes < 2 * 24 * 60) return Math.floor(minutes / 60) + " " + SAY.hours;
  return Math.floor(minutes / (24 * 60)) + " " + SAY.days;
}

function certificate(one) {
  const item = document.createElement("li");
  const left = element("span", "", "remaining");
  left.dataset.until = one.notAfter;
  item.append(element("span", one.name, "mark"), " ", left, element("div", one.subject + ", " + one.notAfter, "dim"));
  return item;
}

function tellRemaining() {
  for (const left of document.querySelectorAll(".remaining")) {
    const text = remaining(left.dataset.until);
    if (left.textContent !== text) left.textContent = text;
    left.classList.toggle("bad", text === SAY.expired);
  }
}

function stations(phase) {
  return Object.entries(SAY.stations).map(([name, text]) => {
    const station = element("li", text);
    if (name === phase) station.setAttribute("aria-current", "step");
    return station;
  });
}

function assignment(given) {
  if (!given) return [element("dd", SAY.none, "dim")];
  return ["cluster", "machine", "server", "version"].flatMap((name) =>
    [element("dt", SAY[name]), element("dd", given[name] || "—")]);
}

function show(status) {
  const { host, plan } = status;
  document.title = host.name + ": " + status.phase;
  at("host").textContent = host.name;
  at("facts").textContent = [host.osImage, host.architecture, host.cpus + " " + SAY.cpus,
    (host.memoryBytes / 2 ** 30).toFixed(1) + " GiB"].join(" · ");
  at("stations").replaceChildren(...stations(status.phase));
  at("phase").textContent = SAY.phases[status.phase] || status.phase;
  at("phase").className = status.phase === "failed" ? "bad" : "";
  at("assignment").replaceChildren(...assignment(status.assignment));
  fill("conditions", status.conditions.map((one) => marked(one.status, one.type,
    [one.reason, one.message].filter(Boolean).join(": "))));
  at("plan").textContent = plan ? [plan.id, plan.state, plan.error].filter(Boolean).join(" · ") : "";
  fill("steps", plan ? plan.steps.map((step) => marked(step.state, step.text, step.error || step.progress)) : []);
  fill("certificates", status.certificates.map(certificate));
  fill("units", status.units.map((unit) => marked(unit.active, unit.name, unit.enablement)));
  at("version").textContent = "kubexmd " + status.version;
}

let tag = "";

async function refresh() {
  const answer = await fetch("/v1/status", {
    headers: tag ? { "If-None-Match": tag } : {}, cache: "no-store", signal: AbortSignal.timeout(PATIENCE_MS),
  });
  if (answer.status !== 304) {
    if (!answer.ok) throw new Error(String(answer.status));
    show(await answer.json());
    tag = answer.headers.get("ETag") || "";
  }
  tellRemaining();
}

// What was true before the silence may not be true any more: it is hidden, and fetched anew afterwards.
function setSilent(silent) {
  if (silent) tag = "";
  at("silence").hidden = !silent;
  at("status").hidden = silent;
}

async function follow() {
  if (document.visibilityState === "visible") {
    await refresh().then(() => setSilent(false), () => setSilent(true));
  }
  setTimeout(follow, PERIOD_MS);
}

document.documentElement.lang = LANGUAGE;
at("silence").textContent = SAY.silence;
for (const title of document.querySelectorAll("[data-word]")) title.textContent = SAY[title.dataset.word];
follow();
