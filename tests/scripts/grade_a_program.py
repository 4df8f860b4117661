from adversarial_rl import grade

program = """
def double(x):
    return x + x if x else 1
"""
outcome = grade(program, ['assert double(21) == 42', 'assert double(0) == 0'])
print(outcome.kind, outcome.pass_rate)
for test, message in zip(outcome.per_test, outcome.messages): print(test, message)
