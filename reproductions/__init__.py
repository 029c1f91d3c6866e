"""Advantage and credit formulas of published methods: minimal, vectorised, checked against their sources.

Axis letters, defined here once. The name of an array ends in its axes, in order: ``reward_pk`` is one number for each
rollout of each prompt, ``advantage_pknt`` one for each action.

    p  prompt (a task, a question; the scope of most comparison groups)
    k  rollout of the prompt (one trajectory of the whole team)
    n  agent, in the order in which agents act inside a turn
    t  turn: a decision in time order. A dialogue turn, an environment step, or a token where a method works on tokens
    a  action an agent could have taken
    m  agent again, where agents are compared with agents
    j  rollout again, where rollouts are compared with rollouts
    c  sampled continuation
    f  feature of a vector
    g  given item: a ground-truth unit test
    q  position in the order of play: turn by turn, and agent by agent inside a turn
    u  node of a sampled tree
    s  coalition of agents, as a bit mask
    b  sequence, and l  token of a sequence (the loss side)

``python -m reproductions`` lists, shows and runs the methods.
"""
