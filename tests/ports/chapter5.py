# Prints the numbers that chapter5.cpp expects, with PyTorch 2.6. Imports chapter4.py from the same folder.
import torch
from chapter4 import GPTModel

text = "in the morning the sun comes up over the hill and the birds begin to sing. " * 10
text += "in the evening the sun goes down behind the hill and the birds are still. " * 10
chars = sorted(set(text))
ids = torch.tensor([chars.index(c) for c in text])
config = {"vocab_size": len(chars), "context_length": 32, "emb_dim": 48, "n_heads": 4,
          "n_layers": 3, "drop_rate": 0.1, "qkv_bias": False}


def windows(tokens, length, stride):
    starts = range(0, len(tokens) - length, stride)
    return (torch.stack([tokens[i : i + length] for i in starts]),
            torch.stack([tokens[i + 1 : i + length + 1] for i in starts]))


def loader(data, batch_size, shuffle):
    inputs, targets = data
    order = torch.randperm(len(inputs)) if shuffle else torch.arange(len(inputs))
    for i in range(0, len(inputs) - batch_size + 1, batch_size):
        rows = order[i : i + batch_size]
        yield inputs[rows], targets[rows]


def calc_loss_batch(x, y, model):
    return torch.nn.functional.cross_entropy(model(x).flatten(0, 1), y.flatten())


def calc_loss_loader(data, model):
    losses = [calc_loss_batch(x, y, model).item() for x, y in loader(data, 4, False)]
    return sum(losses) / len(losses)


def evaluate(model):
    model.eval()
    with torch.no_grad():
        result = calc_loss_loader(train, model), calc_loss_loader(val, model)
    model.train()
    return result


split = int(0.9 * len(ids))
train = windows(ids[:split], 32, 16)
val = windows(ids[split:], 32, 16)
print("windows", len(train[0]), len(val[0]))
torch.manual_seed(123)
model = GPTModel(config)
model.eval()
inputs = torch.stack([train[0][0], train[0][1]])
targets = torch.stack([train[1][0], train[1][1]])
probas = torch.softmax(model(inputs), dim=-1)
print("argmax", torch.argmax(probas, dim=-1)[0, :5].tolist())
target_probas = probas[0, [0, 1, 2], targets[0, :3]]
print("target probabilities", target_probas.tolist())
loss = calc_loss_batch(inputs, targets, model)
print("loss, perplexity", loss.item(), torch.exp(loss).item())
print("losses", evaluate(model))

torch.manual_seed(123)
model.train()
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=0.1)
step = 0
for epoch in range(3):
    for x, y in loader(train, 4, True):
        optimizer.zero_grad()
        loss = calc_loss_batch(x, y, model)
        loss.backward()
        optimizer.step()
        if step % 10 == 0:
            print(step, evaluate(model))
        step += 1
print("steps", step, evaluate(model))

model.eval()
torch.manual_seed(123)
idx = torch.tensor([[chars.index(c) for c in "in the "]])
for _ in range(60):
    with torch.no_grad():
        logits = model(idx[:, -32:])[:, -1, :]
    top_logits, _ = torch.topk(logits, 3)
    logits = torch.where(logits < top_logits[:, -1], torch.tensor(float("-inf")), logits)
    probs = torch.softmax(logits / 1.4, dim=-1)
    idx = torch.cat((idx, torch.multinomial(probs, num_samples=1)), dim=1)
print("".join(chars[i] for i in idx[0].tolist()))
