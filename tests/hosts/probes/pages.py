"""Pages as real servers send them, shortened, with the numbers left to fill in."""

import json

VLLM = """\
# HELP process_resident_memory_bytes Resident memory size in bytes.
# TYPE process_resident_memory_bytes gauge
process_resident_memory_bytes 1.048576e+09
# HELP vllm:num_requests_running Number of requests in model execution batches.
# TYPE vllm:num_requests_running gauge
vllm:num_requests_running{{engine="0",model_name="granite"}} {running}
# HELP vllm:num_requests_waiting Number of requests waiting to be processed.
# TYPE vllm:num_requests_waiting gauge
vllm:num_requests_waiting{{engine="0",model_name="granite"}} {waiting}
# HELP vllm:{kv_name} KV-cache usage. 1 means 100 percent usage.
# TYPE vllm:{kv_name} gauge
vllm:{kv_name}{{engine="0",model_name="granite"}} {kv_use}
# HELP vllm:num_preemptions_total Cumulative number of preemption from the engine.
# TYPE vllm:num_preemptions_total counter
vllm:num_preemptions_total{{engine="0",model_name="granite"}} {preemptions}
# HELP vllm:num_preemptions_created Cumulative number of preemption from the engine.
# TYPE vllm:num_preemptions_created gauge
vllm:num_preemptions_created{{engine="0",model_name="granite"}} 1.7537953269352946e+09
# HELP vllm:time_to_first_token_seconds Histogram of time to first token in seconds.
# TYPE vllm:time_to_first_token_seconds histogram
vllm:time_to_first_token_seconds_bucket{{engine="0",le="0.001",model_name="granite"}} 0.0
vllm:time_to_first_token_seconds_bucket{{engine="0",le="+Inf",model_name="granite"}} 3.0
vllm:time_to_first_token_seconds_count{{engine="0",model_name="granite"}} 3.0
vllm:time_to_first_token_seconds_sum{{engine="0",model_name="granite"}} 0.41
"""

LLAMACPP = """\
# HELP llamacpp:prompt_tokens_total Number of prompt tokens processed, excluding cached tokens
# TYPE llamacpp:prompt_tokens_total counter
llamacpp:prompt_tokens_total 133
# HELP llamacpp:requests_processing Number of requests processing
# TYPE llamacpp:requests_processing gauge
llamacpp:requests_processing {running}
# HELP llamacpp:requests_deferred Number of requests deferred
# TYPE llamacpp:requests_deferred gauge
llamacpp:requests_deferred {waiting}
"""


def vllm_page(
    running: object = 8.0,
    waiting: object = 2.0,
    kv_use: object = 0.81,
    preemptions: object = 7.0,
    kv_name: str = "kv_cache_usage_perc",
) -> bytes:
    return VLLM.format(
        running=running, waiting=waiting, kv_use=kv_use, preemptions=preemptions, kv_name=kv_name
    ).encode()


def llamacpp_page(running: object = 4, waiting: object = 3) -> bytes:
    return LLAMACPP.format(running=running, waiting=waiting).encode()


def slots_page(busy: int, slots: int) -> bytes:
    return json.dumps(
        [{"id": n, "n_ctx": 2048, "speculative": False, "is_processing": n < busy} for n in range(slots)]
    ).encode()


def ollama_page(size: object = 6_654_289_920, size_vram: object = 5_333_539_264) -> bytes:
    return json.dumps(
        {
            "models": [
                {
                    "name": "granite-code:8b",
                    "model": "granite-code:8b",
                    "size": size,
                    "digest": "36893bf9bc7ff7ace56557cd28784f35f834290c85d39115c6b91c00a031cfad",
                    "details": {"format": "gguf", "family": "llama", "quantization_level": "Q4_0"},
                    "expires_at": "2026-06-04T14:38:31.83753-07:00",
                    "size_vram": size_vram,
                    "context_length": 4096,
                }
            ]
        }
    ).encode()
