// The layouts and numbers of src/sdk/abi.rs and src/sdk/gpu_abi.rs, asserted against AMD's headers.
// Compiled, and never run, wherever rocprofiler-sdk's headers are found: by tests/headers.rs, or by
// hand:
//
//   cc -std=c11 -fsyntax-only -D__HIP_PLATFORM_AMD__ -I$ROCM_PATH/include rocm-tracer/cc/layout_assertions.c

#include <stddef.h>

#include <rocprofiler-sdk/agent.h>
#include <rocprofiler-sdk/buffer.h>
#include <rocprofiler-sdk/buffer_tracing.h>
#include <rocprofiler-sdk/callback_tracing.h>
#include <rocprofiler-sdk/context.h>
#include <rocprofiler-sdk/external_correlation.h>
#include <rocprofiler-sdk/fwd.h>
#include <rocprofiler-sdk/intercept_table.h>
#include <rocprofiler-sdk/internal_threading.h>
#include <rocprofiler-sdk/marker.h>
#include <rocprofiler-sdk/registration.h>
#include <rocprofiler-sdk/rocprofiler.h>
#include <rocprofiler-sdk/version.h>

#define SIZE(type, size) _Static_assert(sizeof(type) == (size), #type)
#define AT_LEAST(type, size) _Static_assert(sizeof(type) >= (size), #type)
#define AT(type, field, offset) _Static_assert(offsetof(type, field) == (offset), #type "." #field)
#define IS(name, value) _Static_assert((name) == (value), #name)

#define NEW_LAYOUT (ROCPROFILER_VERSION_MAJOR >= 1)
#define CORRELATION (NEW_LAYOUT ? 24 : 16)

// Configuration.
SIZE(rocprofiler_tool_configure_result_t, 32);
AT(rocprofiler_tool_configure_result_t, initialize, 8);
AT(rocprofiler_tool_configure_result_t, finalize, 16);
AT(rocprofiler_tool_configure_result_t, tool_data, 24);
SIZE(rocprofiler_context_id_t, 8);
SIZE(rocprofiler_buffer_id_t, 8);
SIZE(rocprofiler_callback_thread_t, 8);
SIZE(rocprofiler_user_data_t, 8);
SIZE(rocprofiler_status_t, 4);
SIZE(rocprofiler_tracing_operation_t, 4);

// Callback records.
SIZE(rocprofiler_correlation_id_t, CORRELATION);
AT(rocprofiler_correlation_id_t, internal, 0);
AT(rocprofiler_callback_tracing_record_t, context_id, 0);
AT(rocprofiler_callback_tracing_record_t, thread_id, 8);
AT(rocprofiler_callback_tracing_record_t, correlation_id, 16);
AT(rocprofiler_callback_tracing_record_t, kind, 16 + CORRELATION);
AT(rocprofiler_callback_tracing_record_t, operation, 20 + CORRELATION);
AT(rocprofiler_callback_tracing_record_t, phase, 24 + CORRELATION);
AT(rocprofiler_callback_tracing_record_t, payload, 32 + CORRELATION);
SIZE(rocprofiler_callback_tracing_record_t, 40 + CORRELATION);
SIZE(rocprofiler_callback_tracing_marker_api_data_t, 32);
AT(rocprofiler_callback_tracing_marker_api_data_t, args, 8);
AT(rocprofiler_callback_tracing_marker_api_data_t, retval, 24);
AT(rocprofiler_callback_tracing_code_object_kernel_symbol_register_data_t, kernel_id, 8);
AT(rocprofiler_callback_tracing_code_object_kernel_symbol_register_data_t, kernel_name, 24);
IS(ROCPROFILER_CALLBACK_PHASE_ENTER, 1);
IS(ROCPROFILER_CALLBACK_PHASE_EXIT, 2);
IS(ROCPROFILER_CALLBACK_TRACING_HIP_RUNTIME_API, 5);
IS(ROCPROFILER_CALLBACK_TRACING_MARKER_CORE_API, 7);
IS(ROCPROFILER_CALLBACK_TRACING_MARKER_CONTROL_API, 8);
IS(ROCPROFILER_CALLBACK_TRACING_MARKER_NAME_API, 9);
IS(ROCPROFILER_CALLBACK_TRACING_CODE_OBJECT, 10);
IS(ROCPROFILER_CODE_OBJECT_DEVICE_KERNEL_SYMBOL_REGISTER, 2);
#if NEW_LAYOUT
IS(ROCPROFILER_CALLBACK_TRACING_HIP_STREAM, 20);
IS(ROCPROFILER_HIP_STREAM_SET, 3);
SIZE(rocprofiler_callback_tracing_hip_stream_data_t, 24);
AT(rocprofiler_callback_tracing_hip_stream_data_t, stream_id, 8);
AT(rocprofiler_callback_tracing_hip_stream_data_t, stream_value, 16);
#endif

// Markers.
IS(ROCPROFILER_MARKER_CORE_TABLE, 8);
IS(ROCPROFILER_MARKER_CONTROL_TABLE, 16);
IS(ROCPROFILER_MARKER_NAME_TABLE, 32);
IS(ROCPROFILER_MARKER_CORE_API_ID_roctxMarkA, 0);
IS(ROCPROFILER_MARKER_CORE_API_ID_roctxRangePushA, 1);
IS(ROCPROFILER_MARKER_CORE_API_ID_roctxRangePop, 2);
IS(ROCPROFILER_MARKER_CORE_API_ID_roctxRangeStartA, 3);
IS(ROCPROFILER_MARKER_CORE_API_ID_roctxRangeStop, 4);
IS(ROCPROFILER_MARKER_CONTROL_API_ID_roctxProfilerPause, 0);
IS(ROCPROFILER_MARKER_CONTROL_API_ID_roctxProfilerResume, 1);
IS(ROCPROFILER_MARKER_NAME_API_ID_roctxNameOsThread, 0);
IS(ROCPROFILER_MARKER_NAME_API_ID_roctxNameHipDevice, 2);
IS(ROCPROFILER_MARKER_NAME_API_ID_roctxNameHipStream, 3);

// Buffered records.
SIZE(rocprofiler_record_header_t, 16);
AT(rocprofiler_record_header_t, category, 0);
AT(rocprofiler_record_header_t, kind, 4);
AT(rocprofiler_record_header_t, payload, 8);
IS(ROCPROFILER_BUFFER_CATEGORY_TRACING, 1);
IS(ROCPROFILER_BUFFER_POLICY_LOSSLESS, 2);
IS(ROCPROFILER_BUFFER_TRACING_HIP_RUNTIME_API, 5);
IS(ROCPROFILER_BUFFER_TRACING_MEMORY_COPY, 10);
IS(ROCPROFILER_BUFFER_TRACING_KERNEL_DISPATCH, 11);
IS(ROCPROFILER_EXTERNAL_CORRELATION_REQUEST_MEMORY_COPY, 10);
IS(ROCPROFILER_EXTERNAL_CORRELATION_REQUEST_KERNEL_DISPATCH, 11);

SIZE(rocprofiler_buffer_tracing_hip_api_record_t, 40 + CORRELATION);
AT(rocprofiler_buffer_tracing_hip_api_record_t, kind, 8);
AT(rocprofiler_buffer_tracing_hip_api_record_t, operation, 12);
AT(rocprofiler_buffer_tracing_hip_api_record_t, correlation_id, 16);
AT(rocprofiler_buffer_tracing_hip_api_record_t, start_timestamp, 16 + CORRELATION);
AT(rocprofiler_buffer_tracing_hip_api_record_t, end_timestamp, 24 + CORRELATION);
AT(rocprofiler_buffer_tracing_hip_api_record_t, thread_id, 32 + CORRELATION);

AT_LEAST(rocprofiler_buffer_tracing_memory_copy_record_t, 80);
AT(rocprofiler_buffer_tracing_memory_copy_record_t, operation, 12);
AT(rocprofiler_buffer_tracing_memory_copy_record_t, correlation_id, 16);
AT(rocprofiler_buffer_tracing_memory_copy_record_t, correlation_id.external, 24);
AT(rocprofiler_buffer_tracing_memory_copy_record_t, thread_id, 32);
AT(rocprofiler_buffer_tracing_memory_copy_record_t, start_timestamp, 40);
AT(rocprofiler_buffer_tracing_memory_copy_record_t, end_timestamp, 48);
AT(rocprofiler_buffer_tracing_memory_copy_record_t, dst_agent_id, 56);
AT(rocprofiler_buffer_tracing_memory_copy_record_t, src_agent_id, 64);
AT(rocprofiler_buffer_tracing_memory_copy_record_t, bytes, 72);
IS(ROCPROFILER_MEMORY_COPY_HOST_TO_DEVICE, 2);
IS(ROCPROFILER_MEMORY_COPY_DEVICE_TO_HOST, 3);
IS(ROCPROFILER_MEMORY_COPY_DEVICE_TO_DEVICE, 4);

AT_LEAST(rocprofiler_buffer_tracing_kernel_dispatch_record_t, 128);
AT(rocprofiler_buffer_tracing_kernel_dispatch_record_t, correlation_id, 16);
AT(rocprofiler_buffer_tracing_kernel_dispatch_record_t, correlation_id.external, 24);
AT(rocprofiler_buffer_tracing_kernel_dispatch_record_t, thread_id, 32);
AT(rocprofiler_buffer_tracing_kernel_dispatch_record_t, start_timestamp, 40);
AT(rocprofiler_buffer_tracing_kernel_dispatch_record_t, end_timestamp, 48);
AT(rocprofiler_buffer_tracing_kernel_dispatch_record_t, dispatch_info, 56);
AT(rocprofiler_kernel_dispatch_info_t, agent_id, 8);
AT(rocprofiler_kernel_dispatch_info_t, queue_id, 16);
AT(rocprofiler_kernel_dispatch_info_t, kernel_id, 24);
AT(rocprofiler_kernel_dispatch_info_t, dispatch_id, 32);
AT(rocprofiler_kernel_dispatch_info_t, private_segment_size, 40);
AT(rocprofiler_kernel_dispatch_info_t, group_segment_size, 44);
AT(rocprofiler_kernel_dispatch_info_t, workgroup_size, 48);
AT(rocprofiler_kernel_dispatch_info_t, grid_size, 60);

// Agents.
AT_LEAST(rocprofiler_agent_v0_t, 272);
AT(rocprofiler_agent_v0_t, id, 8);
AT(rocprofiler_agent_v0_t, type, 16);
AT(rocprofiler_agent_v0_t, mem_banks_count, 28);
AT(rocprofiler_agent_v0_t, cu_count, 72);
AT(rocprofiler_agent_v0_t, gfx_target_version, 100);
AT(rocprofiler_agent_v0_t, max_engine_clk_fcompute, 140);
AT(rocprofiler_agent_v0_t, mem_banks, 224);
AT(rocprofiler_agent_v0_t, name, 248);
AT(rocprofiler_agent_v0_t, product_name, 264);
SIZE(rocprofiler_agent_mem_bank_t, 24);
AT(rocprofiler_agent_mem_bank_t, heap_type, 0);
AT(rocprofiler_agent_mem_bank_t, width, 8);
AT(rocprofiler_agent_mem_bank_t, mem_clk_max, 12);
AT(rocprofiler_agent_mem_bank_t, size_in_bytes, 16);
IS(ROCPROFILER_AGENT_INFO_VERSION_0, 1);
IS(ROCPROFILER_AGENT_TYPE_GPU, 2);
IS(HSA_HEAPTYPE_FRAME_BUFFER_PUBLIC, 1);
IS(HSA_HEAPTYPE_FRAME_BUFFER_PRIVATE, 2);

// Functions: a call with the types of src/sdk compiles.
typedef rocprofiler_status_t status;
static status (*const force_configure)(rocprofiler_configure_func_t) = rocprofiler_force_configure;
static status (*const create_context)(rocprofiler_context_id_t*) = rocprofiler_create_context;
static status (*const create_buffer)(rocprofiler_context_id_t, size_t, size_t, rocprofiler_buffer_policy_t,
                                     rocprofiler_buffer_tracing_cb_t, void*,
                                     rocprofiler_buffer_id_t*) = rocprofiler_create_buffer;
static status (*const flush_buffer)(rocprofiler_buffer_id_t) = rocprofiler_flush_buffer;
static status (*const query_agents)(rocprofiler_agent_version_t, rocprofiler_query_available_agents_cb_t,
                                    size_t, void*) = rocprofiler_query_available_agents;
static status (*const operation_name)(rocprofiler_buffer_tracing_kind_t, rocprofiler_tracing_operation_t,
                                      const char**,
                                      uint64_t*) = rocprofiler_query_buffer_tracing_kind_operation_name;
static const char* (*const status_name)(rocprofiler_status_t) = rocprofiler_get_status_name;
