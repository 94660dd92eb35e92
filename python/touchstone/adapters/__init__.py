"""The reward in the form that trainers ask for. Each file needs nothing of its trainer to be imported.

trl      TRL's GRPO reward function: None where the environment failed
verl     verl's compute_score: 0.0 and the fault beside it where the environment failed
slime    slime's custom_rm: the sample is removed from the loss where the environment failed
"""
