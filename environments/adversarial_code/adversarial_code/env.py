"The seat of the model that writes programs."
import verifiers.v1 as vf

SEAT = vf.AgentConfig(runtime=vf.SubprocessConfig())   # An empty folder: the model runs nothing, the grader isolates


class CodeEnvConfig(vf.SingleAgentEnvConfig):
    "As of any environment with one seat."
    agent: vf.AgentConfig = SEAT


class CodeEnv(vf.SingleAgentEnv, vf.Env[CodeEnvConfig]):
    "One answer to one problem."
