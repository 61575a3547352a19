import type { Advisor } from '../advisor/advisor.js';
import type { ChatClientRequest } from '../advisor/chat-client-request.js';
import { advise, Recording, type Outcome } from './contract-run.js';
import { sampleRequest, Stage, STEP_BY_STEP, type Pace, type Scene } from './contract-scene.js';

/** What `itBehavesLikeAnAdvisor` is to know of an advisor. */
export interface AdvisorContract {
  /** Title of the suite. @default the name of the advisor */
  readonly name?: string;
  /** Makes the advisor, anew for each run. */
  readonly create: () => Advisor;
  /** Gives the request what the advisor needs, such as a conversation id. */
  readonly request?: (request: ChatClientRequest) => ChatClientRequest;
  /** Reads what a run left behind (memory, spans, log lines): it must be the same for call and stream. */
  readonly observe?: () => unknown;
  /** Whether it is the advisor's job to handle errors, as retry and fallback do: then they need not pass unchanged. @default false */
  readonly handlesErrors?: boolean;
  /** Whether it may answer without asking the rest of the chain, as caches and guards do. @default false */
  readonly answersItself?: boolean;
  /** Whether it may put another answer in place of the model's, or another result in place of a tool's. @default false */
  readonly changesAnswer?: boolean;
  /** Whether it counts over all runs in fields of its own, and so cannot be frozen. @default false */
  readonly writesFields?: boolean;
  /** Milliseconds that a run may take. @default 1_500 */
  readonly timeout?: number;
}

/** A run with the stage it ran before. */
export interface TrialRun {
  readonly outcome: Outcome;
  readonly stage: Stage;
}

/** Sets an advisor against scenes. */
export class Trial {
  constructor(readonly contract: AdvisorContract) {}

  get timeout(): number {
    return this.contract.timeout ?? 1_500;
  }

  request(mode: ChatClientRequest['mode'], who?: string): ChatClientRequest {
    const request = sampleRequest(mode, who);
    return this.contract.request?.(request) ?? request;
  }

  /** One whole run of a fresh advisor. */
  async run(scene: Scene, request: ChatClientRequest, pace: Pace = STEP_BY_STEP, advisor = this.contract.create()): Promise<TrialRun> {
    const stage = new Stage([advisor], scene, pace);
    const outcome = await new Recording(advise(advisor, request, stage)).outcome(this.timeout);
    return { outcome, stage };
  }
}
