import { modelResult, type CallableModel } from '../chat/run-recorder.js';
import { Observable } from '../internal/rxjs.js';
import type {
  Observation,
  ObservedEnding,
  ObservedEvent,
  ObservedPart,
} from '../observation/observation.js';

/** The observation of a model call, which begins when the model is called: a replayed call has none. */
export class ObservedCall implements Observation {
  private own: Observation | undefined;

  constructor(
    private readonly outer: Observation,
    private readonly part: ObservedPart,
  ) {}

  /** The model, whose call begins the observation. */
  observe(model: CallableModel): CallableModel {
    return {
      call: (prompt, run) => this.begun.run(() => model.call(prompt, run)),
      stream: (prompt, run) => {
        const { begun } = this;
        const events = begun.run(() => modelResult(model.stream(prompt, run), 'subscribe'));
        return new Observable((subscriber) => begun.run(() => events.subscribe(subscriber)));
      },
    };
  }

  private get begun(): Observation {
    return (this.own ??= this.outer.begin(this.part));
  }

  begin(part: ObservedPart): Observation {
    return this.begun.begin(part);
  }

  note(event: ObservedEvent): void {
    this.own?.note(event);
  }

  run<T>(work: () => T): T {
    return this.own ? this.own.run(work) : work();
  }

  end(ending: ObservedEnding): void {
    this.own?.end(ending);
  }
}
