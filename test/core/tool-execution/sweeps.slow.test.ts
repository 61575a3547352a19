import '../../support/full-sweeps.js';
import './schedule-calls.test.js';
import './tool-calling-manager-effects.test.js';
