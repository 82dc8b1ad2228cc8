"""Files for audits, from where a model is trained: membership scores of canaries, which
``dpscope scores`` reads, and what an accountant claims, for ``-claim-file``.

A module each: ``opacus``, ``hf_trainer`` (Hugging Face Trainer), ``jax_privacy`` and
``dp_accounting``. None of them needs the dpscope binary.
"""

from ._files import coins, write_curve, write_scores

__all__ = ["coins", "write_curve", "write_scores"]
