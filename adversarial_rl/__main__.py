"`python -m adversarial_rl` lists the commands."
from adversarial_rl.core.commands import list_commands

if __name__ == '__main__': list_commands()
