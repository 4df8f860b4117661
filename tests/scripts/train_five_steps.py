from adversarial_rl import PPOConfig, train, TrainingConfig

config = TrainingConfig(
    generator_model='starter', discriminator_model='starter', device='cpu', stages_together=True,
    n_discriminator_steps=2, n_generator_steps=1, k_alternating_steps=1,   # An alternating step is one of both
    problems_per_step=2, max_new_tokens=32, held_out=4,
    output_dir='output/five_steps', checkpoint_dir='checkpoints/five_steps')   # Not those of `make train`
results = train(config, PPOConfig(learning_rate=2e-3))
print(results['steps'], 'steps')
print(results['held_out']['pass_rate_before'], results['held_out']['pass_rate_after'])
