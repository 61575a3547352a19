import '../../support/full-sweeps.js';
import '../../core/chat/message-codec.test.js';
import './history-repair.test.js';
import './message-window-chat-memory.test.js';
