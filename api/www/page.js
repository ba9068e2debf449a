"use strict";

const TEXTS = {
  en: {
    assignment: "Assignment", conditions: "Conditions", plan: "Plan", certificates: "Certificates", units: "Units",
    cluster: "Cluster", machine: "Machine", server: "API server", version: "Kubernetes",
    paused: "Paused on this host", until: "until", resume: "until kubexmctl resume", user: "by user", stays: "stays",
    none: "none", expired: "expired", days: "days left", hours: "hours left", minutes: "minutes left", cpus: "CPUs",
    unreachable: "kubexmd does not answer: the status of this host is unknown. Run on the host: systemctl status kubexmd",
    phases: {
      unconfigured: "No management cluster is configured: give kubexmd a bootstrap kubeconfig.",
      enrolling: "The host requests a certificate from the management cluster and registers itself.",
      waiting: "The host is registered and waits for an assignment to a cluster.",
      joining: "The host is assigned to a cluster and joins it.",
      joined: "The host is a node of its cluster, and its Node became Ready.",
      releasing: "The host leaves its cluster, and its previous state is restored.",
      failed: "A retry alone cannot succeed: a condition names the next step.",
      held: "The assignment conflicts with the node on this host: it stays as it is, and is repaired, until a person decides. A condition says why.",
      paused: "The management cluster has paused this host: nothing is changed.",
    },
    actions: { renew: "renewed at", approve: "waits for approval", retry: "renewal failed, next try", publish: "renewed, not with kubelet yet" },
    progress: { waiting: "waiting", joining: "joining", joined: "joined", releasing: "releasing" },
  },
  zh: {
    assignment: "分配", conditions: "状态条件", plan: "计划", certificates: "证书", units: "系统单元",
    cluster: "集群", machine: "机器", server: "API 服务器", version: "Kubernetes",
    paused: "已在本机暂停", until: "直到", resume: "直到执行 kubexmctl resume", user: "操作用户", stays: "遗留",
    none: "无", expired: "已过期", days: "天后到期", hours: "小时后到期", minutes: "分钟后到期", cpus: "CPU",
    unreachable: "kubexmd 没有响应，本机状态未知。请在本机执行：systemctl status kubexmd",
    phases: {
      unconfigured: "尚未配置管理集群：请为 kubexmd 提供引导 kubeconfig。",
      enrolling: "本机正在向管理集群申请证书并注册。",
      waiting: "本机已注册，等待分配到集群。",
      joining: "本机已分配到集群，正在加入。",
      joined: "本机已是集群的节点，其 Node 曾达到 Ready 状态。",
      releasing: "本机正在离开集群，并恢复原来的状态。",
      failed: "仅靠重试无法成功：下一步见状态条件。",
      held: "分配与本机上的节点冲突：在人工决定之前，节点保持原样，被改动的内容仍会恢复。原因见状态条件。",
      paused: "管理集群已暂停本机：不做任何更改。",
    },
    actions: { renew: "续期时间", approve: "等待批准", retry: "续期失败，下次尝试", publish: "已续期，kubelet 尚未使用" },
    progress: { waiting: "等待", joining: "加入中", joined: "已加入", releasing: "释放中" },
  },
};
const LANGUAGE = navigator.language.startsWith("zh") ? "zh" : "en";
const TEXT = TEXTS[LANGUAGE];
const COLOUR = {
  True: "good", done: "good", skipped: "good", active: "good",
  False: "bad", failed: "bad", prepared: "busy", activating: "busy",
};
const PERIOD_MS = 1000, TIMEOUT_MS = 5000;

const at = (id) => document.getElementById(id);

// Sets text only: nothing from the daemon becomes markup.
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
  at(id).replaceChildren(...(items.length ? items : [element("li", TEXT.none, "dim")]));
}

function remaining(until) {
  const minutes = Math.floor((Date.parse(until) - Date.now()) / 60000);
  if (Number.isNaN(minutes)) return "";
  if (minutes < 0) return TEXT.expired;
  if (minutes < 120) return minutes + " " + TEXT.minutes;
  if (minutes < 2 * 24 * 60) return Math.floor(minutes / 60) + " " + TEXT.hours;
  return Math.floor(minutes / (24 * 60)) + " " + TEXT.days;
}

function certificate(one) {
  const item = document.createElement("li");
  const left = element("span", "", "remaining");
  left.dataset.until = one.notAfter;
  item.append(element("span", one.name, "mark"), " ", left, element("div", one.subject + ", " + one.notAfter, "dim"));
  const next = [TEXT.actions[one.next.action] || one.next.action, one.next.at, one.next.reason].filter(Boolean);
  item.append(element("div", next.join(" · "), one.next.action === "renew" ? "dim" : "bad"));
  return item;
}

function updateRemaining() {
  for (const left of document.querySelectorAll(".remaining")) {
    const text = remaining(left.dataset.until);
    if (left.textContent !== text) left.textContent = text;
    left.classList.toggle("bad", text === TEXT.expired);
  }
}

function progress(phase) {
  return Object.entries(TEXT.progress).map(([name, text]) => {
    const item = element("li", text);
    if (name === phase) item.setAttribute("aria-current", "step");
    return item;
  });
}

function pause(given) {
  if (!given) return "";
  const until = given.until ? TEXT.until + " " + given.until : TEXT.resume;
  return [TEXT.paused, until, TEXT.user + " " + given.uid, given.since].join(" · ");
}

function stay(one) {
  const item = document.createElement("li");
  item.append(element("span", TEXT.stays, "mark bad"), " ", element("span", one.object), element("div", one.why, "dim"));
  return item;
}

function assignment(given) {
  if (!given) return [element("dd", TEXT.none, "dim")];
  return ["cluster", "machine", "server", "version"].flatMap((name) =>
    [element("dt", TEXT[name]), element("dd", given[name] || "—")]);
}

function show(status) {
  const { host, plan } = status;
  document.title = host.name + ": " + status.phase;
  at("host").textContent = host.name;
  at("facts").textContent = [host.osImage, host.architecture, host.cpus + " " + TEXT.cpus,
    (host.memoryBytes / 2 ** 30).toFixed(1) + " GiB"].join(" · ");
  at("progress").replaceChildren(...progress(status.phase));
  at("phase").textContent = TEXT.phases[status.phase] || status.phase;
  at("phase").className = status.phase === "failed" ? "bad" : "";
  at("pause").textContent = pause(status.pause);
  at("pause").hidden = !status.pause;
  at("assignment").replaceChildren(...assignment(status.assignment));
  fill("conditions", status.conditions.map((one) => marked(one.status, one.type,
    [one.reason, one.message].filter(Boolean).join(": "))));
  at("plan").textContent = plan ? [plan.id, plan.state, plan.error].filter(Boolean).join(" · ") : "";
  fill("steps", plan ? plan.steps.map((step) => marked(step.state, step.text, step.error || step.progress)) : []);
  at("stays").replaceChildren(...(plan ? plan.stays.map(stay) : []));
  fill("certificates", status.certificates.map(certificate));
  fill("units", status.units.map((unit) => marked(unit.active, unit.name, unit.enablement)));
  at("version").textContent = "kubexmd " + status.version;
}

let tag = "";

async function refresh() {
  const answer = await fetch("/v1/status", {
    headers: tag ? { "If-None-Match": tag } : {}, cache: "no-store", signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  if (answer.status !== 304) {
    if (!answer.ok) throw new Error(String(answer.status));
    show(await answer.json());
    tag = answer.headers.get("ETag") || "";
  }
  updateRemaining();
}

// An old status is hidden, not shown as current; without the tag the next answer is a whole one.
function setUnreachable(unreachable) {
  if (unreachable) tag = "";
  at("unreachable").hidden = !unreachable;
  at("status").hidden = unreachable;
}

async function poll() {
  if (document.visibilityState === "visible") {
    await refresh().then(() => setUnreachable(false), () => setUnreachable(true));
  }
  setTimeout(poll, PERIOD_MS);
}

document.documentElement.lang = LANGUAGE;
at("unreachable").textContent = TEXT.unreachable;
for (const title of document.querySelectorAll("[data-word]")) title.textContent = TEXT[title.dataset.word];
poll();
