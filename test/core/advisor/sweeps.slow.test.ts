import '../../support/full-sweeps.js';
import './advisor-chain.test.js';
import './advisor-chain-context.test.js';
import './around.test.js';
import './chat-client-request.test.js';
import './rxjs-kit-random.test.js';
