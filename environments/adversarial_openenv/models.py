"What a client sends, and what it is told."
from openenv.core.env_server.types import Action, Observation
from pydantic import Field


class Submission(Action):
    "A program."
    code: str = Field(..., description='The complete program, in Python; prose and a code fence around it are dropped')
    tests: list[str] = Field(default_factory=list, description='Without an episode: tests to grade the program on')
    function: str = Field('', description='Without an episode: the function that these tests call')


class Verdict(Observation):
    "How the last program did; neither tests nor expected values, which a program could be written for."
    prompt: str = Field('', description='The problem, after a reset')
    kind: str = Field('', description='How the program ended, such as success or assertion_failure')
    passed: int = Field(0, description='Tests that it passed')
    total: int = Field(0, description='Tests of the problem')
    attempts_left: int = Field(0, description='Programs that may still be submitted')
