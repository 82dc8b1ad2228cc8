"""Steps of training with Opacus (pytorch/opacus), as its users call it. What is
released is the weights after a step, from 0 with a learning rate of 1."""

import sys

import functorch
import torch

sys.modules.setdefault("torch.func", functorch)  # its name before PyTorch 2.0
torch.set_num_threads(1)


def private(model, rows, **settings):
    """The parts of make_private for batches of all rows."""
    from opacus import PrivacyEngine

    data = torch.utils.data.TensorDataset(torch.tensor(rows, dtype=torch.float32))
    loader = torch.utils.data.DataLoader(data, batch_size=settings.pop("batch_size", len(rows)))
    return PrivacyEngine().make_private(
        module=model, optimizer=torch.optim.SGD(model.parameters(), lr=1.0), data_loader=loader, **settings)


def weights(parameter):
    """Reads a parameter, and puts it back to 0 for the next run."""
    value = parameter.detach().flatten().tolist()
    with torch.no_grad():
        parameter.zero_()
    return value


def line(inputs):
    model = torch.nn.Linear(inputs, 1, bias=False)
    with torch.no_grad():
        model.weight.zero_()
    return model


def closure():
    """optimizer.step(closure): a row is the gradient of its example."""

    def answer(rows, n, rng):
        torch.manual_seed(int(rng.integers(2**63)))
        model, optimizer, loader = private(line(1), rows, noise_multiplier=8.0, max_grad_norm=1.0, loss_reduction="sum")
        outputs = []
        for _ in range(n):
            (x,) = next(iter(loader))

            def loss():
                optimizer.zero_grad()
                total = model(x).sum()
                total.backward()
                return total

            optimizer.step(loss)
            outputs.append(weights(model._module.weight))
        return outputs

    return answer


def ghost():
    """Ghost clipping at a norm of 0.1."""

    def answer(rows, n, rng):
        from opacus.utils.fast_gradient_clipping_utils import double_backward

        torch.manual_seed(int(rng.integers(2**63)))
        model, optimizer, loader = private(line(1), rows, noise_multiplier=8.0, max_grad_norm=0.1,
                                           clipping="ghost", grad_sample_mode="ghost")
        outputs = []
        for _ in range(n):
            (x,) = next(iter(loader))
            double_backward(model, optimizer, model(x).flatten())
            optimizer.step()
            outputs.append(weights(model._module.weight))
        return outputs

    return answer


def bias():
    """Ghost clipping of a bias at a norm of 0.1: an example is a sequence of 64
    steps, at each of which the row is the target."""

    def answer(rows, n, rng):
        torch.manual_seed(int(rng.integers(2**63)))
        model = torch.nn.Linear(1, 1)
        model.weight.requires_grad = False
        with torch.no_grad():
            model.weight.zero_()
            model.bias.zero_()
        model, optimizer, criterion, loader = private(model, rows, criterion=torch.nn.MSELoss(), noise_multiplier=8.0,
                                                      max_grad_norm=0.1, grad_sample_mode="ghost")
        outputs = []
        for _ in range(n):
            (x,) = next(iter(loader))
            out = model(torch.zeros(len(x), 64, 1))
            criterion(out.flatten(), x.expand(-1, 64).flatten(), shape=out.shape).backward()
            optimizer.step()
            optimizer.zero_grad()
            outputs.append(weights(model._module.bias))
        return outputs

    return answer


def cardinality(inputs, batch_size=None, reduction="mean"):
    """The mean gradient of a batch: a row is how strong an example's is."""

    def answer(rows, n, rng):
        torch.manual_seed(int(rng.integers(2**63)))
        settings = {} if batch_size is None else {"batch_size": batch_size}
        model, optimizer, loader = private(line(inputs), rows, noise_multiplier=4.0, max_grad_norm=1.0,
                                           loss_reduction=reduction, **settings)
        outputs = []
        for _ in range(n):
            (x,) = next(iter(loader))
            optimizer.zero_grad()
            out = model(x[:, :1].expand(-1, inputs)).flatten()
            (out.mean() if reduction == "mean" else out.sum()).backward()
            optimizer.step()
            outputs.append(weights(model._module.weight))
        return outputs

    return answer
