"Each GPU and each host, simulated; a model from ./model_cache; the printed table."
import shutil
from dataclasses import replace
from types import SimpleNamespace

import pytest
import torch

from adversarial_rl.core.errors import UsageError
from adversarial_rl.core.files import resource
from adversarial_rl.core.machine import (
    config_file,
    decide,
    detect_platform_and_gpu,
    host,
    Platform,
    platform,
    why_offline,
)
from adversarial_rl.grpo.settings import grpo_arguments, VLLMSettings
from adversarial_rl.model.policy import load_model

TORCH_215 = ['sm_75', 'sm_80', 'sm_86', 'sm_90', 'sm_100', 'sm_120']
CUDA_126 = ['sm_50', 'sm_60', 'sm_70', 'sm_75', 'sm_80', 'sm_86', 'sm_90']
GPUS = [  # Name, compute capability, GiB, base model, configuration
    ('Tesla T4', (7, 5), 14.6, '1.5B', 't4'),
    ('Tesla P100-PCIE-16GB', (6, 0), 15.9, '1.5B', 'p100_v100'),
    ('Tesla V100-SXM2-16GB', (7, 0), 15.8, '1.5B', 'p100_v100'),
    ('Tesla V100-SXM2-32GB', (7, 0), 31.7, '1.5B', 'p100_v100'),
    ('NVIDIA A100-SXM4-40GB', (8, 0), 39.4, '3B', 'a100'),
    ('NVIDIA A100-SXM4-80GB', (8, 0), 79.2, '3B', 'a100'),
    ('NVIDIA H100 80GB HBM3', (9, 0), 79.1, '7B', 'h100'),
    ('NVIDIA H200', (9, 0), 139.8, '7B', 'h100'),
    ('NVIDIA L4', (8, 9), 22.0, '1.5B', '24gb'),
    ('NVIDIA GeForce RTX 4090', (8, 9), 23.5, '1.5B', '24gb'),
]
GRIDSAN = dict(SLURM_JOB_ID='7', HOME='/home/gridsan/me')
PLACES = [  # Host, environment, whether it is offline although the hub can be reached
    ('colab', dict(COLAB_RELEASE_TAG='release-colab'), False),
    ('kaggle', dict(KAGGLE_KERNEL_RUN_TYPE='Interactive', COLAB_RELEASE_TAG='release-colab'), False),
    ('lightning', dict(LIGHTNING_CLOUDSPACE_HOST='x.cloudspaces.litng.ai'), False),
    ('slurm', dict(SLURM_JOB_ID='7'), False),
    ('supercloud', dict(SLURM_JOB_ID='7', SLURM_CLUSTER_NAME='txe1'), True), ('supercloud', GRIDSAN, True),
    ('supercloud', dict(HOME='/home/gridsan/me'), False),
    ('supercloud', GRIDSAN | dict(SLURM_JOB_PARTITION='download'), False),
    ('local', dict(HF_HUB_OFFLINE='1'), True), ('local', {}, False),
]


@pytest.fixture
def gpu(monkeypatch):
    "Let torch.cuda report a GPU that is not there."
    def simulate(name, capability, memory, archs):
        properties = SimpleNamespace(name=name, total_memory=int(memory * 2**30))
        reported = dict(is_available=lambda: True, device_count=lambda: 1, current_device=lambda: 0,
                        get_device_capability=lambda i=None: capability, get_arch_list=lambda: archs,
                        get_device_properties=lambda i: properties, is_bf16_supported=lambda *a, **k: True)
        for k, v in reported.items(): monkeypatch.setattr(torch.cuda, k, v)
    return simulate


def decisions(p, env={}, reached=True): return {d.name: d for d in decide(p, env, lambda url: reached)}


@pytest.mark.parametrize('name, capability, memory, size, file', GPUS)
def test_each_gpu(gpu, name, capability, memory, size, file):
    gpu(name, capability, memory, CUDA_126)
    p = platform()
    assert (p.device, p.name, p.dtype, p.capability) == ('cuda', name, 'float16', capability)
    d = decisions(p)
    assert d['generator_model'].value == f'Qwen/Qwen2.5-Coder-{size}-Instruct'
    assert d['configuration'].value == f'--config configs/{file}.yaml'
    assert resource(config_file(p)).exists() and all(x.reason and '\n' not in x.reason for x in d.values())


def trl_arguments(tmp_path, **given):
    p = replace(Platform('cuda', 'a GPU', 'float16', 4, 16., 'local', (8, 0)), **given)
    return grpo_arguments(dict(num_generations=2, per_device_train_batch_size=2), VLLMSettings(), p, tmp_path)


def test_trl_on_a_processor_takes_bfloat16_and_refuses_float16(tmp_path):
    args, _ = trl_arguments(tmp_path, device='cpu', dtype='bfloat16', capability=())
    assert args.bf16 and args.use_cpu and args.device.type == 'cpu'
    with pytest.raises(UsageError, match='--dtype float16: TRL trains in it on an NVIDIA GPU alone'):
        trl_arguments(tmp_path, device='cpu', dtype='float16', capability=())


def test_trl_takes_the_first_gpu_that_it_sees(tmp_path):
    with pytest.raises(UsageError, match='--device cuda:1: TRL .* use --device cuda, with CUDA_VISIBLE_DEVICES=1 bef'):
        trl_arguments(tmp_path, device='cuda:1')


@pytest.mark.parametrize('name, env, offline', PLACES)
def test_each_host(name, env, offline):
    assert host(env, 'node-1', '/nowhere') == name
    assert bool(why_offline(env, lambda url: True)) is offline
    assert why_offline(env, lambda url: False)
    assert decisions(platform('cpu'), env)['models from'].value == ('./model_cache' if offline else 'the hub')


def test_the_table_names_the_file(gpu, capsys):
    gpu(*GPUS[0][:3], TORCH_215)
    p, found = detect_platform_and_gpu(env=dict(COLAB_RELEASE_TAG='x'), reach=lambda url: True)
    out = capsys.readouterr().out
    assert len(out.splitlines()) == 3 + len(found) <= 15
    assert 'Tesla T4, 15 GB, compute capability 7.5' in out and '--config configs/t4.yaml' in out


@pytest.mark.parametrize('layout', ['folder', 'hub'])
def test_offline_models_come_from_model_cache(tmp_path, monkeypatch, layout):
    monkeypatch.chdir(tmp_path)
    hub = tmp_path/'model_cache'/'models--someone--tiny'
    if layout == 'hub':
        (hub/'refs').mkdir(parents=True)
        (hub/'refs'/'main').write_text('0' * 40)
    local = tmp_path/'model_cache'/'someone'/'tiny'
    shutil.copytree(resource('checkpoints/starter'), hub/'snapshots'/('0' * 40) if layout == 'hub' else local)
    model, tokenizer = load_model('someone/tiny')
    starter, its_tokenizer = load_model('starter')
    assert all(torch.equal(a, b) for a, b in zip(model.parameters(), starter.parameters()))
    assert tokenizer('return')['input_ids'] == its_tokenizer('return')['input_ids']
    command = 'hf download someone/absent --local-dir model_cache/someone/absent'
    with pytest.raises(UsageError, match=rf'nor in \./model_cache.*{command}.*use the bundled one'):
        load_model('someone/absent')
