// The tests of the workbench in their order. Each receives { browser, rig, sample, measured, artifacts, test } and opens
// its own window.
import { annotationsTests } from "./annotations.mjs";
import { firstStepsTests } from "./first-steps.mjs";
import { helperEndTests } from "./helper-end.mjs";
import { lossTests } from "./loss.mjs";
import { measureTests } from "./measure.mjs";
import { panelTests } from "./panel.mjs";
import { reloadTests } from "./reload.mjs";
import { sideBarTests } from "./side-bar.mjs";
import { targetsTests } from "./targets.mjs";

export const workbenchTests = [measureTests, panelTests, lossTests, reloadTests, targetsTests, sideBarTests, helperEndTests, annotationsTests, firstStepsTests];
