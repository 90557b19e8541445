# Prints the numbers that encoder.cpp expects, with PyTorch 2.6.
import torch
import torch.nn as nn

vocabulary, d_model, nhead, layers, longest = 7, 32, 4, 2, 10


def make_batch(n):
    """Each sequence has a class token 1, then tokens from 2 to 6, then padding with 0. The label is 1 if the
    sequence contains both 2 and 3."""
    lengths = torch.randint(4, longest + 1, (n,))
    tokens = torch.randint(2, vocabulary, (n, longest))
    tokens[:, 0] = 1
    padding = torch.arange(longest) >= lengths[:, None]
    tokens = tokens.masked_fill(padding, 0)
    labels = ((tokens == 2).any(dim=1) & (tokens == 3).any(dim=1)).long()
    return tokens, padding, labels


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, d_model, padding_idx=0)
        self.position = nn.Parameter(torch.randn(longest, d_model) * 0.1)
        layer = nn.TransformerEncoderLayer(d_model, nhead, 64, dropout=0.0, activation="gelu",
                                           batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, layers)
        self.head = nn.Linear(d_model, 2)

    def forward(self, tokens, padding):
        x = self.embedding(tokens) + self.position[: tokens.shape[1]]
        return self.head(self.encoder(x, src_key_padding_mask=padding)[:, 0])


torch.manual_seed(42)
model = Classifier()
print("parameters", sum(p.numel() for p in model.parameters()))
print("keys", [k for k in model.state_dict() if ".0." in k])
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=0.01)
for step in range(121):
    tokens, padding, labels = make_batch(64)
    logits = model(tokens, padding)
    loss = nn.functional.cross_entropy(logits, labels)
    optimizer.zero_grad()
    loss.backward()
    norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    if step in (0, 1, 5, 20, 60, 120):
        accuracy = (logits.argmax(1) == labels).float().mean()
        print(step, loss.item(), norm.item(), accuracy.item())
with torch.no_grad():
    tokens, padding, labels = make_batch(1000)
    print("held out", (model(tokens, padding).argmax(1) == labels).float().mean().item())
