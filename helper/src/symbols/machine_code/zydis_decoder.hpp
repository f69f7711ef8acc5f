// Zydis' decoders for 64-bit and 32-bit code, made once.
#pragma once

#include <Zydis/Zydis.h>

namespace ptlens::symbols {

[[nodiscard]] const ZydisDecoder& zydis_decoder(bool is_64_bit);

} // namespace ptlens::symbols
