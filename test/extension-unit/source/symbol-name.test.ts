// Names of language servers (clangd, cpptools, rust-analyzer, gopls) and of symbol tables.
import { strict as assert } from "node:assert";
import { isFollowedByCall, qualifiedName } from "../../../extension/src/source/symbol-name";

describe("qualifiedName", () => {
  for (const [language, chain, expected] of [
    ["cpp", ["shop", "Order", "total"], "shop::Order::total"],
    ["cpp", ["shop", "Box<T>", "weigh(int) const"], "shop::Box::weigh"],
    ["cpp", ["largest<T>(T one, T other)"], "largest"],
    ["cpp", ["(anonymous namespace)", "hidden"], "hidden"],
    ["cpp", ["shop", "Order", "operator()(int)"], "shop::Order::operator()"],
    ["cpp", ["shop", "operator<<(std::ostream &, Order)"], "shop::operator<<"],
    ["cpp", ["Order", "operator bool() const"], "Order::operator bool"],
    ["cpp", ["Order", "operator[]"], "Order::operator[]"],
    ["cpp", ["Order", "~Order"], "Order::~Order"],
    ["cpp", ["operators_of", "f"], "operators_of::f"],
    ["rust", ["shop", "impl Priced for Order", "price"], "shop::Order::price"],
    ["rust", ["impl<T> Shelf<T>", "take"], "Shelf::take"],
    ["rust", ["largest<T>"], "largest"],
    ["go", ["(*Order).Price"], "(*Order).Price"],
    ["go", ["(*Shelf[T]).Take"], "(*Shelf).Take"],
    ["go", ["Largest"], "Largest"],
  ] as const) {
    it(`${chain.join(" / ")} is ${expected}`, () => {
      assert.equal(qualifiedName(chain, language), expected);
    });
  }
});

describe("isFollowedByCall", () => {
  for (const [line, identifier, expected] of [
    ["  total = weigh(box);", "weigh", true],
    ["  total = weigh(box);", "total", false],
    ["  auto most = largest<std::pair<int, int>>(a, b);", "largest", true],
    ["  return box.size < other.size && (more);", "size", false],
    ["  x = Largest[int](all)", "Largest", true],
    ["  x = all[0]", "all", false],
    ["  let n = shop::largest::<u64>(&all);", "largest", true],
  ] as const) {
    it(`${identifier} in "${line.trim()}": ${String(expected)}`, () => {
      assert.equal(isFollowedByCall(line, line.indexOf(identifier) + identifier.length), expected);
    });
  }
});
