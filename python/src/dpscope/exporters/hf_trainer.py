"""From Hugging Face's Trainer: a callback that writes membership scores of canaries when a
training ends. It was run with a stand-in that calls it as CallbackHandler.call_event of
transformers does at commits 01081ce2 and 55093b75, not with transformers itself.

    from dpscope.exporters.hf_trainer import CanaryScores, coins

    inside = coins(len(canaries), seed=7)
    train = data + [c for c, in_ in zip(canaries, inside) if in_]
    Trainer(model, args, train_dataset=train, callbacks=[CanaryScores("scores.npz", canaries, inside)]).train()
"""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Optional, Sequence

from transformers import TrainerCallback

from .._errors import InputError
from ._files import File, coins, write_scores

__all__ = ["CanaryScores", "coins"]


class CanaryScores(TrainerCallback):  # type: ignore[misc]
    """Asks the model for the loss of each canary when the training begins and when it
    ends, and writes their difference as the score.

    ``canaries`` are examples as the Trainer's dataset has them, with labels; ``collator``
    makes a batch of a list of one of them: the Trainer's data collator, or by default
    each of its values as a tensor with a dimension before. All processes ask the model,
    as a model in parts needs; the main one writes the file."""

    def __init__(self, file: File, canaries: Sequence[Dict[str, Any]], coins: Sequence[bool], collator: Optional[Callable[[List[Any]], Any]] = None) -> None:
        if len(canaries) != len(coins):
            raise InputError(f"there are {len(canaries)} canaries and {len(coins)} coins: give one for each")
        self.file, self.canaries, self.coins = file, canaries, coins
        self.collator = collator or _one
        self.before: Optional[List[float]] = None

    def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Asks for the losses before."""
        self.before = self._losses(kwargs["model"])

    def on_train_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Asks for the losses after, and writes the scores."""
        if self.before is None:
            raise InputError("the training ended but never began: add the callback before train()")
        after = self._losses(kwargs["model"])
        if state.is_world_process_zero:
            write_scores(self.file, [b - a for b, a in zip(self.before, after)], self.coins)

    def _losses(self, model: Any) -> List[float]:
        import torch

        device = next((p.device for p in model.parameters()), torch.device("cpu"))
        was = model.training
        found = []
        model.eval()
        try:
            with torch.no_grad():
                for i, canary in enumerate(self.canaries):
                    batch = {k: v.to(device) if hasattr(v, "to") else v for k, v in self.collator([canary]).items()}
                    loss = getattr(model(**batch), "loss", None)
                    if loss is None:
                        raise InputError(f"the model gives no loss for canary {i}: canaries need labels, as examples of the training have")
                    found.append(float(loss))
        finally:
            model.train(was)
        return found


def _one(examples: List[Any]) -> Dict[str, Any]:
    import torch

    return {k: torch.as_tensor(v).unsqueeze(0) for k, v in examples[0].items()}
