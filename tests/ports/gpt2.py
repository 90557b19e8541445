# Prints the numbers that gpt2.cpp expects, with PyTorch 2.6: the logits of a GPT-2 with random weights.
import torch
import torch.nn.functional as F

V, T, C, H, L = 50, 16, 24, 4, 2
torch.manual_seed(2019)
state = {"wte.weight": 0.2 * torch.randn(V, C), "wpe.weight": 0.1 * torch.randn(T, C)}


def norm(name):
    state[name + ".weight"] = 1 + 0.1 * torch.randn(C)
    state[name + ".bias"] = 0.1 * torch.randn(C)


def conv1d(name, inputs, outputs):
    state[name + ".weight"] = 0.2 * torch.randn(inputs, outputs)
    state[name + ".bias"] = 0.1 * torch.randn(outputs)


for i in range(L):
    norm(f"h.{i}.ln_1")
    conv1d(f"h.{i}.attn.c_attn", C, 3 * C)
    conv1d(f"h.{i}.attn.c_proj", C, C)
    norm(f"h.{i}.ln_2")
    conv1d(f"h.{i}.mlp.c_fc", C, 4 * C)
    conv1d(f"h.{i}.mlp.c_proj", 4 * C, C)
norm("ln_f")
tokens = torch.randint(0, V, (2, 10))


def apply_norm(x, name):
    return F.layer_norm(x, (C,), state[name + ".weight"], state[name + ".bias"])


def apply_conv1d(x, name):
    return x @ state[name + ".weight"] + state[name + ".bias"]


x = state["wte.weight"][tokens] + state["wpe.weight"][:10]
for i in range(L):
    q, k, v = (part.view(2, 10, H, C // H).transpose(1, 2) for part in
               apply_conv1d(apply_norm(x, f"h.{i}.ln_1"), f"h.{i}.attn.c_attn").split(C, dim=-1))
    scores = q @ k.transpose(-1, -2) / (C // H) ** 0.5
    hidden = torch.ones(10, 10).triu(1).bool()
    out = scores.masked_fill(hidden, -torch.inf).softmax(-1) @ v
    x = x + apply_conv1d(out.transpose(1, 2).reshape(2, 10, C), f"h.{i}.attn.c_proj")
    hidden = F.gelu(apply_conv1d(apply_norm(x, f"h.{i}.ln_2"), f"h.{i}.mlp.c_fc"),
                    approximate="tanh")
    x = x + apply_conv1d(hidden, f"h.{i}.mlp.c_proj")
logits = apply_norm(x, "ln_f") @ state["wte.weight"].t()
print("logits", logits[1, 9, :5].tolist(), logits.abs().sum().item())
print("argmax", logits[0].argmax(-1).tolist())
