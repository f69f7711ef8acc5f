import { strict as assert } from "node:assert";
import { sourceCandidates } from "../../../extension/src/source/source-path";

describe("sourceCandidates", () => {
  it("tries the path itself, then its ends in the folders, longest first", () => {
    assert.deepEqual(sourceCandidates("/build/x/a.cpp", ["/home/me/x/"]), [
      "/build/x/a.cpp",
      "/home/me/x/build/x/a.cpp",
      "/home/me/x/x/a.cpp",
      "/home/me/x/a.cpp",
    ]);
  });
  it("looks for a relative path in the folders only", () => {
    assert.deepEqual(sourceCandidates("./a.cpp", ["/w"]), ["/w/a.cpp"]);
    assert.deepEqual(sourceCandidates("a.cpp", []), []);
  });
  it("does not leave a folder", () => {
    assert.deepEqual(sourceCandidates("../../etc/passwd", ["/w"]), []);
  });
});
