/** The supervisor's half of surveys: it asks everyone, waits a while, and keeps what ended processes have counted. */
import { keepRisen, mergeReadings, type MetricReading } from "../base/metrics.ts";
import type { ToChild } from "./messages.ts";
import type { SurveyAnswer, Question, SurveyReport } from "./questions.ts";

/** One that says nothing for so long is left out. */
const patienceMs = 2_000;
/** What is to be done, and not told alone, takes longer: a lead is given up when no process relies on it any more. */
const actPatienceMs = 15_000;
const acts: ReadonlySet<Question["kind"]> = new Set(["resign", "finalize", "evict"]);

interface Survey<Child> {
  readonly question: Question;
  readonly silent: Set<Child>;
  readonly reports: SurveyReport[];
  readonly done: (reports: readonly SurveyReport[]) => void;
}

interface DeskParts<Child> {
  readonly tell: (child: Child, message: ToChild) => void;
  /** As `worker 1`. */
  readonly nameOf: (child: Child) => string;
  /** What the supervisor says itself. */
  readonly own: (question: Question) => Promise<SurveyAnswer>;
}

/** Children are told apart by identity alone. */
export class SurveyDesk<Child extends object> {
  readonly #parts: DeskParts<Child>;
  readonly #surveys = new Map<number, Survey<Child>>();
  #lastId = 0;
  /** As each living process has last told. */
  readonly #last = new Map<Child, readonly MetricReading[]>();
  /** What those that ended had counted when they last told: sums over all processes never fall. */
  readonly #departed = new Map<string, readonly MetricReading[]>();

  constructor(parts: DeskParts<Child>) {
    this.#parts = parts;
  }

  /** `asker` is told what those of `children` said that answered. */
  open(asker: Child, id: number, question: Question, children: readonly Child[]): void {
    const number = ++this.#lastId;
    const finish = (reports: readonly SurveyReport[]): void => {
      clearTimeout(timer);
      this.#surveys.delete(number);
      this.#parts.tell(asker, {
        kind: "surveyed",
        id,
        reports: [...reports, ...this.#past(question)],
      });
    };
    const survey = {
      question,
      silent: new Set(children),
      reports: [] as SurveyReport[],
      done: finish,
    };
    const waitMs = acts.has(question.kind) ? actPatienceMs : patienceMs;
    const timer = setTimeout(() => finish(survey.reports), waitMs);
    this.#surveys.set(number, survey);
    void this.#parts.own(question).then((answer) => {
      survey.reports.push({ process: "supervisor", answer });
      for (const child of children)
        this.#parts.tell(child, { kind: "asked", id: number, question });
      this.#look(survey);
    });
  }

  hear(child: Child, id: number, answer: SurveyAnswer): void {
    if (answer.readings !== undefined) this.#last.set(child, answer.readings);
    const survey = this.#surveys.get(id);
    if (survey === undefined || !survey.silent.delete(child)) return;
    survey.reports.push({ process: this.#parts.nameOf(child), answer });
    this.#look(survey);
  }

  /** The child's process has ended. */
  forget(child: Child): void {
    const last = this.#last.get(child);
    this.#last.delete(child);
    if (last !== undefined) {
      const name = this.#parts.nameOf(child);
      const before = this.#departed.get(name) ?? [];
      this.#departed.set(name, mergeReadings([before, keepRisen(last)]));
    }
    for (const survey of this.#surveys.values()) {
      if (survey.silent.delete(child)) this.#look(survey);
    }
  }

  #look(survey: Survey<Child>): void {
    if (survey.silent.size === 0) survey.done(survey.reports);
  }

  /** Under the name of the process that took the place of the one that ended. */
  #past(question: Question): SurveyReport[] {
    if (question.kind !== "metrics") return [];
    return [...this.#departed].map(([process, readings]) => ({ process, answer: { readings } }));
  }
}
