// The decoders are made on first use.
#include "symbols/machine_code/zydis_decoder.hpp"

namespace ptlens::symbols {

const ZydisDecoder& zydis_decoder(bool is_64_bit) {
  const auto make = [](ZydisMachineMode mode, ZydisStackWidth width) {
    ZydisDecoder made = {};
    ZydisDecoderInit(&made, mode, width);
    return made;
  };
  static const ZydisDecoder wide = make(ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
  static const ZydisDecoder narrow = make(ZYDIS_MACHINE_MODE_LEGACY_32, ZYDIS_STACK_WIDTH_32);
  return is_64_bit ? wide : narrow;
}

} // namespace ptlens::symbols
