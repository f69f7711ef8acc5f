// The name under which this module uses base/file_descriptor.hpp.
#pragma once

#include "base/file_descriptor.hpp"

namespace ptlens::record {

using Descriptor = FileDescriptor;

} // namespace ptlens::record
