// Where a user's type arrives without a Serializer, the compiler says so in
// words.
#include <string>
#include <vector>

#include "mayfly/serde/serializer.h"

struct Opaque {};

template struct mayfly::RequireSerializable<std::vector<std::string>>;
#ifdef MAYFLY_EXPECT_COMPILE_ERROR
template struct mayfly::RequireSerializable<Opaque>;
#endif
