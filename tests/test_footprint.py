"The estimate of memory beside what the backward pass of a real layer stores."

import pytest
import torch
from transformers import Qwen2ForCausalLM
from transformers.initialization import no_init_weights

from adversarial_rl.model.footprint import _learning_bytes, shaped_config
from adversarial_rl.model.policy import Policy

TOKENS = 128


def shaped(size, layers):
    "A model of this size with fewer layers and words."
    config = shaped_config(size)
    config.num_hidden_layers, config.vocab_size, config.layer_types = layers, 1024, config.layer_types[:layers]
    return Qwen2ForCausalLM(config).eval()


def stored(size, layers, dtype, tokenizer):
    "Bytes that autograd keeps for one sequence, each storage once, without parameters."
    with no_init_weights(): model = shaped(size, layers).to(dtype)
    policy, kept = Policy(model, tokenizer, ['generator']), {}
    own = {p.untyped_storage().data_ptr() for p in [*policy.model.parameters(), *policy.heads.parameters()]}
    def keep(x):
        storage = x.untyped_storage()
        if storage.data_ptr() not in own: kept[storage.data_ptr()] = storage   # Held, so that no address comes again
        return x
    real = torch.ones(1, TOKENS, dtype=torch.bool)
    with policy.player('generator'), torch.autograd.graph.saved_tensors_hooks(keep, lambda x: x):
        scores = policy.score('generator', torch.zeros(1, TOKENS, dtype=torch.long), real)
    del scores
    return sum(storage.nbytes() for storage in kept.values())


@pytest.mark.parametrize('dtype', [torch.float16, torch.bfloat16, torch.float32])
@pytest.mark.parametrize('size', ['0.5B', '1.5B'])
def test_activations_are_within_a_tenth_of_the_estimate(size, dtype, tokenizer):
    "A layer's: its adapters keep no copies of their inputs in float32."
    measured = stored(size, 2, dtype, tokenizer) - stored(size, 1, dtype, tokenizer)
    def estimate(layers):
        config = shaped_config(size)
        config.num_hidden_layers = layers
        return _learning_bytes(config, TOKENS, dtype.itemsize, False)
    print(f'| {size} | {dtype} | {(estimate(2) - estimate(1)) / 1e6:.1f} | {measured / 1e6:.1f} |')
    assert estimate(2) - estimate(1) == pytest.approx(measured, rel=.1)
