"Loading models: no code of a model runs unasked, each thing that can be wrong has its own line, adapters are models."
import http.server
import json
import os
import shutil
import subprocess
import sys
import threading

import pytest
import torch
from peft import PeftModel
from safetensors.torch import load_file, save_file
from test_grpo import flags as grpo_flags
from test_mbpp import rows

from adversarial_rl.core.errors import quiet_libraries, UsageError
from adversarial_rl.core.files import resource
from adversarial_rl.game.inference import main as run_inference
from adversarial_rl.grpo import code_execution as grpo
from adversarial_rl.mbpp.evaluator import main as evaluate_mbpp
from adversarial_rl.model.policy import load_model

WEIGHTS = 'model.safetensors'


@pytest.fixture(autouse=True)
def quiet():
    "As every command is."
    quiet_libraries()


@pytest.fixture
def folder(tmp_path):
    "A copy of the bundled model."
    return shutil.copytree(resource('checkpoints/starter'), tmp_path/'model')


def changed(name, **fields):
    def change(folder):
        values = json.loads((folder/name).read_text()) | fields
        (folder/name).write_text(json.dumps({k: v for k, v in values.items() if v is not None}))
    return change


def cut(name, n):
    def change(folder): (folder/name).write_bytes((folder/name).read_bytes()[:n])
    return change


def without(*names):
    def change(folder):
        for name in names: (folder/name).unlink()
    return change


def half_of_the_weights(folder):
    weights = load_file(folder/WEIGHTS)
    save_file({k: weights[k] for k in sorted(weights)[::2]}, folder/WEIGHTS, metadata={'format': 'pt'})


def a_shard_missing(folder):
    without(WEIGHTS)(folder)
    shards = dict(metadata={}, weight_map={'model.norm.weight': 'model-00001-of-00002.safetensors'})
    (folder/'model.safetensors.index.json').write_text(json.dumps(shards))


class Writes:
    "An object whose pickle writes a file."
    def __init__(self, path): self.path = path
    def __reduce__(self): return open, (str(self.path), 'w')


def pickled(folder):
    without(WEIGHTS)(folder)
    torch.save(dict(x=Writes(folder.parent/'ran')), folder/'pytorch_model.bin')


@pytest.mark.parametrize('change, message', [
    (cut(WEIGHTS, -1000), 'model.safetensors is damaged or cut short'),
    (cut('config.json', -30), 'config.json is damaged or cut short'),
    (cut('tokenizer.json', -500), 'tokenizer.json is damaged or cut short'),
    (half_of_the_weights, ' of its weights, such as '), (a_shard_missing, 'lacks model-00001-of-00002.safetensors'),
    (without(WEIGHTS), 'holds no weights'), (without('config.json'), 'has no config.json'),
    (changed('config.json', hidden_size=128), 'other shapes than its config.json says'),
    (changed('config.json', model_type='nosuch'), "architecture 'nosuch', which the installed transformers"),
    (changed('config.json', model_type=None), 'names no model_type'),
    (changed('config.json', model_type='t5'), "'t5' is no causal language model"),
    (without('tokenizer.json', 'tokenizer_config.json'), 'holds no tokenizer'),
    (without('tokenizer.json'), 'holds no tokenizer'), (pickled, 'pytorch_model.bin is a pickle')])
def test_each_mistake_in_a_folder_has_its_line(change, message, folder, capfd):
    change(folder)
    with pytest.raises(UsageError) as e: load_model(str(folder))
    assert str(e.value).startswith(f'model folder {folder}: ') and message in str(e.value), e.value
    assert '\n' not in str(e.value) and 'weights_only' not in str(e.value)
    assert not (folder.parent/'ran').exists() and not capfd.readouterr().err.strip()


class Hub(http.server.BaseHTTPRequestHandler):
    "Answers as the Hugging Face hub does."
    def do_GET(self):
        name = self.path.split('/')[2]
        code, error = dict(gated=(401, 'GatedRepo'), absent=(404, 'RepoNotFound')).get(name, (404, 'EntryNotFound'))
        self.send_response(code)
        if error: self.send_header('X-Error-Code', error)
        self.send_header('Content-Length', '0')
        self.end_headers()

    do_HEAD = do_GET
    def log_message(self, *_): pass


def test_the_hubs_answers_have_their_lines(tmp_path):
    server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Hub)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    proxies = {k: '' for k in os.environ if k.lower().endswith('_proxy')}
    env = os.environ | proxies | dict(HF_ENDPOINT=f'http://127.0.0.1:{server.server_port}', HF_HUB_OFFLINE='0',
                                      HF_HOME=str(tmp_path), HF_TOKEN='')
    names = ['o/gated', 'o/absent', 'o/empty', 'a/b/c']
    code = f'''from adversarial_rl.model.policy import load_model
for name in {names}:
    try: load_model(name)
    except Exception as e: print(type(e).__name__, e)'''
    done = subprocess.run([sys.executable, '-W', 'ignore', '-c', code], env=env, capture_output=True, text=True)
    server.shutdown()
    said = dict(zip(names, done.stdout.splitlines(), strict=True))
    assert all(line.startswith(f"UsageError model '{name}': ") for name, line in said.items()), said
    assert 'is gated' in said['o/gated'] and 'hf auth login' in said['o/gated'], said
    assert 'no model of this name, or it is private' in said['o/absent'], said
    assert 'has no tokenizer' in said['o/empty'], said
    assert 'neither a folder here nor a name on the hub' in said['a/b/c'], said


CODE = '''
from pathlib import Path
Path({path!r}).write_text('ran')
from transformers import Qwen2Config as C, Qwen2ForCausalLM as M, PreTrainedTokenizerFast as T
class C(C): model_type = 'own'
class M(M): config_class = C
'''


@pytest.fixture
def with_code(folder):
    "A model whose code writes a file, and that file."
    changed('config.json', model_type='own', auto_map=dict(AutoConfig='own.C', AutoModelForCausalLM='own.M'))(folder)
    changed('tokenizer_config.json', auto_map=dict(AutoTokenizer=[None, 'own.T']), tokenizer_class='T')(folder)
    (folder/'own.py').write_text(CODE.format(path=str(folder.parent/'ran')))
    return folder, folder.parent/'ran'


def test_no_code_runs_in_a_process_with_a_pipe_that_says_yes_and_all_of_it_with_the_flag(with_code, tmp_path):
    folder, ran = with_code
    flags = ['--model', str(folder), '--output-dir', str(tmp_path), '--held-out', '1', '--device', 'cpu']
    def run(*more):
        command = [sys.executable, '-W', 'ignore', '-m', 'adversarial_rl.mbpp.evaluate_tester', *flags, *more]
        return subprocess.run(command, input='y\n' * 20, env=os.environ | dict(HF_HOME=str(tmp_path/'hf')),
                              capture_output=True, text=True)
    done = run()
    assert done.returncode == 2 and not ran.exists(), done.stderr
    assert len(done.stderr.strip().splitlines()) == 1 and 'Do you wish' not in done.stdout
    done = run('--trust-remote-code')
    assert done.returncode == 0 and ran.read_text() == 'ran', done.stderr


def test_a_known_architecture_loads_without_the_code_beside_it_and_says_so(folder, tmp_path, capfd):
    changed('config.json', auto_map=dict(AutoModelForCausalLM='own.M'))(folder)
    (folder/'own.py').write_text(CODE.format(path=str(tmp_path/'ran')))
    expected = load_model('starter')[0].state_dict()
    assert all(torch.equal(v, expected[k]) for k, v in load_model(str(folder))[0].state_dict().items())
    line, = capfd.readouterr().err.strip().splitlines()
    assert 'code of its own is not run' in line and not (tmp_path/'ran').exists()


@pytest.fixture(scope='module')
def adapter(tmp_path_factory):
    "The model of a run of GRPO: an adapter, as its command leaves it."
    folder = tmp_path_factory.mktemp('grpo')
    (folder/'mbpp.json').write_text(json.dumps(rows()))
    more = ['--training_args.max_steps', '2', '--training_args.learning_rate', '1e-2']
    assert grpo.main(grpo_flags(grpo, folder/'out', *more)) == 0
    return folder/'out'/'model'


def test_an_adapter_folder_is_a_model(adapter):
    model, tokenizer = load_model(str(adapter))
    base, _ = load_model('starter_printing')
    ids = torch.tensor([tokenizer('def f(x): return x')['input_ids']])
    with torch.no_grad():
        before = base(ids).logits
        expected = PeftModel.from_pretrained(base, str(adapter/'learner'))(ids).logits
        assert torch.allclose(model(ids).logits, expected, atol=1e-4)
        assert not torch.allclose(before, expected, atol=1e-2)
    inner, _ = load_model(str(adapter/'learner'))
    assert all(torch.equal(v, inner.state_dict()[k]) for k, v in model.state_dict().items())


def test_commands_take_an_adapter_folder(adapter, tmp_path, capfd):
    mbpp = ['--dataset-path', str(adapter.parents[1]/'mbpp.json'), '--output-dir', str(tmp_path), '--num-questions',
            '2', '--samples', '1', '--max-new-tokens', '8', '--device', 'cpu']
    assert evaluate_mbpp(['--model', str(adapter), *mbpp]) == 0
    problem = ['--problem', 'Return twice x.', '--signature', 'def f(x):', '--tests', 'assert f(2) == 4',
               '--max-tokens', '8', '--device', 'cpu', '--output', str(tmp_path/'result.json')]
    assert run_inference(['--checkpoint', str(adapter), *problem]) == 0
    assert json.loads((tmp_path/'result.json').read_text())['programs']
    capfd.readouterr()
    (tmp_path/'empty').mkdir()
    assert run_inference(['--checkpoint', str(tmp_path/'empty'), *problem]) == 2
    assert 'has no config.json' in capfd.readouterr().err


def moved_base(folder): changed('learner/adapter_config.json', base_model_name_or_path='/gone/model')(folder)


def twice(folder): shutil.copytree(folder/'learner', folder/'other')


@pytest.mark.parametrize('change, message', [
    (moved_base, "its base: model '/gone/model'"), (twice, 'holds several adapters (learner, other)'),
    (cut('learner/adapter_model.safetensors', -100), 'adapter_model.safetensors is damaged or cut short'),
    (without('learner/adapter_model.safetensors'), 'holds no weights'),
    (changed('learner/adapter_config.json', peft_type='IA3'), 'only LoRA'),
    (changed('learner/adapter_config.json', r=4), 'does not fit its base')])
def test_each_mistake_in_an_adapter_has_its_line(adapter, tmp_path, change, message):
    folder = shutil.copytree(adapter, tmp_path/'model')
    change(folder)
    with pytest.raises(UsageError) as e: load_model(str(folder))
    assert str(e.value).startswith(f'model folder {folder}: ') and message in str(e.value), e.value
    assert '\n' not in str(e.value)
