import '../support/full-sweeps.js';
import './tool-calling-advisor-faults.test.js';
import './steering-advisor-random.test.js';
import './guard-advisor-streams.test.js';
import './compaction-advisor-property.test.js';
import './compaction-advisor-wire.test.js';
