/** What every process of the server tells of itself. */
import { metrics } from "../base/metrics.ts";
import type { SurveyAnswer, Question } from "./questions.ts";

const restarts = metrics.counters(
  "weft_process_restarts_total",
  "Processes that ended and were started again, by role",
  "role",
);

export function countRestart(role: string): void {
  restarts.of(role).count++;
}

/** The supervisor's own answer. */
export async function answerOwn(question: Question): Promise<SurveyAnswer> {
  return question.kind === "metrics" ? { readings: await metrics.read() } : {};
}

const microsecond = 1e-6;

metrics.gauge("weft_processes", "Processes of the server that answer", () => 1);
metrics.gauge(
  "weft_process_cpu_seconds_total",
  "CPU time that the processes have used",
  () => {
    const { user, system } = process.cpuUsage();
    return (user + system) * microsecond;
  },
  "counter",
);
metrics.gauge("weft_memory_resident_bytes", "Memory of the processes", () =>
  process.memoryUsage.rss(),
);
metrics.gauge(
  "weft_memory_heap_bytes",
  "Heap that is in use",
  () => process.memoryUsage().heapUsed,
);
metrics.gauge("weft_memory_heap_idle_bytes", "Heap that is held and not used", () => {
  const { heapTotal, heapUsed } = process.memoryUsage();
  return Math.max(0, heapTotal - heapUsed);
});
metrics.gauge(
  "weft_uptime_seconds",
  "Since the oldest process began",
  () => process.uptime(),
  "max",
);
metrics.gauge(
  "weft_event_loop_busy_seconds_total",
  "Time in which the event loops of the processes were at work",
  () => performance.eventLoopUtilization().active / 1000,
  "counter",
);
