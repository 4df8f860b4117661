"Layers computed here, and steps of fixed shapes: the tokens of the general decoder, and steps that can be recorded."
from functools import partial

import pytest
import torch
from transformers import LlamaConfig, LlamaForCausalLM, MistralConfig, MistralForCausalLM, Qwen2Config, Qwen2ForCausalLM

from adversarial_rl.model import rollout
from adversarial_rl.model.decoding import Decoder
from adversarial_rl.model.layers import _Cached, has_known_layers, LayerDecoder
from adversarial_rl.model.players import Generator
from adversarial_rl.model.policy import load_model, Policy
from adversarial_rl.model.rollout import sample
from adversarial_rl.model.static_step import fastest_decoder, StaticDecoder
from adversarial_rl.problems.curriculum import starter_problems

SIZES = dict(hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2)
LLAMA3 = dict(rope_type='llama3', factor=8., low_freq_factor=1., high_freq_factor=4., rope_theta=1e4,
              original_max_position_embeddings=64)
KINDS = {'qwen2': (Qwen2Config, Qwen2ForCausalLM, dict(tie_word_embeddings=True)),
         'llama': (LlamaConfig, LlamaForCausalLM, dict(rope_parameters=LLAMA3, attention_bias=True)),
         'mistral': (MistralConfig, MistralForCausalLM, dict(sliding_window=16))}


def policy_of(kind, tokenizer, dtype=torch.float32):
    "A policy of toy size with an adapter that matters."
    torch.manual_seed(0)
    if kind == 'starter': model = load_model('starter')[0]
    else:
        config, model, more = KINDS[kind]
        model = model(config(vocab_size=len(tokenizer), eos_token_id=tokenizer.eos_token_id, **SIZES, **more))
    policy = Policy(model.to(dtype).eval(), tokenizer, ['generator'], rank=4)
    with torch.no_grad():
        for p in policy.adapter('generator').values(): p.normal_(0, .05)
    return policy


def places(decoder):
    "Where a step's tensors are."
    return [x.data_ptr() for x in (decoder.inputs, *(x for layer in decoder.cache.layers for x in layer))]


class Recorder:
    "Records as a GPU does: a replay reads and writes the very same tensors, and its result is overwritten by the next."
    def __init__(self): self.decoders, self.recordings, self.replays = [], 0, 0

    def decoder(self, policy):
        self.decoders.append(StaticDecoder(policy, self.record))
        return self.decoders[-1]

    def record(self, step):
        at, out = places(self.decoders[-1]), torch.full_like(step(), torch.nan)
        self.recordings += 1
        def replay():
            assert places(self.decoders[-1]) == at
            self.replays += 1
            return out.copy_(step())
        return replay


def both(monkeypatch, decoder, write):
    "What is written with the general decoder and with another one."
    monkeypatch.setattr(rollout, 'fastest_decoder', Decoder)
    usual = write()
    monkeypatch.setattr(rollout, 'fastest_decoder', decoder)
    return usual, write()


def same(usual, other):
    assert torch.equal(usual.ids, other.ids) and torch.equal(usual.action, other.action)
    assert torch.equal(usual.truncated, other.truncated) and usual.texts == other.texts
    torch.testing.assert_close(usual.logp, other.logp, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize('temperature', [1., 0., [0, 1., 0, 0, 0], [1., 0, 0, .5, 0]])
@pytest.mark.parametrize('kind', ['starter', 'qwen2', 'llama'])
def test_the_tokens_of_the_general_decoder(kind, tokenizer, monkeypatch, temperature):
    "Prompts of several lengths, five stages with forced texts and limits of their own, rows that split and merge."
    policy, recorder = policy_of(kind, tokenizer), Recorder()
    def write():
        player = Generator(policy, max_new_tokens=40 if kind == 'starter' else 9)
        return player.write(starter_problems('held_out', 5), 3, temperature, torch.Generator().manual_seed(2))
    monkeypatch.setattr(StaticDecoder, 'ROOM', 24)   # Used up several times
    monkeypatch.setattr(_Cached, 'ROOM', 5)
    same(*both(monkeypatch, recorder.decoder, write))
    same(*both(monkeypatch, LayerDecoder, write))
    assert temperature == 0 or recorder.replays > 2 and recorder.recordings


@pytest.mark.parametrize('how', [dict(stop='a'), dict(top_p=.7), dict(temperature=[.7, 0.])])
@pytest.mark.parametrize('make', [partial(StaticDecoder, record=None), LayerDecoder])
def test_stops_limits_and_rows_that_end_early(tokenizer, monkeypatch, make, how):
    "Rows end at different times and are dropped; a row alone goes on."
    policy, steps = policy_of('qwen2', tokenizer), []
    texts = [['Return the sum of xs.', '\n### Code\n'], ['n', '\n'], ['Return n, or the square of n.', '\n### Notes']]
    pieces = [[tokenizer(text)['input_ids'] for text in row] for row in texts]
    def decoder(policy):
        made = make(policy)
        feed = made.feed
        made.feed = lambda tokens: steps.append(len(tokens)) or feed(tokens)
        return made
    def write():
        with policy.sampling('generator'):
            return sample(policy, pieces, 4, [30, 60], generator=torch.Generator().manual_seed(0), **how)
    same(*both(monkeypatch, decoder, write))
    assert 'stop' not in how or len(set(steps)) > 1


def test_where_adapters_cannot_be_merged_they_are_applied(tokenizer, monkeypatch):
    policy = policy_of('qwen2', tokenizer, torch.bfloat16)
    def logits(decoder):
        with torch.no_grad(), policy.sampling('generator'): yield decoder(policy).read([[100, 200, 300], [400]])
        with torch.no_grad(), policy.reference(): yield decoder(policy).read([[100, 200, 300], [400]])
    (usual, base), (static, static_base) = logits(Decoder), logits(lambda policy: StaticDecoder(policy, None))
    assert (usual - static).abs().max() < .1 * (usual - base).abs().max()
    torch.testing.assert_close(base, static_base, atol=.02, rtol=.02)


def test_other_models_and_number_types_go_the_general_way(tokenizer):
    qwen2, mistral = policy_of('qwen2', tokenizer), policy_of('mistral', tokenizer)
    assert has_known_layers(qwen2.model) and not has_known_layers(mistral.model)
    assert isinstance(fastest_decoder(qwen2), LayerDecoder) and isinstance(fastest_decoder(mistral), Decoder)
    assert isinstance(fastest_decoder(policy_of('qwen2', tokenizer, torch.bfloat16)), Decoder)
    mistral.device = qwen2.device = torch.device('cuda')
    assert isinstance(fastest_decoder(qwen2), StaticDecoder) and isinstance(fastest_decoder(mistral), Decoder)
    windowed = Qwen2Config(vocab_size=9, **SIZES, use_sliding_window=True, sliding_window=4, max_window_layers=0)
    dynamic = Qwen2Config(vocab_size=9, **SIZES, rope_parameters=dict(rope_type='dynamic', factor=2., rope_theta=1e4))
    assert not any(has_known_layers(Qwen2ForCausalLM(config)) for config in (windowed, dynamic))


def test_a_step_that_cannot_be_recorded_costs_speed_alone(tokenizer, monkeypatch, capsys):
    "Except where memory ran out, which halves the rows."
    policy, why = policy_of('qwen2', tokenizer), ['operation not permitted when stream is capturing']
    def fails(step): raise RuntimeError(why[0])
    def write():
        player = Generator(policy, max_new_tokens=9)
        return player.write(starter_problems('held_out', 2), 4, 1., torch.Generator().manual_seed(2))
    same(*both(monkeypatch, lambda policy: StaticDecoder(policy, fails), write))
    assert capsys.readouterr().err.count('not permitted') == 1
    why[0] = 'CUDA out of memory'
    with pytest.raises(RuntimeError, match='out of memory'): write()
