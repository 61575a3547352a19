import { AdvisorOrder, type Advisor, type AdvisorChain } from '../../src/core/advisor/advisor.js';
import type { ChatClientRequest } from '../../src/core/advisor/chat-client-request.js';
import type { ChatEvent } from '../../src/core/chat/chat-event.js';
import { judgeUntrustedTexts } from '../../src/core/advisor/untrusted-text.js';
import { ContextKey } from '../../src/core/chat/context.js';
import type { Gate } from './judge.js';
import { checkGuardOptions, type GuardAdvisorOptions } from './guard-options.js';
import { GuardedAnswer } from './guarded-answer.js';
import { guardQuestion } from './guarded-question.js';
import { Policies } from './policies.js';
import { ToolGuard } from './tool-guard.js';
import { Observable } from '../../src/core/internal/rxjs.js';

/**
 * Looks at the question left of the memory, at answers right of it (as its part `guard.output`), and
 * at results of tools; blocks, redacts, marks or reports what its rules find. The memory stores what
 * the guard lets pass.
 */
export class GuardAdvisor implements Advisor {
  readonly name: string;
  readonly order: number;
  readonly traits: Advisor['traits'];
  readonly parts: readonly Advisor[];
  readonly adviseToolCall?: NonNullable<Advisor['adviseToolCall']>;
  private readonly input: Policies;
  private readonly output: Policies;
  private readonly gate: ContextKey<Gate | undefined>;
  private readonly tools: ToolGuard | undefined;

  /** @throws {@link InvalidArgumentError} if an option is invalid, or there is nothing to guard */
  constructor(private readonly options: GuardAdvisorOptions) {
    ({ name: this.name, order: this.order } = checkGuardOptions(options));
    const { input, output, toolResults, untrusted } = options;
    this.traits = input ? ['guards-input'] : [];
    this.gate = new ContextKey(`advisor-chain.guard.${this.name}`);
    this.input = new Policies(this.name, 'input', input ?? [], options);
    this.output = new Policies(this.name, 'output', output ?? [], options);
    const looksAtTools = toolResults ?? untrusted ?? output ?? this.isParallel;
    if (looksAtTools) {
      this.tools = this.toolGuard();
      this.adviseToolCall = (call, next) => (this.tools as ToolGuard).adviseToolCall(call, next);
    }
    this.parts = looksAtTools ? [this.outputPart()] : [];
  }

  /** Judges the question, then calls the rest of the chain. */
  advise(request: ChatClientRequest, chain: AdvisorChain): Observable<ChatEvent> {
    const { tools, name, options } = this;
    if (tools?.looksAtResults)
      judgeUntrustedTexts(request.run, name, (text) => tools.judgeText(text));
    if (!options.input) return chain.next(request);
    return guardQuestion(this.input, request, chain, this.isParallel ? this.gate : undefined);
  }

  private get isParallel(): boolean {
    return this.options.parallel === true && this.input.hasChecks;
  }

  private outputPart(): Advisor {
    const { release = 'checked', output, outputOrder } = this.options;
    // with `after` it is meant that a stream shows what is taken back
    const holds = output !== undefined && release !== 'after';
    return {
      name: `${this.name}.output`,
      order: outputOrder ?? AdvisorOrder.TOOL_CALLING + 100,
      ...(output && {
        traits: [...(holds ? (['guards-output'] as const) : []), 'rewrites-answers'],
      }),
      ...(holds && { holdDeltas: true }),
      advise: (request, chain) => {
        this.tools?.readHistory(request);
        const gate = request.context.get(this.gate);
        if (!output && (!gate || gate.isOpen)) return chain.next(request);
        return new Observable((subscriber) => {
          const guarded = new GuardedAnswer(this.output, release, request, subscriber, gate);
          chain.next(request).subscribe(guarded);
        });
      },
    };
  }

  private toolGuard(): ToolGuard {
    const { options, output, name: guard } = this;
    const { toolResults = [], untrusted = [], approve = () => false } = options;
    // of a guard that looks at answers alone, no tool is refused
    const looksAtResults = options.toolResults !== undefined || options.untrusted !== undefined;
    const isListed =
      typeof untrusted === 'function' ? untrusted : (name: string) => untrusted.includes(name);
    return new ToolGuard({
      guard,
      results: new Policies(guard, 'tool-result', toolResults, options),
      output,
      untrusted: (name, metadata) =>
        isListed(name) || (looksAtResults && metadata?.untrusted === true),
      approve,
      looksAtResults,
      gateOf: (context) => context.get(this.gate),
    });
  }
}
