// The ptlens that the bench measures with: the one that is built here, or another.
import { buildNative, buildSample } from "../build.mjs";
import { helper as built } from "../steps.mjs";

const given = process.env.PTLENS_HELPER;

export const helper = given ?? built;
export const build = () => (given ? buildSample() : buildNative({ targets: ["ptlens"] }));
