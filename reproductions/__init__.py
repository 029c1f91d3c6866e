"""Minimal runnable implementations of advantage and credit formulas, one file a method.

Array names end in their axes:

    p  prompt      r  rollout (one trajectory of a prompt, all agents together)
    n  agent       c  call (one output of one agent at one turn of one rollout)
    t  turn        a  action      k  rollout of one prompt, where every prompt has the same number of them

``reward_r`` holds a number per rollout, ``quality_rn`` one per rollout and agent, ``advantage_c`` one per call. A call is
the unit that every method assigns credit to; where an agent speaks once per rollout, calls and rollouts coincide.
"""
