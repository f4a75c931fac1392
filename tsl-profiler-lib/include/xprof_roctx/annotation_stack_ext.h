// What this project adds to TSL's AnnotationStack.
#ifndef XPROF_ROCTX_ANNOTATION_STACK_EXT_H_
#define XPROF_ROCTX_ANNOTATION_STACK_EXT_H_

#include "absl/strings/string_view.h"

namespace xprof_roctx {

// Puts another text in the place of this thread's last label; its scope range id stays. On an empty
// stack, does nothing.
void ReplaceLastAnnotation(absl::string_view name);

}  // namespace xprof_roctx

#endif  // XPROF_ROCTX_ANNOTATION_STACK_EXT_H_
