// How messages name a key. User data may be secret and is often not text, so it
// is the first bytes of its serialised form, in hex.
#pragma once

#include <string>
#include <string_view>

namespace mayfly::state_internal {

// "0x445457", with "..." behind it if there is more of the key.
std::string KeyText(std::string_view key_bytes);

}  // namespace mayfly::state_internal
