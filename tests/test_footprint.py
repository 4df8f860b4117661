"The estimate of memory beside what the backward pass of a real layer stores."
import copy

import pytest
import torch
from transformers import Qwen2ForCausalLM
from transformers.initialization import no_init_weights

from adversarial_rl.model.footprint import _learning_bytes, _model_shape, shaped_config
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
        shape = _model_shape(shaped_config(size))
        return _learning_bytes(type(shape)(**vars(shape) | dict(layers=layers)), TOKENS, dtype.itemsize, False)
    print(f'| {size} | {dtype} | {(estimate(2) - estimate(1)) / 1e6:.1f} | {measured / 1e6:.1f} |')
    assert estimate(2) - estimate(1) == pytest.approx(measured, rel=.1)


def learnt(policy, weights):
    "Loss and gradient of an update whose adapters hold these weights."
    rng = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for p, x in zip(policy.adapter('generator').values(), weights): p.copy_(x)
    ids, action = torch.randint(5, 1000, (2, TOKENS), generator=rng), torch.ones(2, TOKENS, dtype=torch.bool)
    with policy.player('generator'): logp, *_ = policy.score('generator', ids, action)
    loss = (logp * torch.randn(len(logp), generator=rng)).mean()
    policy.model.zero_grad()
    (loss * 1024).backward()   # As `LossScale` does
    return loss.item(), torch.cat([p.grad.flatten().float() / 1024 for p in policy.adapter('generator').values()])


def as_peft_does(policy):
    "Multiply adapters in float32 from here on."
    for m in policy.model.modules():
        if not hasattr(m, 'lora_A'): continue
        m.cast_input_dtype_enabled = True
        for matrix in (*m.lora_A.values(), *m.lora_B.values()): matrix.__class__ = torch.nn.Linear


@pytest.mark.slow
@pytest.mark.parametrize('dtype', [torch.float16, torch.bfloat16])
def test_products_in_the_bases_type_are_as_near_to_float32_as_those_in_float32(dtype, tokenizer):
    "Loss and gradient; what they are apart from those of a base in float32 is the base's rounding."
    torch.manual_seed(0)
    base = shaped('0.5B', 3).to(dtype)
    whole = Policy(copy.deepcopy(base).float(), tokenizer, ['generator'])
    half, adapter = Policy(base, tokenizer, ['generator']), list(whole.adapter('generator').values())
    weights = [torch.randn(p.shape) * (.01 if p.shape[1] == 16 else p.shape[1]**-.5) for p in adapter]
    loss, gradient = learnt(whole, weights)
    def apart(x, g): return abs(x - loss), ((g - gradient).norm() / gradient.norm()).item()
    ours = apart(*learnt(half, weights))
    as_peft_does(half)
    pefts = apart(*learnt(half, weights))
    print(f'| {dtype} | {loss:.4f} | {ours[0]:.5f} | {pefts[0]:.5f} | {ours[1]:.4f} | {pefts[1]:.4f} |')
    assert ours[1] < 1.5 * pefts[1] and ours[1] < .1
    assert ours[0] < 3 * pefts[0] + .01 * abs(loss)
