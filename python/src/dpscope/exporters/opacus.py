"""From Opacus: losses of canaries as membership scores, and its accountant's history as
a claim. Written for Opacus 1.0 and later; run with 1.4.0.

    from dpscope.exporters import opacus

    coins = opacus.coins(len(canaries), seed=7)  # canaries whose coin is true go into the data
    before = opacus.losses(model, canaries, torch.nn.CrossEntropyLoss(reduction="none"))
    ...  # training with PrivacyEngine
    after = opacus.losses(model, canaries, torch.nn.CrossEntropyLoss(reduction="none"))
    opacus.write_scores("scores.npz", before - after, coins)
    opacus.write_claim("claim.json", privacy_engine)
"""

from __future__ import annotations

from typing import Any, Callable, List

from .._errors import InputError
from ._files import File, coins, write_json, write_scores

__all__ = ["coins", "losses", "write_claim", "write_scores"]


def losses(model: Any, canaries: Any, criterion: Callable[[Any, Any], Any], *, batch: int = 256) -> Any:
    """The loss of each canary, as a tensor of float64 of shape (canaries) on the CPU.

    ``canaries`` is a dataset of pairs (input, target), or two tensors; ``criterion`` gives
    a loss for each example (``reduction="none"``); losses are summed over all dimensions
    but the first. The model is evaluated without gradients, in evaluation mode, and
    returns to its previous mode. The score of a canary is its loss
    before the training minus its loss after it."""
    import torch

    if isinstance(canaries, (tuple, list)) and len(canaries) == 2 and all(torch.is_tensor(c) for c in canaries):
        canaries = torch.utils.data.TensorDataset(*canaries)
    device = next((p.device for p in model.parameters()), torch.device("cpu"))
    was = model.training
    found: List[Any] = []
    model.eval()
    try:
        with torch.no_grad():
            for inputs, targets in torch.utils.data.DataLoader(canaries, batch_size=batch):
                loss = criterion(model(inputs.to(device)), targets.to(device))
                if loss.dim() == 0 or len(loss) != len(inputs):
                    raise InputError(f'the criterion gives a loss of shape {tuple(loss.shape)} for {len(inputs)} canaries: take one with reduction="none"')
                found.append(loss.double().reshape(len(inputs), -1).sum(1).cpu())
    finally:
        model.train(was)
    if not found:
        raise InputError("there are no canaries: give at least one")
    return torch.cat(found)


def write_claim(file: File, accountant: Any) -> None:
    """Writes the history of an accountant, or of a PrivacyEngine's, for ``-claim-file``:
    noise multiplier, sample rate and steps. dpscope composes it by the distribution of the
    privacy loss, whatever accountant kept it; the claim is of Poisson sampling and of a
    record that is added or removed."""
    accountant = getattr(accountant, "accountant", accountant)
    history = getattr(accountant, "history", None)
    if not isinstance(history, list):
        raise InputError(f"{type(accountant).__name__} has no history: give a PrivacyEngine, or its accountant")
    entries = []
    for i, entry in enumerate(history):
        if not isinstance(entry, (tuple, list)) or len(entry) != 3:
            raise InputError(f"entry {i} of the history is {entry!r}, must be noise multiplier, sample rate and steps, as of Opacus 1.0 and later")
        noise, rate, steps = entry
        entries.append([float(noise), float(rate), int(steps)])
    if not entries:
        raise InputError("the history is empty: export the claim after the training")
    mechanism = type(accountant).mechanism  # state_dict() of 1.4.0 holds this method, not its name
    write_json(file, {"history": entries, "mechanism": mechanism() if callable(mechanism) else str(mechanism)})
