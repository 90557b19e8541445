# Prints the numbers that micrograd.cpp expects, with PyTorch 2.6.
import math
import torch

torch.set_default_dtype(torch.float64)

a = torch.tensor(1.5, requires_grad=True)
b = torch.tensor(-0.5, requires_grad=True)
c = a * b + a**3
c = c + c.tanh() - b
d = (a - b).relu() * c / (1 + (-a).exp())
d = d + (b - a).relu() + d.sqrt()
out = d**2 / 3.0 + 2.0 / d
out.backward()
print("expression", out.item(), a.grad.item(), b.grad.item())

torch.manual_seed(1337)


class Neuron(torch.nn.Module):
    def __init__(self, inputs, nonlinear):
        super().__init__()
        self.w = torch.nn.Parameter(torch.rand(inputs) * 2 - 1)
        self.b = torch.nn.Parameter(torch.zeros(()))
        self.nonlinear = nonlinear

    def forward(self, x):
        out = x @ self.w + self.b
        return out.relu() if self.nonlinear else out


class Layer(torch.nn.Module):
    def __init__(self, inputs, outputs, nonlinear):
        super().__init__()
        self.neurons = torch.nn.ModuleList(Neuron(inputs, nonlinear) for _ in range(outputs))

    def forward(self, x):
        return torch.stack([neuron(x) for neuron in self.neurons], dim=-1)


class MLP(torch.nn.Module):
    def __init__(self, sizes):
        super().__init__()
        self.layers = torch.nn.ModuleList(
            Layer(sizes[i], sizes[i + 1], i + 2 < len(sizes)) for i in range(len(sizes) - 1))

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x.squeeze(-1)


def make_moons(n, noise):
    angle = torch.linspace(0, math.pi, n // 2)
    upper = torch.stack([angle.cos(), angle.sin()], dim=1)
    lower = torch.stack([1 - angle.cos(), 0.5 - angle.sin()], dim=1)
    x = torch.cat([upper, lower]) + noise * torch.randn(n, 2)
    y = torch.cat([torch.ones(n // 2), -torch.ones(n // 2)])
    return x, y


x, y = make_moons(100, 0.1)
model = MLP([2, 16, 16, 1])
print("parameters", sum(p.numel() for p in model.parameters()))
for k in range(100):
    scores = model(x)
    data_loss = (1 - y * scores).relu().mean()
    reg_loss = 1e-4 * sum((p * p).sum() for p in model.parameters())
    loss = data_loss + reg_loss
    accuracy = ((y > 0) == (scores > 0)).double().mean()
    for p in model.parameters():
        p.grad = None
    loss.backward()
    rate = 1.0 - 0.9 * k / 100
    with torch.no_grad():
        for p in model.parameters():
            p -= rate * p.grad
    if k in (0, 1, 10, 50, 99):
        print(k, loss.item(), accuracy.item())
