import { AdvisorOrder, type Advisor, type AdvisorChain } from '../src/advisor/advisor.js';
import type { ChatClientRequest } from '../src/advisor/chat-client-request.js';
import type { ChatEvent } from '../src/chat/chat-event.js';
import { ContextKey } from '../src/chat/context.js';
import type { Gate } from '../src/guard/gate.js';
import { checkGuardOptions, type GuardAdvisorOptions } from '../src/guard/guard-options.js';
import { GuardedAnswer } from '../src/guard/guarded-answer.js';
import { guardQuestion } from '../src/guard/guarded-question.js';
import { Policies } from '../src/guard/policies.js';
import { withRun } from '../src/guard/taint.js';
import { ToolGuard } from '../src/guard/tool-guard.js';
import { Observable } from '../src/internal/rxjs.js';

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
    checkGuardOptions(options);
    const { input, output, toolResults, untrusted } = options;
    this.name = options.name ?? 'guard';
    this.order = options.order ?? AdvisorOrder.GUARD;
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
    const own = this.tools ? withRun(request) : request;
    if (!this.options.input) return chain.next(own);
    return guardQuestion(this.input, own, chain, this.isParallel ? this.gate : undefined);
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
        this.tools?.readHistory(request.prompt.messages, request.run);
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
    const isListed = typeof untrusted === 'function' ? untrusted : undefined;
    return new ToolGuard({
      guard,
      results: new Policies(guard, 'tool-result', toolResults, options),
      output,
      untrusted: isListed ?? ((toolName) => (untrusted as readonly string[]).includes(toolName)),
      approve,
      gateOf: (context) => context.get(this.gate),
    });
  }
}
