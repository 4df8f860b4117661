"Programs against tests, an environment of OpenEnv."
from .client import ProgramClient
from .models import Submission, Verdict

__all__ = ['ProgramClient', 'Submission', 'Verdict']
