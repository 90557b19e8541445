# Prints the numbers that per_sample.cpp expects, with PyTorch 2.6.
import torch
from torch.func import functional_call, grad, vmap

torch.manual_seed(5)
net = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.Tanh(), torch.nn.Linear(16, 3)).double()
x = torch.randn(6, 8, dtype=torch.float64) * 2
y = torch.randint(0, 3, (6,))


def loss_of(params, sample, target):
    return torch.nn.functional.cross_entropy(
        functional_call(net, params, (sample[None],)), target[None])


params = {name: p.detach() for name, p in net.named_parameters()}
per_sample = vmap(grad(loss_of), in_dims=(None, 0, 0))(params, x, y)
norms = torch.stack([g.flatten(1).norm(2, -1) for g in per_sample.values()], 1).norm(2, 1)
print("norms", norms.tolist())
factor = (3.0 / (norms + 1e-6)).clamp_max(1.0)
for name, p in net.named_parameters():
    clipped = torch.einsum("b,b...->...", factor, per_sample[name])
    clipped += 0.5 * torch.randn_like(clipped)
    p.grad = clipped / len(x)
torch.optim.SGD(net.parameters(), lr=0.1).step()
print("loss", torch.nn.functional.cross_entropy(net(x), y).item())
