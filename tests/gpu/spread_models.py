"Random models of given shapes whose logits are spread as a trained model's are: with flat ones every canary passes."
import gc

import torch
from transformers import AutoModelForCausalLM

from adversarial_rl.learn.transcripts import Transcripts
from adversarial_rl.model.footprint import shaped_config
from adversarial_rl.model.policy import load_model, Policy
from adversarial_rl.model.rollout import sample

ENTROPY = .65   # Nats a token, the mean that logits are scaled to
PLAYERS = ('generator', 'discriminator')
TEXTS = ('Return the sum of xs.', 'Return n.', 'If a is above b return a, else the square of b.', 'Count the words.')


def entropy(logits):
    "Mean entropy in nats."
    logp = logits.log_softmax(-1)
    return -(logp.exp() * logp).sum(-1).mean().item()


@torch.no_grad()
def spread(model, ids):
    "Scale the last norm, in which logits are linear, until the mean entropy after these tokens is `ENTROPY`."
    logits, low, high = model(ids).logits.float(), 0., 1e4
    for _ in range(60):
        scale = (low + high) / 2
        low, high = (scale, high) if entropy(logits * scale) > ENTROPY else (low, scale)
    model.model.norm.weight.mul_(scale)
    return model


def random_model(size, device, dtype):
    "A Qwen2 of one of `SHAPES` with random weights, and the starter's tokenizer."
    _, tokenizer = load_model('starter')
    config = shaped_config(size)
    config.eos_token_id, config.pad_token_id = tokenizer.eos_token_id, tokenizer.pad_token_id
    torch.manual_seed(0)
    with torch.device(device): model = AutoModelForCausalLM.from_config(config, dtype=getattr(torch, dtype))
    return spread(model.eval(), torch.randint(5, 700, (4, 64), device=device)), tokenizer


def model_at(place, size, dtype):
    "The real model if one is named, else a random one."
    if place.real: return load_model(place.real, dtype, place.device)
    return random_model(place.shape(size), place.device, dtype)


def policy_at(place, size, dtype, rank=16):
    "A policy whose two adapters matter."
    policy = Policy(*model_at(place, size, dtype), PLAYERS, rank=rank)
    torch.manual_seed(1)
    with torch.no_grad():
        for name in PLAYERS:
            for n, p in policy.adapter(name).items():
                if 'lora_B' in n: p.copy_(torch.randn(p.shape) * (.02 if place.tiny else 3e-3))
    if not place.real: spread_own(policy)
    return policy


@torch.no_grad()
def spread_own(policy):
    "Scale the last norm further, until the mean entropy of what the generator itself writes is near `ENTROPY`."
    weight = policy.model.get_base_model().model.norm.weight
    start, low, high = weight.clone(), .1, 10.
    for _ in range(12):
        scale = (low * high)**.5
        weight.copy_(start * scale)
        t, _ = sampled(policy, policy.player('generator'))
        with policy.player('generator'): _, found, _ = policy.score('generator', t.ids, t.action)
        if abs(found.mean().item() - ENTROPY) < .15: return
        low, high = (scale, high) if found.mean() > ENTROPY else (low, scale)


def folder_of(place, size):
    "A folder that commands load the model from; the name of the real one if there is one."
    if place.real: return place.real
    folder = place.folder/place.shape(size)
    if not folder.exists():
        model, tokenizer = random_model(place.shape(size), place.device, 'float16')
        model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
        del model
        free(place)
    return str(folder)


def free(place):
    "Give back what is no longer used, and count the peak of memory from here."
    gc.collect()
    if place.tiny: return
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()


def sampled(policy, on, n=4, tokens=48, temperature=1., seed=0):
    "Transcripts of one stage, sampled inside the context `on`, and the group of each."
    pieces = [[policy.tokenizer(text)['input_ids']] for text in TEXTS]
    rng = torch.Generator(policy.device).manual_seed(seed)
    with on: t = sample(policy, pieces, n, tokens, temperature=temperature, generator=rng, stop='')
    return t, torch.arange(len(pieces), device=policy.device).repeat_interleave(n)


def ragged(policy, rows, prompt, longest):
    "Transcripts of random tokens with answers of 1 to `longest` tokens, most of them short, and the group of each."
    rng = torch.Generator().manual_seed(0)
    lengths = prompt + (torch.rand(rows, generator=rng)**2 * longest).long() + 1
    place = torch.arange(int(lengths.max()))
    mask = place < lengths[:, None]
    ids = torch.randint(5, 700, mask.shape, generator=rng) * mask
    zero = torch.zeros(mask.shape)
    t = Transcripts(ids, mask, zero.long(), mask & (place >= prompt), zero, torch.zeros(rows, 1, dtype=torch.bool),
                    [['']] * rows)
    return t.to(policy.device), (torch.arange(rows) // 4).to(policy.device)


def rewards(t):
    "A random reward of each transcript."
    return torch.rand(len(t), generator=torch.Generator().manual_seed(0)).to(t.ids.device)


def gradient(policy, name='generator'):
    "The adapter's gradient as one vector, on the CPU."
    return torch.cat([p.grad.flatten().float().cpu() for p in policy.adapter(name).values()])


def apart(x, y):
    "Distance of two vectors, relative to the second."
    return ((x - y).norm() / y.norm()).item()
