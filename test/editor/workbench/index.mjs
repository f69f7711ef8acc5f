// The tests of the workbench in the order in which they run. Each is given
// { browser, rig, sample, measured, artifacts, test }, and begins with a window of its own.
import { annotationsTests } from "./annotations.mjs";
import { firstStepsTests } from "./first-steps.mjs";
import { helperEndTests } from "./helper-end.mjs";
import { measureTests } from "./measure.mjs";
import { reloadTests } from "./reload.mjs";
import { sideBarTests } from "./side-bar.mjs";
import { targetsTests } from "./targets.mjs";

export const workbenchTests = [measureTests, reloadTests, targetsTests, sideBarTests, helperEndTests, annotationsTests, firstStepsTests];
