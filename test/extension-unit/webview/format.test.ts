import { strict as assert } from "node:assert";
import { briefFigure, change, difference, figure, moment, range, rounded, share, threshold, tickText, time } from "../../../webview/base/format";

// The texts are the examples of the panel's rules; ~ is a no-break space.
const same = (text: string, expected: string): void => {
  assert.equal(text, expected.replaceAll("~", "\u00a0"));
};

describe("numbers of the panel", () => {
  it("shows times with three significant digits and a no-break space", () => {
    same(time(31_500), "31.5~µs");
    same(time(3_500_000), "3.50~ms");
    same(time(82_400_000), "82.4~ms");
    same(time(0), "0");
  });
  it("shows an uncertainty where it counts, and only a limit where it is as large as the figure", () => {
    same(figure(1_230, 80), "1.23~µs~±~80~ns");
    same(figure(1_230, 8), "1.23~µs");
    same(briefFigure(1_230, 80), "1.23~µs");
    same(briefFigure(1_200, 2_000), "<~3.20~µs");
  });
  it("shows shares with one decimal", () => {
    same(share(0.986), "98.6~%");
    same(share(1), "100.0~%");
    same(share(0), "0.0~%");
    same(share(0.0002), "<~0.1~%");
    same(share(-0.123), "−12.3~%");
  });
  it("shows ticks as precisely as they are apart", () => {
    same(tickText(5_080_000, 20_000), "5.08~ms");
    same(tickText(5_085_000, 5_000), "5.085~ms");
    same(tickText(5_090_000, 5_000), "5.09~ms");
    same(tickText(20_000, 20_000), "20~µs");
    same(tickText(0, 20_000), "0");
  });
  it("gives each difference a sign, and none to one below the resolution", () => {
    same(difference(5_050_000), "+5.05~ms");
    same(difference(-40), "−40~ns");
    same(difference(5, 8), "none");
    same(difference(0), "none");
  });
  it("shows a change in percent with one decimal under 10", () => {
    same(change(-0.44), "−44~%");
    same(change(0.031), "+3.1~%");
    same(change(0.0996), "+10~%");
  });
  it("names the unit of a range once, if both limits have it", () => {
    same(range(3_500_000, 6_500_000), "3.5–6.5~ms");
    same(range(800_000, 1_200_000), "800~µs–1.2~ms");
    same(range(3_500_000, null), "≥~3.5~ms");
    same(range(null, 6_500_000), "<~6.5~ms");
    same(range(0, 6_500_000), "<~6.5~ms");
    same(threshold(6_000_000), "6~ms");
  });
  it("shows more digits where two would make the limits equal", () => {
    same(range(31_500, 31_900), "31.5–31.9~µs");
  });
  it("rounds to significant digits, and shows moments in seconds", () => {
    assert.equal(rounded(3_456_789), 3_500_000);
    assert.equal(rounded(0), 0);
    assert.equal(rounded(3_456_789, 4), 3_457_000);
    same(moment(1_109_700_000), "1.1097~s");
  });
});
