import '../../support/full-sweeps.js';
import './tool-decorator.test.js';
