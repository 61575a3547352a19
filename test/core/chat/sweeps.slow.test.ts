import '../../support/full-sweeps.js';
import './chat-options.test.js';
import './message.test.js';
import './prompt.test.js';
import './prompt-message-log.test.js';
import './stream-fold.test.js';
