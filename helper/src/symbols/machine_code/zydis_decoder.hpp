// Zydis' decoders of the two kinds of code, made once.
#pragma once

#include <Zydis/Zydis.h>

namespace ptlens::symbols {

[[nodiscard]] const ZydisDecoder& zydis_decoder(bool is_64_bit);

} // namespace ptlens::symbols
