"""One file a method. Adding one takes three files with the same slug, and nothing else:

    papers/<slug>/paper.md                  the paper's record (not for methods that have no paper)
    reproductions/methods/<slug>.py         the formula
    tests/reproductions/test_<slug>.py      worked values from the source, identities, traps

Discovery walks this folder; tables, tests over all methods, the benchmark and the command line pick the method up by its record.

What the file holds, in this order (``dr_mas.py`` is the example):

    docstring   first line: what is computed. Then *As printed* (equation, arXiv id and version), *As computed* (here),
                *Differs* (the authors' code from their paper, this file from either), *Evidence*, *Traps*, *Run*
    functions   pure, vectorised over the batch, float64, array names ending in their axes. Conventions (ddof, eps, zero
                spread, singletons, grouping) are parameters whose defaults are the paper's; other settings are presets
    assign      ``assign(batch, *, parameters) -> Credit``; ``advantage_pknt`` has one number per action, the same layout for
                every method, however coarse its credit: ``batch.spread(advantage_pk, "pk")`` gives it to all actions
    METHOD      the record

It imports numpy, ``reproductions.core``, ``reproductions.losses``, ``reproductions.anchors`` and other methods (and scikit-learn
inside a function), never worlds, oracles or metrics: a method cannot see the truth that it is scored on.

Traits, the columns of comparison tables:

    granularity       what gets a number of its own: rollout, agent, step (a turn of all agents), action (one agent's turn),
                      token, node (of a tree)
    group             with what it is compared, in words: "same prompt", "same prompt and agent", "whole batch", "none"
    critic            whether a learned value is needed
    extra_rollouts, extra_llm_calls   "none", or how many per what
    flags             multi_agent          made for teams: agents of one rollout can get different credit
                      process_reward       reads rewards of single actions
                      tree_sampling        needs several continuations from one history
                      group_free           compares with no other rollout of the prompt
                      counterfactual       needs episodes evaluated again with something changed
                      value_decomposition  credit is a part of a decomposed team value
                      regression           credit comes from a fit over the batch
                      trust_region         the paper's point is the size of the update
                      stateful             remembers earlier batches (``Credit.memory`` goes into the next ``memory=``)
                      loss_side            the paper's point is the loss or its aggregation
                      value_labels         produces targets of a value model rather than an advantage
                      reward_model         trains a reward model

Claims, which tests/reproductions/test_battery.py checks on random batches, with the defaults of ``assign``:

    zero_sum_over_rollouts   per prompt, the rollouts' advantages (one per rollout) sum to 0
    zero_sum_over_actions    per prompt and agent, the actions' advantages sum to 0
    zero_sum_in_batch        all advantages sum to 0
    unit_spread              per prompt and agent, the actions' advantages have mean square 1 (population), or are all 0
    shift_invariant          a constant per prompt added to the signal fields changes nothing
    scale_invariant          the signal times a positive constant changes nothing
    scale_equivariant        the signal times a positive constant multiplies the advantages by it
    zero_when_equal          a prompt whose signal is constant gets 0
    same_for_the_whole_team  all actions of a rollout get the same number
    agent_equivariant        relabelling the agents relabels the credit (where order of play carries no meaning)
    efficient                per rollout, the agents' credit sums to the team reward minus the mean of its prompt

Checked for every method without being claimed: inputs are not changed, masked entries get 0 and matter to nobody, the order of
prompts and of rollouts does not matter, single rollouts, single agents, empty batches and float32 work, NaN is refused by name.
"""
