"Rollouts of any causal language model: stages, limits, stops, chat templates, tokens that are never encoded twice."
import weakref
from functools import partial

import pytest
import torch

from adversarial_rl.model.decoding import Decoder
from adversarial_rl.model.players import Discriminator, Generator
from adversarial_rl.model.policy import Policy
from adversarial_rl.model.rollout import sample
from adversarial_rl.problems.curriculum import starter_problems
from adversarial_rl.problems.stages import pieces, REASONING_STAGES, stages_named

CHATML = ("{% for m in messages %}<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<end>\n{% endfor %}"
          "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}")


@pytest.fixture
def chat_tokenizer(tokenizer):
    import copy
    chat = copy.deepcopy(tokenizer)
    chat.chat_template = CHATML
    return chat


def rng(seed=0): return torch.Generator().manual_seed(seed)


def always(model, token):
    "From now on the model is sure that the next token is what `token()` says."
    def predict(head, inputs, logits):
        return torch.full_like(logits, -1e9).index_fill_(-1, torch.tensor(token()), 0.)
    model.lm_head.register_forward_hook(predict)


def test_each_stage_has_its_own_limit(qwen, tokenizer):
    "A model that never ends a stage writes as many tokens as each stage may have."
    model = qwen()
    policy = Policy(model, tokenizer, ['generator', 'discriminator'], rank=4)
    always(model, lambda: tokenizer('x')['input_ids'][0])
    limits, problems = dict(plan=3, code=7, tests=5), starter_problems('held_out', 2)
    t = Generator(policy, stages_named(['plan', 'code']), limits).write(problems, 2, [1., 0.], rng())
    assert [[len(text) for text in row] for row in t.texts] == [[3, 7]] * 4 and t.truncated.all()
    assert len(Discriminator(policy, max_new_tokens=limits).write(problems[:1], 1, 0).texts[0][0]) == 5


def test_forced_text_is_the_prompt_to_the_token(qwen, chat_tokenizer):
    "Everything not chosen by the player is the template's text, in order; with a chat template too."
    policy = Policy(qwen(), chat_tokenizer, ['generator'], rank=4)
    problem = starter_problems('held_out', 1)[0]
    t = Generator(policy, max_new_tokens=5).write([problem], 1, 1., rng())
    expected = pieces(chat_tokenizer, problem, REASONING_STAGES)
    for k, piece in enumerate(expected):
        forced = t.ids[0][t.mask[0] & ~t.action[0] & (t.stage[0] == k)].tolist()
        given = chat_tokenizer(piece)['input_ids']
        assert forced in (given, given[1:]), k     # the end token need not be repeated when the player wrote it
    assert '<|im_start|>' in expected[1]


def test_the_end_token_is_not_repeated(qwen, chat_tokenizer):
    "A model that always ends its turn: the template's own end token is dropped."
    model = qwen()
    policy = Policy(model, chat_tokenizer, ['generator'], rank=4)
    problem, end = starter_problems('held_out', 1)[0], chat_tokenizer.eos_token_id
    always(model, lambda: end)
    t = Generator(policy, max_new_tokens=5).write([problem], 1, 1., rng())
    text = chat_tokenizer.decode(t.ids[0][t.mask[0]])
    assert text == ''.join(pieces(chat_tokenizer, problem, REASONING_STAGES)) + '<end>'
    assert not t.truncated.any()


def test_greedy_agrees_with_generate(qwen, tokenizer):
    "One stage, no temperature: the same tokens as Hugging Face's own loop, for openings of different length."
    model = qwen()
    policy = Policy(model, tokenizer, ['generator'], rank=4)
    openings = ['Return the sum of the numbers in xs.', 'Return n.']
    t = sample(policy, [[tokenizer(o)['input_ids']] for o in openings], 1, 12, temperature=0)
    for i, o in enumerate(openings):
        ids = tokenizer(o, return_tensors='pt')['input_ids']
        out = model.generate(ids, attention_mask=torch.ones_like(ids), max_new_tokens=12, do_sample=False)
        assert t.ids[i][t.mask[i]].tolist() == out[0].tolist()


def test_out_of_memory_samples_the_same_with_fewer_rows(qwen, tokenizer, monkeypatch, capsys):
    "Memory runs out while prompts are read, and in a later token; the failed cache is freed; next time fewer rows."
    policy = Policy(qwen(), tokenizer, ['generator'], rank=4)
    problems, feed, read, caches = starter_problems('held_out', 3), Decoder.feed, Decoder.read, []
    def write(heat): return Generator(policy, max_new_tokens=6).write(problems, 4, heat, rng())
    def tight(method, most):
        def limited(self, tokens, *rest):
            if method is read:
                assert not any(cache() for cache in caches)
                caches.append(weakref.ref(self))
            logits = method(self, tokens, *rest)
            if len(logits) > most: raise RuntimeError('CUDA error: CUBLAS_STATUS_ALLOC_FAILED')
            return logits
        return limited
    whole = {heat: write(heat) for heat in (1., 0.)}
    monkeypatch.setattr(Decoder, 'feed', tight(feed, 3))
    monkeypatch.setattr(Decoder, 'read', tight(read, 2))
    for heat, message in ((1., 'out of memory: sampling continues with transcripts side by side: 6\n'
                               'out of memory: sampling continues with transcripts side by side: 3\n'), (0., '')):
        caches.clear()
        t = write(heat)
        assert t.texts == whole[heat].texts and torch.equal(t.ids, whole[heat].ids)
        torch.testing.assert_close(t.logp, whole[heat].logp)
        assert torch.equal(t.truncated, whole[heat].truncated) and capsys.readouterr().err == message
    monkeypatch.setattr(Decoder, 'read', tight(read, 0))
    with pytest.raises(RuntimeError, match='CUBLAS'): write(1.)


def test_a_base_model_that_runs_into_the_next_title_is_stopped(qwen, tokenizer):
    model = qwen()
    policy = Policy(model, tokenizer, ['generator'], rank=4)
    script = tokenizer('x\n##')['input_ids'] + tokenizer('#')['input_ids'] + tokenizer('xxxx')['input_ids'] * 9
    opening = tokenizer('Return n.')['input_ids']
    always(model, partial(next, iter(script)))
    t = sample(policy, [[opening]], 1, 30, generator=rng())
    assert t.texts == [['x']] and not t.truncated.any()


@pytest.mark.parametrize('dtype', [torch.float16, torch.bfloat16])
def test_half_precision_samples_with_the_adapter_merged_only_where_that_is_fine_enough(qwen, tokenizer, dtype):
    "In float16 into a copy; bfloat16 would round the adapter away. The trainer's weights come back as they were."
    policy = Policy(qwen().to(dtype), tokenizer, ['generator'], rank=4)
    torch.manual_seed(0)
    with torch.no_grad():
        for p in policy.adapter('generator').values(): p.normal_(0, .05)
    layers = [m for m in policy.model.modules() if hasattr(m, 'get_delta_weight')]
    weights = [m.get_base_layer().weight for m in layers]
    before, places = [w.clone() for w in weights], [w.data_ptr() for w in weights]
    ids = torch.randint(100, 600, (2, 20))
    with torch.no_grad():
        with policy.player('generator'): learning = policy.hidden(ids)
        with policy.sampling('generator'):
            merged = all(m.disable_adapters for m in layers)
            sampling = policy.hidden(ids)
        with policy.reference(): base = policy.hidden(ids)
    assert merged == (dtype == torch.float16)
    assert (learning - sampling).abs().mean() < .05 * (learning - base).abs().mean()
    assert places == [w.data_ptr() for w in weights] and all(map(torch.equal, weights, before))
