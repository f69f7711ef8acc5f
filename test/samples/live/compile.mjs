// Compiles the samples for the live tests, so that the tests need not, which compare times.
import { compileAll } from "./samples.mjs";

compileAll();
