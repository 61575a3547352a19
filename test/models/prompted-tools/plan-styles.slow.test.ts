import { testPlanStyles } from '../../support/plan-styles-suite.js';

testPlanStyles(1);
